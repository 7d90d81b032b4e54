package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// head is the first line: which run this is, and the clock of the recovery.
func (d *drawing) head(width int) string {
	clock := d.clock(width)
	if d.speed != "" {
		clock = d.speed + "  " + clock
	}
	now, stands := d.now.UTC().Format("15:04:05Z"), d.ink.strong
	switch {
	case d.past && width < spacious:
		clock, stands = "PAST "+now, d.ink.alarm
	case d.past:
		clock, stands = "PAST "+now+"  "+clock, d.ink.alarm
	case width >= spacious:
		clock = now + "  " + clock
	}
	left := d.fit(d.s.Doc.Name+" on "+d.s.Doc.Service, width-cells(clock)-1)
	about := d.about(width - cells(left) - cells(clock) - 3)
	gap := spaces(width - cells(left) - cells(about) - cells(clock))
	if about != "" {
		about = "  " + about
		gap = gap[min(2, len(gap)):]
	}
	return d.ink.title.paint(left) + d.ink.quiet.paint(about) + gap + stands.paint(clock)
}

// about is what the first line says when there is room: the modes that were declared, the run, and that a lab is only a
// model or shows a past.
func (d *drawing) about(width int) string {
	whose, short := "lab: every figure is a model's", "lab"
	if d.s.Begun.Past {
		whose, short = "lab: the metrics are of the past", "past"
	}
	declared, run := d.s.Declared(), d.s.Begun.Run
	for _, text := range [...]string{
		run + also(", ", declared) + also(", ", d.modelled(whose)),
		joined(declared, d.modelled(whose)), joined(declared, d.modelled(short)), declared,
		joined(d.s.DeclaredBriefly(), d.modelled(short)), d.s.DeclaredBriefly(), d.modelled(short),
	} {
		if text = clean(text); text != "" && cells(text) <= width {
			return text
		}
	}
	return ""
}

// joined is a list of two, either of which may be "".
func joined(one, other string) string {
	if one == "" {
		return other
	}
	return one + also(", ", other)
}

func (d *drawing) modelled(text string) string {
	if !d.s.Begun.Lab {
		return ""
	}
	return text
}

// clock is how long the recovery has taken, against what it may take. That the service has left its bounds since comes
// first.
func (d *drawing) clock(width int) string {
	since, out := d.s.OutAgain()
	if !out {
		return d.recovery()
	}
	again := "OUT OF BOUNDS " + lasts(d.now.Sub(since))
	if width < spacious {
		return again
	}
	return again + ", " + d.recovery()
}

// recovery counts from the first run of a recovery that was taken over: the incident does not begin anew.
func (d *drawing) recovery() string {
	within := ""
	if d.s.Doc.RecoverWithin > 0 {
		within = " of " + lasts(d.s.Doc.RecoverWithin)
	}
	switch r := d.s.Recovered; {
	case r != nil:
		took := time.Duration(max(r.TookMS, r.IncidentMS)) * time.Millisecond
		return "recovered in " + lasts(took) + within + d.late(r.Late)
	case d.s.Ending != "":
		return string(d.s.Ending) + " after " + lasts(d.s.LastAt.Sub(d.s.Since()))
	}
	took := d.now.Sub(d.s.Since())
	return lasts(took) + within + d.late(d.s.Doc.RecoverWithin > 0 && took > d.s.Doc.RecoverWithin)
}

func (d *drawing) late(is bool) string {
	if is {
		return ", LATE"
	}
	return ""
}

// stages are the nine stages with their state and time, as wide as there is room for.
func (d *drawing) stages(width int) []string {
	for _, how := range []naming{stageLong, stageTimed, stageShort} {
		if rows := d.stageRow(width, how); rows != nil {
			return rows
		}
	}
	return []string{d.stageOnly(width)}
}

// stageOnly is the stage that the walk stands in, for narrow screens.
func (d *drawing) stageOnly(width int) string {
	text := fmt.Sprintf("%s stage %d of %d, %s", d.signs.here, int(d.s.Stage), runbook.StageCount, d.stageText(d.s.Stage, stageLong))
	return d.ink.strong.paint(d.fit(text, width))
}

// How a stage is named.
type naming int

const (
	stageLong  naming = iota // protect-origin 12s
	stageTimed               // protect 12s
	stageShort               // protect
)

func (d *drawing) stageRow(width int, how naming) []string {
	var cellsUsed int
	var b strings.Builder
	b.Grow(2 * width)
	for stage := runbook.DeclareMode; stage <= runbook.Reconcile; stage++ {
		sign, text, gap := d.stageSign(stage), d.stageText(stage, how), min(int(stage-runbook.DeclareMode), 1)
		cellsUsed += gap + cells(sign) + cells(text)
		ink := d.stageInk(stage)
		for _, part := range []string{ink.on, spaces(gap), sign, text, ink.off} {
			b.WriteString(part)
		}
	}
	if cellsUsed > width {
		return nil
	}
	return []string{b.String()}
}

func (d *drawing) stageText(stage runbook.Stage, how naming) string {
	switch {
	case stage == 0:
		return "not begun"
	case how == stageShort:
		return shortStages[stage]
	case how == stageTimed:
		return shortStages[stage] + d.stageTime(stage)
	}
	return stage.String() + d.stageTime(stage)
}

var shortStages = [runbook.StageCount + 1]string{"", "declare", "protect", "stale", "constrain", "rank", "observe", "expand", "restore", "reconcile"}

func (d *drawing) stageTime(stage runbook.Stage) string {
	span := d.story.stages[stage]
	switch {
	case span.from.IsZero():
		return ""
	case span.to.IsZero():
		return " " + lasts(d.now.Sub(span.from))
	}
	return " " + lasts(span.to.Sub(span.from))
}

func (d *drawing) stageSign(stage runbook.Stage) string {
	switch {
	case d.s.Doc.Stages[stage-1].Skip != "":
		return d.signs.skipped
	case stage != d.s.Stage && d.failedIn(stage):
		return d.signs.failed
	case stage < d.s.Stage || d.s.Ending == steps.EndedClosed:
		return d.signs.done
	case stage == d.s.Stage:
		return d.signs.here
	}
	return d.signs.next
}

// failedIn reports whether a step of a stage is over and was not done.
func (d *drawing) failedIn(stage runbook.Stage) bool {
	for _, call := range d.s.FailedCalls() {
		if d.s.Doc.Step(call.Step).Stage == stage {
			return true
		}
	}
	return false
}

func (d *drawing) stageInk(stage runbook.Stage) ink {
	switch {
	case d.stageSign(stage) == d.signs.failed:
		return d.ink.bad
	case stage == d.s.Stage && d.s.Ending == "":
		return d.ink.strong
	case stage < d.s.Stage:
		return d.ink.good
	}
	return d.ink.quiet
}

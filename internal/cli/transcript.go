package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// recordPrinter shows records as they come. A walk and `audit show` use the same ones.
type recordPrinter interface {
	print(record audit.Record, body any) error
}

// transcript prints one line an event, from the records alone:
//
//	10:07:31.4Z    +1.4s  protect-origin/no-retries  flipped retries.budget to 0% (version 4)
//
// The time is UTC, the second column the run's own clock. Polls are many and mostly
// alike: a gate gets a line when its verdict or its passes in a row change, and
// now and then while it keeps waiting. A walk prints in brief: a flip is one line when
// it is made, with what it came from. A hold has rows below its line, set in: what a
// person can do and what waiting costs. On a terminal lines break between words.
type transcript struct {
	out       io.Writer
	brief     bool
	day       string
	stage     string
	doc       *runbook.Document // nil when this version cannot parse it
	hand      bool              // the log is of one flip by hand
	home      map[string]string // step: its stage
	owed      []string          // steps, in the order they came
	paid      bool              // the latest verdict ended something that was owed
	gates     gateLines
	lostReads lostReads
	redis     string // why Redis could not be read at the last poll
	obey      obeying
	tries     tries
	plans     map[string]*steps.Planned // by digest
}

func newTranscript(out io.Writer) *transcript {
	return &transcript{out: out, home: map[string]string{}, gates: gateLines{}, lostReads: lostReads{}, tries: tries{},
		plans: map[string]*steps.Planned{}}
}

// briefWords says records as a walk does, to whoever shows them otherwise.
func briefWords() *transcript {
	t := newTranscript(io.Discard)
	t.brief = true
	return t
}

// print writes the lines of one record. Records that only carry measurements may
// have none.
func (t *transcript) print(record audit.Record, body any) error {
	if day := record.At.UTC().Format(time.DateOnly); day != t.day {
		t.day = day
		if _, err := fmt.Fprintf(t.out, "%s UTC\n", day); err != nil {
			return err
		}
	}
	for _, e := range t.heard(record, body) {
		if err := t.line(record, e); err != nil {
			return err
		}
	}
	return nil
}

// heard takes a record in and gives its lines.
func (t *transcript) heard(record audit.Record, body any) []event {
	t.follow(body)
	if t.brief && saidElsewhere(body) {
		return nil
	}
	return t.events(record, body)
}

// event is one line: where in the walk, and what happened; and rows below it.
type event struct {
	where, text string
	rows        []string
}

func (t *transcript) line(record audit.Record, e event) error {
	stamp := record.At.UTC().Format("15:04:05.0Z")
	clock := fmt.Sprintf("+%.1fs", float64(record.T)/1000)
	mark := ""
	if record.Emergency {
		mark = "[emergency log] "
	}
	lines := []string{fmt.Sprintf("%s %9s  %s  %s%s", stamp, clock, oneLine(e.where), mark, oneLine(e.text))}
	for _, row := range e.rows {
		lines = append(lines, strings.Repeat(" ", hang)+oneLine(row))
	}
	width := columnsOf(t.out)
	_, err := fmt.Fprint(t.out, wrap(lines[0], width, hang)+"\n"+wrapRows(lines[1:], width))
	return err
}

// follow keeps what later lines need: the stage, the home of each step, what is owed.
func (t *transcript) follow(body any) {
	switch b := body.(type) {
	case *steps.Begun:
		t.findHomes(b)
		t.hand = b.Hand != nil
	case *steps.StageBody:
		t.stage = b.Stage
	case *steps.OwedBody:
		t.settleOwed(b.Step)
		t.owed = append(t.owed, b.Step)
	case *steps.Judged:
		t.paid = slices.Contains(t.owed, b.Step)
		if b.Decision == steps.DecisionMet || b.Decision == steps.DecisionContinue || b.Decision == steps.DecisionUndo {
			t.settleOwed(b.Step)
		}
	case *steps.Skipped:
		t.settleOwed(b.Step)
	case *steps.Planned:
		t.plans[b.Digest] = b
	}
}

// findHomes reads the stages of all steps off the runbook in the log. A runbook that
// this version cannot parse leaves steps without a stage.
func (t *transcript) findHomes(b *steps.Begun) {
	doc, problems := runbook.Parse(b.File, b.Runbook, b.Parameters)
	if len(problems) > 0 {
		return
	}
	t.doc = doc
	for step := range doc.Steps() {
		t.home[step.Name] = step.Stage.String()
	}
}

func (t *transcript) settleOwed(step string) {
	kept := t.owed[:0]
	for _, owed := range t.owed {
		if owed != step {
			kept = append(kept, owed)
		}
	}
	t.owed = kept
}

// at names a step with its stage.
func (t *transcript) at(step string) string {
	if stage := t.home[step]; stage != "" {
		return stage + "/" + step
	}
	if step == "" {
		return t.here()
	}
	return step
}

// here is the stage that the walk stands in.
func (t *transcript) here() string {
	if t.stage == "" {
		return "run"
	}
	return t.stage
}

// stillOwed says what the walk waits for before it releases anything; nothing where
// nothing was owed, as after a release.
func (t *transcript) stillOwed() string {
	switch {
	case len(t.owed) == 0 && !t.paid:
		return ""
	case len(t.owed) == 0:
		return "the effect of every brake is proved"
	}
	return "still unproved: " + strings.Join(t.owed, ", ")
}

// jsonLines prints the records themselves, one a line.
type jsonLines struct{ out io.Writer }

func (j jsonLines) print(record audit.Record, _ any) error {
	_, err := j.out.Write(append(record.Line(), '\n'))
	return err
}

// printerFor chooses the printer of the settings; brief is for walks.
func (p *program) printerFor(brief bool) recordPrinter {
	if p.settings.json() {
		return jsonLines{p.out}
	}
	t := newTranscript(p.out)
	t.brief = brief
	return t
}

// replayed keeps what the records from before this process say for the lines that come.
func (t *transcript) replayed(_ audit.Record, body any) error {
	t.follow(body)
	return nil
}

// headPrinter shows heads.
type headPrinter interface{ head(head audit.Head) error }

// head prints a head that was signed: the position that somebody else may keep.
func (t *transcript) head(head audit.Head) error {
	_, err := fmt.Fprintf(t.out, "%*s  %s  head %s is signed\n", len("15:04:05.0Z")+10, "", t.here(), head)
	return err
}

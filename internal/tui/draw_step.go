package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// step is the step that the walk stands in or asks about; nil when there is none.
func (d *drawing) step() *runbook.Step {
	if step := d.s.Doc.Step(d.question.Step); step != nil {
		return step
	}
	return d.s.CurrentStep()
}

// stepSection is the current step: its name, its plan or question, and its why.
func (d *drawing) stepSection(width int) section {
	step := d.step()
	if step == nil || d.s.Ending != "" {
		return section{title: "step", rows: []string{d.fit(d.noStep(), width)}, least: 1}
	}
	rows := append([]string{d.stepRow(step, width)}, d.planRows(step, width)...)
	least := len(rows)
	if step.Why != "" {
		rows = append(rows, d.paintedWrap(d.ink.quiet, "why: "+step.Why, width, 5)...)
	}
	return section{rows: rows, least: least, hangs: true}
}

// stepRow names the step and says how the gate stands that it waits for: the gate passes, not the step.
func (d *drawing) stepRow(step *runbook.Step, width int) string {
	for _, gate := range d.shownGates() {
		if kind, name := gateName(gate.ID); name == step.Name {
			verdict := ", " + waitsFor[kind] + " " + d.ink.words[gate.Verdict]
			room := width - ansi.StringWidth(verdict)
			return d.ink.strong.paint(d.fit(d.stepLine(step, room), room)) + verdict
		}
	}
	return d.ink.strong.paint(d.fit(d.stepLine(step, width), width))
}

// waitsFor are the gates of a step by what they look at.
var waitsFor = map[string]string{"when": "gate", "expect": "effect", "undo_if": "harm"}

// stepLine names the step, with its stage where there is room.
func (d *drawing) stepLine(step *runbook.Step, width int) string {
	st := d.s.Step(step.Name)
	text := d.signs.here + " "
	if width >= spacious {
		text += step.Stage.String() + "/"
	}
	text += step.Name
	if st.Phase == steps.StepEntered && !st.EnteredAt.IsZero() {
		text += " for " + lasts(d.now.Sub(st.EnteredAt))
	}
	if st.Blind {
		text += ", blind"
	}
	return text
}

// noStep says why the walk stands in no step.
func (d *drawing) noStep() string {
	switch owed := len(d.s.Owed()); {
	case d.s.Ending != "":
		return "the run is " + string(d.s.Ending)
	case owed == 1:
		return "none is open; a brake is on, and its effect not proved yet"
	case owed > 1:
		return fmt.Sprintf("none is open; %d brakes are on, and their effect not proved yet", owed)
	}
	return "none is open"
}

func (d *drawing) paintedWrap(i ink, text string, width, hang int) []string {
	lines := wrapped(clean(text), width, hang)
	for n, line := range lines {
		lines[n] = i.paint(cut(line, width, d.signs.more))
	}
	return lines
}

// planRows are what the step would do or asks: the plan with its target first, and what wider words
// would take along.
func (d *drawing) planRows(step *runbook.Step, width int) []string {
	switch q := &d.question; {
	case q.Asks != "":
		return d.askRows(q, width)
	case q.Lift != nil:
		rows := d.paintedWrap(d.ink.doubt, "  undo "+q.Lift.Ordered(), width, 4)
		return append(rows, d.liftPlan(q, width)...)
	case q.Planned != nil:
		return append(d.paintedWrap(ink{}, "  "+planText(q.Planned), width, 4), d.widerRows(q, width)...)
	case len(q.Offers) > 0:
		return append([]string{d.fit(d.offeredText(q), width)}, d.widerRows(q, width)...)
	case step.Flip != nil && len(step.Flip.Through) > 0:
		return []string{d.fit("  "+d.ladderText(step), width)}
	case step.Flip != nil && d.flipOf(step) != nil:
		return []string{d.ink.quiet.paint(d.fit(d.doneText(step), width))}
	case step.Flip != nil:
		return []string{d.ink.quiet.paint(d.fit("  will: "+d.flipText(step.Flip), width))}
	case step.Restore != nil:
		return d.restoreRows(step, width)
	}
	return nil
}

// restoreRows say what is lifted next, and what is left behind that.
func (d *drawing) restoreRows(step *runbook.Step, width int) []string {
	left := d.s.Unlifted(step)
	if len(left) == 0 {
		return nil
	}
	text := "  lifts next: " + d.coversText(left[:1])
	if more := len(left) - 1; more > 0 {
		text += fmt.Sprintf("; then %d more: %s", more, d.coversText(left[1:]))
	}
	rows := d.paintedWrap(ink{}, text, width, 4)
	if most := 2; !d.tall && len(rows) > most {
		rows = append(rows[:most-1], d.goesOn(rows[most-1], width))
	}
	return rows
}

// liftPlan is what the undo that is asked for would do.
func (d *drawing) liftPlan(q *steps.Question, width int) []string {
	if q.Planned == nil {
		return []string{d.fit(d.offeredText(q), width)}
	}
	return d.paintedWrap(ink{}, "  "+planText(q.Planned), width, 4)
}

// offeredText is what waits where it is no plan of one flip.
func (d *drawing) offeredText(q *steps.Question) string {
	return "  plan " + q.Offers[0].Short() + ": " + d.coversText(q.Offers[0].Covers)
}

// widerRows say what each wider approval takes along.
func (d *drawing) widerRows(q *steps.Question, width int) []string {
	var rows []string
	for _, offer := range q.Offers[min(1, len(q.Offers)):] {
		rows = append(rows, d.paintedWrap(ink{}, fmt.Sprintf("  %q %s: %s", offer.Word, offer.Short(), d.coversText(offer.Covers)), width, 4)...)
	}
	return rows
}

// flipOf is the step's own flip while it stands, nil for none.
func (d *drawing) flipOf(step *runbook.Step) *steps.FlipState {
	for _, flip := range d.s.Flips() {
		if flip.Target.Step == step.Name && !flip.Undone && !flip.Idled {
			return flip
		}
	}
	return nil
}

// doneText is what a step has done, or that there was nothing to do.
func (d *drawing) doneText(step *runbook.Step) string {
	if d.flipOf(step).Nothing {
		return "  nothing to do: " + d.flipText(step.Flip) + " was there already"
	}
	return "  done: " + d.flipText(step.Flip)
}

// ladderText says where a ladder stands, and marks the rungs that are behind and the one in force, also while its effect
// is awaited; the next is the first of the others.
func (d *drawing) ladderText(step *runbook.Step) string {
	c := d.s.Doc.Control(step.Flip.Control)
	if c == nil {
		return step.Flip.Control
	}
	live, known := d.s.Live(c)
	rungs := make([]string, len(step.Flip.Through))
	for i, v := range step.Flip.Through {
		sign := d.signs.next
		switch {
		case known && actions.Encode(v) == actions.Encode(live):
			sign = d.signs.here
		case i < d.s.Step(step.Name).Rung:
			sign = d.signs.done
		}
		rungs[i] = sign + c.Format(v)
	}
	text := "ladder: " + step.Flip.Control
	if known {
		text += " is " + c.Format(live)
	}
	return text + ": " + strings.Join(rungs, " ")
}

// planText has first what must not be cut off: the digest that names the plan at any other terminal, which way it goes,
// and where to.
func planText(p *steps.Planned) string {
	return fmt.Sprintf("plan %s %s: %s to %s, from %s", p.Short(), directionText(p.Plan.Direction), p.Plan.Control, p.After, p.Before)
}

func directionText(direction runbook.Direction) string {
	switch direction {
	case runbook.Protecting:
		return "PROTECTS"
	case runbook.Releasing:
		return "RELEASES"
	}
	return "changes nothing"
}

// coversText lists changes, those of one control together.
func (d *drawing) coversText(covers []steps.Change) string {
	var parts []string
	for i, c := range covers {
		if i > 0 && covers[i-1].Control == c.Control {
			parts[len(parts)-1] += ", " + d.afterText(c)
			continue
		}
		to := " to "
		if strings.Contains(c.Control, " ") { // a call, which is not set to anything
			to = ": "
		}
		parts = append(parts, c.Control+to+d.afterText(c))
	}
	return strings.Join(parts, "; ")
}

// afterText is the value that a change leaves.
func (d *drawing) afterText(c steps.Change) string {
	control := d.s.Doc.Control(c.Control)
	switch {
	case c.After == nil:
		return "absent"
	case control != nil:
		if value, err := actions.Decode(control, *c.After); err == nil {
			return control.Format(value)
		}
	default:
		var words []string // of a call
		if json.Unmarshal([]byte(*c.After), &words) == nil {
			return strings.Join(words, " ")
		}
	}
	return strings.TrimSpace(*c.After + " " + c.Unit)
}

func (d *drawing) flipText(flip *runbook.Flip) string {
	c := d.s.Doc.Control(flip.Control)
	if c == nil {
		return flip.Control
	}
	return flip.Control + " to " + c.Format(flip.To)
}

// askRows are the question of a confirm.
func (d *drawing) askRows(q *steps.Question, width int) []string {
	rows := d.paintedWrap(d.ink.strong, "  asks: "+q.Asks, width, 8)
	if !q.Until.IsZero() {
		rows = append(rows, d.paintedWrap(ink{}, fmt.Sprintf("  in %s without an answer: %s", lasts(q.Until.Sub(d.now)+time.Second), q.Else)+
			d.brakesGoOn(q), width, 4)...)
	}
	if q.Modes {
		rows = append(append(rows, d.firstRows(width)...), d.modeRows(q, width)...)
		rows = append(rows, d.paintedWrap(d.ink.quiet, "  \"take STEP\" puts on a brake that an answer left out, \"undo STEP\" lifts one", width, 4)...)
	}
	return rows
}

// brakesGoOn says of the question after the modes what does not wait for it.
func (d *drawing) brakesGoOn(q *steps.Question) string {
	if !q.Modes {
		return ""
	}
	return "; " + steps.BrakesGoOn
}

// firstRows are the ways out that come before any mode, the question and what to do each on one row where rows are few.
func (d *drawing) firstRows(width int) []string {
	var rows []string
	for _, way := range d.s.First() {
		if d.tall {
			rows = append(rows, d.paintedWrap(d.ink.strong, "  "+way.String(), width, 4)...)
			continue
		}
		rows = append(rows, d.ink.strong.paint(d.fit("  first: "+way.Question, width)),
			d.ink.strong.paint(d.fit("    if so, "+way.Then, width)))
	}
	return rows
}

// spacious is from how many columns on there is room to explain.
const spacious = 60

// modeRows are the modes with their numbers: once the signals have been looked at, what they speak for comes first,
// a row each with the reason, and what is unlikely last.
func (d *drawing) modeRows(q *steps.Question, width int) []string {
	if q.Diagnosed == nil || len(q.Diagnosed.Diagnosis.Signs) == 0 {
		typed := "  type numbers or names, as 1,2: " + strings.Join(modeNames(), ", ")
		if width < spacious {
			typed = fmt.Sprintf("  type 1 to %d, as 1,2; ? lists them", len(runbook.Modes))
		}
		rows := append(d.paintedWrap(ink{}, typed, width, 4), d.choiceRows(width)...)
		if q.Diagnosed != nil {
			rows = append(rows, d.paintedWrap(d.ink.doubt, "  "+q.Diagnosed.Text, width, 4)...)
		}
		return rows
	}
	if width < spacious {
		return append(d.briefSigns(q.Diagnosed.Diagnosis.Signs, width), d.choiceRows(width)...)
	}
	rows := d.paintedWrap(ink{}, "  type numbers or names, as 1,2; the signals are a hint, your answer counts:", width, 4)
	var others []string // of which the names are enough where rows are few
	for _, sign := range q.Diagnosed.Diagnosis.Signs {
		if sign.Verdict == unlikely && !d.tall {
			others = append(others, numbered(sign.Mode))
			continue
		}
		rows = append(rows, d.signRows(sign, width)...)
	}
	if others != nil {
		rows = append(rows, d.paintedWrap(d.ink.quiet, "  "+unlikely+" "+strings.Join(others, ", "), width, signHang)...)
	}
	return append(rows, d.choiceRows(width)...)
}

// briefSigns names the modes by their verdicts, where there is no room for reasons.
func (d *drawing) briefSigns(signs []steps.ModeSign, width int) []string {
	var rows []string
	for i := 0; i < len(signs); {
		verdict, names := signs[i].Verdict, []string{}
		for ; i < len(signs) && signs[i].Verdict == verdict; i++ {
			names = append(names, numbered(signs[i].Mode))
		}
		rows = append(rows, d.paintedWrap(ink{}, "  "+verdict+" "+strings.Join(names, ", "), width, 4)...)
	}
	return rows
}

// unlikely is the verdict on a mode that the signals speak against.
const unlikely = "unlikely"

// signHang is where the reason goes on that stands behind a verdict and a mode.
const signHang = len("  unlikely   ")

// choiceRows say which steps an answer takes and which it leaves out, modes that do the same together.
func (d *drawing) choiceRows(width int) []string {
	text := steps.ChoicesText(d.s.Doc)
	if text == "" {
		return nil
	}
	return d.paintedWrap(ink{}, "  "+text, width, 4)
}

// modeNames are the modes as they are typed.
func modeNames() []string {
	var names []string
	for _, mode := range runbook.Modes {
		names = append(names, numbered(mode))
	}
	return names
}

// numbered is a mode with the number that a person can type for it.
func numbered(mode runbook.Mode) string {
	return strings.TrimPrefix(fmt.Sprintf("%d %s", slices.Index(runbook.Modes, mode)+1, mode), "0 ")
}

// signRows are what the signals say of one mode, on one row where rows are few.
func (d *drawing) signRows(sign steps.ModeSign, width int) []string {
	text := fmt.Sprintf("  %-8s %s: %s", sign.Verdict, numbered(sign.Mode), sign.Reason)
	if d.tall {
		return d.paintedWrap(d.signInk(sign), text, width, signHang)
	}
	return []string{d.signInk(sign).paint(d.fit(text, width))}
}

func (d *drawing) signInk(sign steps.ModeSign) ink {
	switch sign.Verdict {
	case "likely":
		return d.ink.strong
	case unlikely:
		return d.ink.quiet
	}
	return d.ink.doubt
}

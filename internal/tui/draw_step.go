package tui

import (
	"fmt"
	"strings"
	"time"

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

// stepSection is the current step: its name, its why, and its plan or question.
func (d *drawing) stepSection(width int) section {
	step := d.step()
	if step == nil {
		return section{title: "step", rows: []string{d.fit(d.noStep(), width)}, least: 1}
	}
	rows := []string{d.stepRow(step, width)}
	rows = append(rows, d.planRows(step, width)...)
	least := len(rows)
	if step.Why != "" {
		rows = append(rows, d.paintedWrap(d.ink.quiet, "why: "+step.Why, width, 5)...)
	}
	return section{rows: rows, least: min(least, 2)}
}

// stepRow begins with the verdict of the gate that the step waits for.
func (d *drawing) stepRow(step *runbook.Step, width int) string {
	line := d.ink.strong.paint(d.fit(d.stepLine(step), width-verdictWidth-1))
	for _, gate := range d.shownGates() {
		if _, name := gateName(gate.ID); name == step.Name {
			return d.verdictColumn(gate.Verdict) + line
		}
	}
	return d.ink.strong.paint(pad(d.signs.here, verdictWidth+1)) + line
}

// stepLine names the step and its stage.
func (d *drawing) stepLine(step *runbook.Step) string {
	st := d.s.Step(step.Name)
	text := step.Stage.String() + "/" + step.Name
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
	if d.s.Ending != "" {
		return "the run is " + string(d.s.Ending)
	}
	return "between steps"
}

func (d *drawing) paintedWrap(i ink, text string, width, hang int) []string {
	lines := wrapped(clean(text), width, hang)
	for n, line := range lines {
		lines[n] = i.paint(cut(line, width, d.signs.more))
	}
	return lines
}

// planRows are what the step would do or asks: the plan with before, after, unit and direction.
func (d *drawing) planRows(step *runbook.Step, width int) []string {
	switch q := &d.question; {
	case q.Asks != "":
		return d.askRows(q, width)
	case q.Planned != nil:
		return []string{d.fit("  plan: "+planText(q.Planned), width)}
	case len(q.Offers) > 0:
		return []string{d.fit("  plan: "+coversText(q.Offers[0].Covers), width)}
	case step.Flip != nil:
		return []string{d.ink.quiet.paint(d.fit("  will: "+d.flipText(step.Flip), width))}
	}
	return nil
}

func planText(p *steps.Planned) string {
	return fmt.Sprintf("%s from %s to %s, which %s", p.Plan.Control, p.Before, p.After, directionText(p.Plan.Direction))
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

func coversText(covers []steps.Change) string {
	var parts []string
	for _, c := range covers {
		to := "absent"
		if c.After != nil {
			to = *c.After
		}
		parts = append(parts, c.Control+" to "+strings.TrimSpace(to+" "+c.Unit))
	}
	return strings.Join(parts, ", ")
}

func (d *drawing) flipText(flip *runbook.Flip) string {
	c := d.s.Doc.Control(flip.Control)
	if c == nil {
		return flip.Control
	}
	values := flip.Through
	if len(values) == 0 {
		values = []runbook.Value{flip.To}
	}
	var rungs []string
	for _, v := range values {
		rungs = append(rungs, c.Format(v))
	}
	return "flip " + flip.Control + " to " + strings.Join(rungs, ", ")
}

// askRows are the question of a confirm.
func (d *drawing) askRows(q *steps.Question, width int) []string {
	rows := d.paintedWrap(d.ink.strong, "  asks: "+q.Asks, width, 8)
	if !q.Until.IsZero() {
		rows = append(rows, d.fit(fmt.Sprintf("  in %s without an answer: %s", lasts(q.Until.Sub(d.now)+time.Second), q.Else), width))
	}
	if q.Modes {
		rows = append(rows, d.modeRows(width)...)
	}
	return rows
}

func (d *drawing) modeRows(width int) []string {
	var names []string
	for i, mode := range runbook.Modes {
		names = append(names, fmt.Sprintf("%d %s", i+1, mode))
	}
	return d.paintedWrap(ink{}, "  type numbers or names: "+strings.Join(names, ", "), width, 4)
}

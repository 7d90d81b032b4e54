package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// graphSpan is how far back the small graphs look.
const graphSpan = 3 * time.Minute

// gateSection is a table of the gates that matter now: those of the step first, then what is owed
// or breached, then the exit.
func (d *drawing) gateSection(width int) section {
	var rows []string
	for _, gate := range d.shownGates() {
		rows = append(rows, d.gateRows(gate, width)...)
	}
	return section{title: "gates", rows: rows, least: min(2, len(rows))}
}

// shownGates orders the gates by how much a person needs them and leaves out guards that pass.
func (d *drawing) shownGates() []*steps.GateView {
	step := ""
	if s := d.step(); s != nil {
		step = s.Name
	}
	var own, others, exit []*steps.GateView
	for i := range d.gates {
		gate := &d.gates[i]
		kind, name := gateName(gate.ID)
		switch {
		case kind == "exit":
			exit = append(exit, gate)
		case name == step && kind != "undo_if":
			own = append(own, gate)
		case kind == "guard" && gate.Verdict == probes.Pass, kind == "undo_if" && gate.Verdict != probes.Pass:
		default:
			others = append(others, gate)
		}
	}
	return append(append(own, others...), exit...)
}

// gateName splits "when STEP", "guard 2 queue-age" and "exit".
func gateName(id string) (kind, name string) {
	kind, name, _ = strings.Cut(id, " ")
	return kind, name
}

func (d *drawing) gateRows(gate *steps.GateView, width int) []string {
	kind, _ := gateName(gate.ID)
	passed := fmt.Sprintf("%d/%d", min(gate.Passed, gate.Passes), gate.Passes)
	if kind == "exit" {
		passed += " intervals"
	}
	title := gate.ID + " " + passed
	if !gate.Since.IsZero() && gate.Verdict != probes.Pass {
		title += ", for " + lasts(d.now.Sub(gate.Since))
	}
	rows := []string{d.verdictColumn(gate.Verdict) + d.ink.strong.paint(d.fit(title, width-verdictWidth-1))}
	bounds := boundsOf(gate.Gate)
	for i := range gate.Findings {
		var bound *runbook.Bound
		if i < len(bounds) {
			bound = bounds[i]
		}
		rows = append(rows, d.boundRow(gate, &gate.Findings[i], bound, width))
	}
	return rows
}

func (d *drawing) verdictColumn(v probes.Verdict) string {
	return padPainted(d.verdict(v), verdictWidth+1)
}

func boundsOf(gate runbook.Gate) (bounds []*runbook.Bound) {
	for _, group := range gate {
		for i := range group {
			bounds = append(bounds, &group[i])
		}
	}
	return bounds
}

// Widths of the columns of a bound, in cells.
const (
	valueWidth  = 18
	marginWidth = 7
	ageWidth    = 5
	graphWidth  = 20
)

// boundRow is one bound: what it asks, the value, the margin, the last minutes, and how old the
// samples are. What does not fit is left out from the right.
func (d *drawing) boundRow(gate *steps.GateView, f *probes.Finding, bound *runbook.Bound, width int) string {
	row := "  " + d.verdictColumn(f.Verdict)
	left := width - 2 - verdictWidth - 1
	if f.Verdict == probes.Unknown {
		return row + d.ink.doubt.paint(d.fit(f.Sentence, left))
	}
	boundWidth := min(max(left/3, 24), 44)
	if left < boundWidth+valueWidth {
		return row + d.fit(f.Bound+": "+f.Value, left)
	}
	row += d.column(f.Bound, boundWidth) + " " + d.column(f.Value, valueWidth-1)
	left -= boundWidth + valueWidth
	if bound == nil {
		return row
	}
	ask := askOf(d.s.Doc, bound, gate)
	answer := d.s.Latest(ask)
	if left >= marginWidth {
		row += d.column(d.margin(bound, gate, answer), marginWidth)
		left -= marginWidth
	}
	if left >= ageWidth {
		row += d.column(d.age(answer), ageWidth)
		left -= ageWidth
	}
	if left > 8 {
		high := bound.Op != runbook.AtLeast && bound.Op != runbook.Above
		row += " " + d.story.pasts[ask].graph(min(left-1, graphWidth), d.serverNow(answer), graphSpan, high, d.story.flips, d.signs)
	}
	return row
}

// serverNow is the time on the clock of Prometheus, on which answers and flips are dated.
func (d *drawing) serverNow(answer *probes.Answer) time.Time {
	if answer == nil {
		return d.now
	}
	return answer.At
}

// askOf is what a bound asks. Rung numbers are part of it only where the query uses them.
func askOf(doc *runbook.Document, bound *runbook.Bound, gate *steps.GateView) probes.Ask {
	for _, ask := range probes.Asks(doc, runbook.Gate{{*bound}}, gate.From, gate.To) {
		if ask.Probe == bound.Probe {
			return ask
		}
	}
	return probes.Ask{Probe: bound.Probe}
}

// age is how old the newest sample is of the series that is furthest behind.
func (d *drawing) age(a *probes.Answer) string {
	if a == nil || a.Stalest.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.0fs", max(0, a.At.Sub(a.Stalest)).Seconds())
}

// margin is how far a value lies on the right side of its bound, as a share of the bound.
func (d *drawing) margin(bound *runbook.Bound, gate *steps.GateView, a *probes.Answer) string {
	limit, ok := d.operand(bound.Operand, gate)
	if !ok || a == nil || a.Count == 0 || limit == 0 {
		return ""
	}
	var inside float64
	switch bound.Op {
	case runbook.AtMost, runbook.Below:
		inside = limit - a.Max.Value
	case runbook.AtLeast, runbook.Above:
		inside = a.Min.Value - limit
	default:
		return ""
	}
	percent := 100 * inside / math.Abs(limit)
	if percent < -999 {
		return "<-999%"
	}
	return fmt.Sprintf("%+.0f%%", percent)
}

// operand is the number that a bound compares with.
func (d *drawing) operand(o runbook.Operand, gate *steps.GateView) (float64, bool) {
	switch {
	case o.Control != "":
		c := d.s.Doc.Control(o.Control)
		if c == nil {
			return 0, false
		}
		value, ok := d.s.Live(c)
		return value.Number, ok && !value.Unlimited
	case o.Probe != "":
		a := d.s.Latest(askOf(d.s.Doc, &runbook.Bound{Probe: o.Probe}, gate))
		if a == nil || a.Count != 1 {
			return 0, false
		}
		return a.Max.Value, true
	}
	return o.Number, true
}

package tui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// graphSpan is how far back the small graphs look.
const graphSpan = 3 * time.Minute

// gateSection is a table of the gates that matter now: those of the step first, then what is owed
// or breached, as far as a screen of that height can show it.
func (d *drawing) gateSection(width, height int) section {
	shown, bounds := d.shownGates(), 0
	lists := make([][]judged, 0, len(shown))
	for i := 0; i < len(shown) && i+bounds < height; i++ {
		lists = append(lists, d.judgedOf(shown[i]))
		bounds += len(lists[i])
	}
	columns := columnsFor(lists, width)
	rows := make([]string, 0, len(lists)+bounds)
	for i, list := range lists {
		rows = d.gateRows(rows, shown[i], d.gateTitle(shown[i]), list, columns, width)
	}
	return section{title: "gates", rows: rows, least: min(2, len(rows))}
}

// exitSection is what has to come true before the service counts as recovered, what fails first. It is there again
// when a service that had recovered has left its bounds.
func (d *drawing) exitSection(width int) section {
	since, again := d.s.OutAgain()
	if d.s.Recovered != nil && !again {
		return section{}
	}
	for i := range d.gates {
		if gate := &d.gates[i]; gate.ID == "exit" {
			title := d.gateTitle(gate)
			if again {
				title = "exit held before, out of its bounds again for " + lasts(d.now.Sub(since))
				title += also(", ", gate.Pace)
			}
			list := d.judgedOf(gate)
			rows := d.gateRows(make([]string, 0, 1+len(list)), gate, title, list, columnsFor([][]judged{list}, width), width)
			return section{rows: rows, least: min(2, len(rows))}
		}
	}
	return section{}
}

// columns are the widths of the table, in cells; 0 leaves a column out.
type columns struct{ bound, value, margin, age, graph int }

// Widths that do not depend on what is in the table.
const (
	indent      = 2
	marginWidth = 6
	ageWidth    = 3
	leastGraph  = 8
	mostGraph   = 30
)

// columnsFor gives the bounds and values what they need and the rest what is left, the margin first.
func columnsFor(gates [][]judged, width int) columns {
	var c columns
	for _, list := range gates {
		for _, j := range list {
			if j.Verdict != probes.Unknown {
				c.bound, c.value = max(c.bound, cells(j.text)), max(c.value, cells(j.value()))
			}
		}
	}
	room := width - indent - verdictWidth - 1
	c.value = max(min(c.value, room), 0)
	c.bound = max(min(c.bound, room-1-c.value), 0) // the value is new, and the probe begins the bound
	left := room - c.bound - 1 - c.value
	take := func(column *int, least, most int) {
		if left > least {
			*column = min(left-1, most)
			left -= *column + 1
		}
	}
	take(&c.margin, marginWidth, marginWidth)
	take(&c.age, ageWidth, ageWidth)
	take(&c.graph, leastGraph, mostGraph)
	return c
}

// shownGates orders the gates by how much a person needs them and leaves out guards that pass, and the exit.
func (d *drawing) shownGates() []*steps.GateView {
	step := ""
	if s := d.step(); s != nil {
		step = s.Name
	}
	var own, others []*steps.GateView
	for i := range d.gates {
		gate := &d.gates[i]
		kind, name := gateName(gate.ID)
		switch {
		case kind == "exit":
		case name == step && kind != "undo_if":
			own = append(own, gate)
		case kind == "guard" && gate.Verdict == probes.Pass, kind == "undo_if" && gate.Verdict != probes.Pass:
		default:
			others = append(others, gate)
		}
	}
	return append(own, others...)
}

// gateName splits "when STEP", "guard 2 queue-age" and "exit".
func gateName(id string) (kind, name string) {
	kind, name, _ = strings.Cut(id, " ")
	return kind, name
}

// judged is a finding with its bound, as that is shown, and whether it is one of several of which one is enough.
type judged struct {
	*probes.Finding
	bound *runbook.Bound
	any   bool
	text  string
	room  float64 // between the value and the bound, as a share of the bound; negative outside, 0 where it is not known
}

// rank orders findings: what fails, then what is unknown, then what passes.
func (j judged) rank() int {
	switch j.Verdict {
	case probes.Fail:
		return 0
	case probes.Unknown:
		return 1
	}
	return 2
}

// gateTitle names a gate, and says how often in a row it has passed of how often it must, and what it does meanwhile.
func (d *drawing) gateTitle(gate *steps.GateView) string {
	count := " " + itoa(min(gate.Passed, gate.Passes)) + "/" + itoa(gate.Passes)
	title := gate.ID + count
	if gate.ID == "exit" {
		title = "exit" + count + " intervals, then recovered"
	}
	if !gate.Since.IsZero() && gate.Verdict != probes.Pass {
		title += ", for " + lasts(d.now.Sub(gate.Since))
	}
	return title + also(", ", gate.Pace)
}

// gateRows adds the rows of a gate: its verdict, then its bounds.
func (d *drawing) gateRows(rows []string, gate *steps.GateView, title string, list []judged, columns columns,
	width int) []string {
	rows = append(rows, d.verdictColumn(gate.Verdict)+d.ink.strong.paint(d.fit(title, width-verdictWidth-1)))
	for i := 0; i < len(list); {
		if list[i].Verdict == probes.Unknown {
			end := alikeFrom(list, i)
			rows = append(rows, d.unknownRow(list[i:end], width))
			i = end
			continue
		}
		rows = append(rows, d.boundRow(gate, list[i], columns))
		i++
	}
	return rows
}

// judgedOf puts the findings of a gate with their bounds in the order of their rank, what fails by how far it is out.
func (d *drawing) judgedOf(gate *steps.GateView) []judged {
	list := make([]judged, 0, len(gate.Findings))
	for _, group := range gate.Gate {
		for i := range group {
			if at := len(list); at < len(gate.Findings) {
				j := judged{Finding: &gate.Findings[at], bound: &group[i], any: len(group) > 1}
				if j.Verdict != probes.Unknown { // else only its probe is named
					j.text = d.boundText(gate, j)
				}
				if j.Verdict == probes.Fail {
					j.room, _ = d.room(j.bound, gate, d.s.Latest(askOf(d.s.Doc, j.bound, gate)))
				}
				list = append(list, j)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b judged) int {
		return cmp.Or(a.rank()-b.rank(), cmp.Compare(a.room, b.room))
	})
	return list
}

// alikeFrom is where the bounds end that are unknown for the same reason as the first.
func alikeFrom(list []judged, first int) int {
	end := first + 1
	for end < len(list) && list[end].Verdict == probes.Unknown && list[end].Reason == list[first].Reason {
		end++
	}
	return end
}

// unknownRow names bounds that are unknown for one reason, and the reason.
func (d *drawing) unknownRow(alike []judged, width int) string {
	names := make([]string, len(alike))
	for i := range alike {
		names[i] = alike[i].Probe
	}
	why := strings.TrimPrefix(alike[0].Sentence, alike[0].Probe+" unknown: ")
	text := strings.Join(slices.Compact(names), ", ") + ": " + why
	return spaces(indent) + d.verdictColumn(probes.Unknown) + d.ink.doubt.paint(d.fit(text, width-indent-verdictWidth-1))
}

func (d *drawing) verdictColumn(v probes.Verdict) string { return d.ink.verdicts[v] }

// boundText is a bound with the number that it means, where the runbook has a name for it.
func (d *drawing) boundText(gate *steps.GateView, j judged) string {
	text := j.Bound
	name := j.bound.Operand.Text
	if limit, known := d.operand(j.bound.Operand, gate); known && name != "" && strings.HasSuffix(text, name) {
		unit := ""
		if p := d.s.Doc.Probe(j.bound.Probe); p != nil {
			unit = p.Unit
		}
		if number, err := strconv.ParseFloat(strconv.FormatFloat(limit, 'g', 6, 64), 64); err == nil {
			text = strings.TrimSuffix(text, name) + runbook.FormatQuantity(number, unit)
		}
	}
	if j.any {
		text = "any: " + text
	}
	return text
}

// boundRow is one bound: what it asks, the value, the margin, how old the samples are, and the last
// minutes.
func (d *drawing) boundRow(gate *steps.GateView, j judged, c columns) string {
	ask := askOf(d.s.Doc, j.bound, gate)
	answer := d.s.Latest(ask)
	margin, age, graph := "", "", ""
	if c.margin > 0 {
		margin = d.margin(j.bound, gate, answer)
	}
	if c.age > 0 {
		age = d.age(answer)
	}
	if c.graph > 0 {
		high := j.bound.Op != runbook.AtLeast && j.bound.Op != runbook.Above
		graph = d.story.pasts[ask].graph(d.cells[:c.graph], d.serverNow(answer), graphSpan, high, d.story.flips, d.signs)
	}
	bound, value := d.fit(j.text, c.bound), d.fit(j.value(), c.value)
	return spaces(indent) + d.verdictColumn(j.Verdict) + bound + spaces(c.bound-cells(bound)+1) + value +
		spaces(c.value-cells(value)+min(c.margin, 1)+c.margin-cells(margin)) + margin +
		spaces(min(c.age, 1)+c.age-cells(age)) + age + spaces(min(c.graph, 1)) + graph
}

// value is what was measured, in the unit of the bound where that names one, and that a person or a second source has
// given it.
func (j judged) value() string {
	value := withoutUnit(j.Value, j.text)
	switch {
	case j.ByHand != "":
		return value + " BY HAND"
	case j.Source != "":
		return value + " 2nd source"
	}
	return value
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
	if p := doc.Probe(bound.Probe); p != nil && p.UsesRung() {
		return probes.Ask{Probe: bound.Probe, From: gate.From, To: gate.To}
	}
	return probes.Ask{Probe: bound.Probe}
}

// age is how old the newest sample is of the series that is furthest behind.
func (d *drawing) age(a *probes.Answer) string {
	if a == nil || a.Stalest.IsZero() {
		return ""
	}
	return rounded(max(0, a.At.Sub(a.Stalest)).Seconds(), "", "s")
}

// margin is how far a value lies on the right side of its bound, as a share of the bound.
func (d *drawing) margin(bound *runbook.Bound, gate *steps.GateView, a *probes.Answer) string {
	room, ok := d.room(bound, gate, a)
	percent := 100 * room
	switch {
	case !ok || math.IsInf(room, 0):
		return ""
	case percent <= -1000:
		return rounded(1-room, "x", "")
	case math.Signbit(percent):
		return rounded(percent, "", "%")
	}
	return rounded(percent, "+", "%")
}

// room is what lies between a value and its bound as a share of the bound, infinite where that is 0; negative outside,
// and false where there is no such number.
func (d *drawing) room(bound *runbook.Bound, gate *steps.GateView, a *probes.Answer) (float64, bool) {
	limit, ok := d.operand(bound.Operand, gate)
	if !ok || a == nil || a.Count == 0 {
		return 0, false
	}
	inside := limit - a.Max.Value
	switch bound.Op {
	case runbook.AtMost, runbook.Below:
	case runbook.AtLeast, runbook.Above:
		inside = a.Min.Value - limit
	default:
		return 0, false
	}
	if inside == 0 {
		return 0, limit != 0
	}
	return inside / math.Abs(limit), true
}

// rounded is a whole number with something before and behind it.
func rounded(v float64, before, behind string) string {
	var room [32]byte
	return string(append(strconv.AppendFloat(append(room[:0], before...), v, 'f', 0, 64), behind...))
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

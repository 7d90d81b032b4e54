package evidence

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// report is the figures as people read them.
type report struct {
	*Figures
	Timeline []TimelineRow
	Plots    []plot
	Missing  []string // what could not be captured, and why
	Controls []controlRow
	Numbers  []numbersRow
}

// numbersRow is the course of one series in numbers.
type numbersRow struct{ Probe, Series, First, Lowest, Highest, Last string }

// numbersOf gives what was measured as a table: for whoever cannot see the plots, and for the record.
func numbersOf(plots []plot) []numbersRow {
	var rows []numbersRow
	for i := range plots {
		p := &plots[i]
		for _, l := range p.lines[:len(p.lines)-p.observed] {
			shown := func(d dot) string { return runbook.FormatQuantity(shortened(d.value), p.Unit) }
			byValue := func(a, b dot) int { return cmp.Compare(a.value, b.value) }
			rows = append(rows, numbersRow{p.Probe, l.label, shown(l.dots[0]), shown(slices.MinFunc(l.dots, byValue)),
				shown(slices.MaxFunc(l.dots, byValue)), shown(l.dots[len(l.dots)-1])})
		}
	}
	return rows
}

// TimelineRow is a row of the timeline.
type TimelineRow struct {
	Run  string    `json:"run"`
	Seq  uint64    `json:"seq"`
	At   time.Time `json:"at"`
	T    int64     `json:"t_ms"`
	What string    `json:"what"` // begun, command, stage, flip, hold, lifted, decision, person, by hand, call, drift, guard, skip, recovered, end
	Text string    `json:"text"`
}

// controlRow is one control before, during and after the run.
type controlRow struct {
	Control, Steady, Before, During, After string
	Flips                                  int
	Lifted                                 bool
}

func newReport(f *Figures, m Material) (*report, error) {
	r := &report{Figures: f}
	r.Timeline = timeline(f)
	r.Controls = controlRows(f)
	ranges, err := r.captures(m)
	if err != nil {
		return nil, err
	}
	r.Plots = plotsOf(f, ranges)
	r.Numbers = numbersOf(r.Plots)
	r.Missing = append(r.Missing, missingStart(r.Plots)...)
	return r, nil
}

// missingStart says for how many probes Prometheus had forgotten the beginning of the run. That the walk
// observed something there tells it from a series that began only later.
func missingStart(plots []plot) []string {
	late, observed, first := 0, 0, time.Time{}
	for i := range plots {
		observed += plots[i].observed
		if at := plots[i].Before; !at.IsZero() {
			late++
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	if observed == 0 {
		return nil
	}
	return []string{fmt.Sprintf("what Prometheus kept of the beginning of the run: of %d of %d probes it had nothing from before %s, so the plots show there what the walk observed",
		late, len(plots), utc(first))}
}

// captures reads what was captured and names what is missing.
func (r *report) captures(m Material) (*Ranges, error) {
	var ranges *Ranges
	if text := m.Captures[rangesFile]; text != nil {
		ranges = &Ranges{}
		if err := json.Unmarshal(text, ranges); err != nil {
			return nil, fmt.Errorf("%s: %w", rangesFile, err)
		}
		if ranges.Missing != "" {
			r.Missing = append(r.Missing, "what Prometheus kept: "+ranges.Missing)
		}
	} else {
		r.Missing = append(r.Missing, "what Prometheus kept: not captured yet")
	}
	if text := m.Captures[controlsFile]; text != nil {
		var c Controls
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", controlsFile, err)
		}
		if c.Missing != "" {
			r.Missing = append(r.Missing, "the controls in Redis at the end: "+c.Missing)
		}
	} else {
		r.Missing = append(r.Missing, "the controls in Redis at the end: not captured yet")
	}
	if m.Head == nil {
		r.Missing = append(r.Missing, "a signed head: none was made")
	}
	return ranges, nil
}

// timeline puts everything that happened in the order of the records.
func timeline(f *Figures) []TimelineRow {
	var list []TimelineRow
	add := func(seq uint64, at time.Time, t int64, what, text string) {
		list = append(list, TimelineRow{f.Run, seq, at.UTC(), t, what, text})
	}
	add(1, f.Began, 0, "begun", fmt.Sprintf("%s for service %s", f.Runbook, f.Service))
	for i, x := range f.Processes {
		add(x.Seq, x.At, x.T, "command", x.words(i > 0))
	}
	for _, x := range f.Flips {
		add(x.Seq, x.At, x.T, "flip", flipText(x))
	}
	for _, x := range f.Decisions {
		add(x.Seq, x.At, x.T, "decision", strings.TrimPrefix(fmt.Sprintf("%s: %s is %s: %s", x.Step, x.Gate, x.Verdict,
			x.Decision), ": "))
	}
	for _, x := range f.Holds {
		add(x.Seq, x.At, x.T, "hold", x.Sentence+heldFor(x))
		if l := x.LiftedIn; l != nil {
			add(l.Seq, l.At, l.T, "lifted", l.Text)
		}
	}
	for what, moments := range map[string][]Moment{"stage": f.Stages, "drift": f.Drifts, "guard": f.Guards,
		"person": f.Said, "by hand": f.Readings, "skip": f.Skips, "call": f.Calls} {
		for _, x := range moments {
			add(x.Seq, x.At, x.T, what, strings.TrimPrefix(x.Who+": "+x.Text, ": "))
		}
	}
	if r := f.RecoveredIn; r != nil {
		add(r.Seq, r.At, r.T, "recovered", r.Text)
	}
	slices.SortStableFunc(list, func(a, b TimelineRow) int { return cmp.Compare(a.Seq, b.Seq) })
	if f.State != "open" {
		add(f.Records, f.LastAt, f.TotalMS, "end", f.State+": "+f.Reason)
	}
	return list
}

func flipText(x FlipFigure) string {
	text := fmt.Sprintf("%s from %s to %s, %s, %s", x.Control, x.Before, x.After, x.Direction, x.Result)
	if x.Approved != "" {
		text += ", approved by " + x.Approved
	}
	if x.Blind {
		text += ", BLIND"
	}
	return x.Step + ": " + text
}

func heldFor(x Hold) string {
	if !x.Lifted {
		return ", never lifted"
	}
	return ", for " + ms(x.LastedMS)
}

// ms is a duration for people.
func ms(n int64) string {
	return (time.Duration(n) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// controlRows gives each control that was flipped in the order of its first flip.
func controlRows(f *Figures) []controlRow {
	var rows []controlRow
	index := map[string]int{}
	for _, x := range f.Flips {
		if x.Result == "nothing" {
			continue
		}
		i, known := index[x.Control]
		if !known {
			i = len(rows)
			index[x.Control] = i
			rows = append(rows, controlRow{Control: x.Control, Steady: f.steady(x.Control), Before: x.Before, During: x.After,
				Lifted: true})
		}
		rows[i].After, rows[i].Flips = x.After, rows[i].Flips+1
	}
	for _, left := range f.NeverLifted {
		if i, known := index[left.Control]; known {
			rows[i].Lifted = false
		}
	}
	return rows
}

func (f *Figures) steady(control string) string {
	for _, s := range f.Steady {
		if s.Control == control {
			return s.Value
		}
	}
	return ""
}

// words tell who walks from here on.
func (p Process) words(goesOn bool) string {
	verb := "walks"
	if goesOn {
		verb = "goes on"
	}
	text := fmt.Sprintf("%s on %s %s, process %d, rewarm %s", p.User, p.Host, verb, p.PID, p.Version)
	if p.Over != "" {
		text += ", having taken the command over from run " + p.Over
	}
	return text
}

// timelineLines are the rows as JSON lines.
func timelineLines(rows []TimelineRow) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, row := range rows {
		_ = e.Encode(row) // a buffer takes everything, and nothing in a row cannot be encoded
	}
	return b.Bytes()
}

// timelineTable are the rows as CSV.
func timelineTable(rows []TimelineRow) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"run", "seq", "at", "t_ms", "what", "text"})
	for _, row := range rows {
		_ = w.Write([]string{row.Run, fmt.Sprint(row.Seq), row.At.Format(time.RFC3339Nano), fmt.Sprint(row.T), row.What,
			notFormula(visible(row.Text))})
	}
	w.Flush()
	return b.Bytes()
}

// notFormula keeps a spreadsheet from running what a text begins with.
func notFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

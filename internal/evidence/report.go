package evidence

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// report is the figures as people read them.
type report struct {
	*Figures
	Timeline []TimelineRow
	Plots    []plot
	Missing  []string // what could not be captured, and why
	Controls []controlRow
}

// TimelineRow is a row of the timeline.
type TimelineRow struct {
	Seq  uint64    `json:"seq"`
	At   time.Time `json:"at"`
	T    int64     `json:"t_ms"`
	What string    `json:"what"` // stage, flip, hold, decision, person, by hand, call, drift, guard, skip, recovered, end
	Text string    `json:"text"`
}

// controlRow is one control before, during and after the run.
type controlRow struct {
	Control, Before, During, After string
	Flips                          int
	Lifted                         bool
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
	return r, nil
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
		list = append(list, TimelineRow{seq, at.UTC(), t, what, text})
	}
	add(1, f.Began, 0, "begun", fmt.Sprintf("%s for service %s", f.Runbook, f.Service))
	for _, x := range f.Flips {
		add(x.Seq, x.At, x.T, "flip", flipText(x))
	}
	for _, x := range f.Decisions {
		add(x.Seq, x.At, x.T, "decision", fmt.Sprintf("%s: %s is %s: %s", x.Step, x.Gate, x.Verdict, x.Decision))
	}
	for _, x := range f.Holds {
		add(x.Seq, x.At, 0, "hold", x.Sentence+heldFor(x))
	}
	for what, moments := range map[string][]Moment{"drift": f.Drifts, "guard": f.Guards, "person": f.Said, "by hand": f.Readings, "skip": f.Skips, "call": f.Calls} {
		for _, x := range moments {
			add(x.Seq, x.At, x.T, what, strings.TrimPrefix(x.Who+": "+x.Text, ": "))
		}
	}
	slices.SortStableFunc(list, func(a, b TimelineRow) int { return int(a.Seq) - int(b.Seq) })
	if !f.RecoveredAt.IsZero() {
		add(f.Records, f.RecoveredAt, f.TookMS, "recovered", "recovered after "+ms(f.TookMS))
	}
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
			rows = append(rows, controlRow{Control: x.Control, Before: x.Before, During: x.After, Lifted: true})
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

func (r *report) timelineJSON() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, row := range r.Timeline {
		_ = e.Encode(row) // a buffer takes everything, and nothing in a row cannot be encoded
	}
	return b.Bytes()
}

func (r *report) timelineCSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"seq", "at", "t_ms", "what", "text"})
	for _, row := range r.Timeline {
		_ = w.Write([]string{fmt.Sprint(row.Seq), row.At.Format(time.RFC3339Nano), fmt.Sprint(row.T), row.What, notFormula(visible(row.Text))})
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

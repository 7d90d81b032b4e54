package gameday

import (
	"fmt"
	"slices"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Result is what a day has brought. Times are seconds since the start of the day.
type Result struct {
	Day      string    `json:"day"`
	About    string    `json:"about"`
	Scenario string    `json:"scenario"`
	Target   string    `json:"target,omitempty"` // real servers
	Runbook  string    `json:"runbook"`
	Seed     uint64    `json:"seed"`
	Mistakes []string  `json:"mistakes"`
	Approve  string    `json:"approve"`
	Modelled bool      `json:"modelled"`       // every figure is a model's
	Past     bool      `json:"past,omitempty"` // the metrics are those of an incident that was
	Passed   bool      `json:"passed"`
	Lasted   float64   `json:"lasted_seconds"`
	Ending   string    `json:"ending"` // of the run: closed, aborted, open, or none
	Verdicts []Verdict `json:"verdicts"`
	Scores   []Score   `json:"scores"`
	Events   []Event   `json:"events"`
	Deeds    []Deed    `json:"deeds"` // of whoever walked
	Waits    []Wait    `json:"waits"` // for words, by step
}

// Verdict is what became of one expectation.
type Verdict struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Held     bool     `json:"held"`
	Breaks   bool     `json:"breaks"`     // the runbook, or a mistake that was made, is to break it
	At       float64  `json:"at_seconds"` // the first moment at which it was broken, or came true
	Why      string   `json:"why"`
	Readings []string `json:"readings,omitempty"` // at that moment
	Line     int      `json:"line"`               // of the file
}

// Score is one figure of the scorecard; no value has not come.
type Score struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Value *float64 `json:"value"`
}

func (w *world) result() *Result {
	d := w.day
	r := &Result{
		Day: d.Name, About: d.About, Scenario: d.Story.Name, Runbook: d.Runbook, Seed: w.options.Seed,
		Approve: w.options.Approve, Mistakes: append([]string{}, w.options.Mistakes...),
		Modelled: w.score.modelled, Past: d.Past != nil, Target: d.Target, Passed: true, Lasted: w.elapsed().Seconds(),
		Ending: w.ending(), Events: append([]Event{}, w.events...), Deeds: append([]Deed{}, w.score.deeds...),
		Waits: append([]Wait{}, w.score.waits...),
	}
	for _, e := range w.judge.watches {
		v := e.verdict()
		if missed := w.missed(e); missed != "" {
			v.Why = missed
		}
		v.Breaks = w.breaks(e.Name)
		r.Passed = r.Passed && v.Held != v.Breaks
		r.Verdicts = append(r.Verdicts, v)
	}
	for _, s := range runbook.DayScores {
		score := Score{Name: s.Name, Unit: s.Unit}
		if v, known := w.score.figure(s.Name); known {
			score.Value = &v
		}
		r.Scores = append(r.Scores, score)
	}
	return r
}

// breaks reports whether the runbook, or a mistake that is made, must break an expectation.
func (w *world) breaks(name string) bool {
	return slices.Contains(w.day.Breaks, name) || slices.ContainsFunc(w.options.Mistakes, func(made string) bool {
		return slices.Contains(w.day.Mistake(made).Breaks, name)
	})
}

// ending is how the run stands at the end of the day.
func (w *world) ending() string {
	run := w.run()
	switch {
	case run == nil || run.machine == nil || run.machine.State() == nil:
		return "none"
	case run.machine.State().Ending != "":
		return string(run.machine.State().Ending)
	}
	return "open"
}

func (e *watch) verdict() Verdict {
	return Verdict{
		Name: e.Name, Kind: string(e.Kind), Held: e.held, At: e.at.Seconds(), Why: e.why(),
		Readings: e.readings, Line: e.Pos.Line,
	}
}

// why says in a sentence how it went.
func (e *watch) why() string {
	at := e.at.Round(time.Second)
	unseen := ""
	if e.unknown > 0 {
		unseen = fmt.Sprintf(", unknown for %d s", e.unknown)
	}
	switch {
	case e.judged == 0:
		return "never judged" + unseen
	case e.held && e.Kind == runbook.ExpectNever:
		return fmt.Sprintf("not true in %d s%s", e.judged, unseen)
	case e.held && e.Kind == runbook.ExpectAlways:
		return fmt.Sprintf("true for %d s%s", e.judged, unseen)
	case e.held:
		return fmt.Sprintf("came true after %s", at)
	case e.Kind == runbook.ExpectEventually:
		return fmt.Sprintf("had not come true after %s%s", at, unseen)
	case e.Kind == runbook.ExpectAlways:
		return fmt.Sprintf("broken after %s", at)
	case e.Kind == runbook.ExpectNever:
		return fmt.Sprintf("came true after %s", at)
	}
	return fmt.Sprintf("was not true after %s", at)
}

// Score gives a figure of the scorecard; false when it has not come.
func (r *Result) Score(name string) (float64, bool) {
	for _, s := range r.Scores {
		if s.Name == name && s.Value != nil {
			return *s.Value, true
		}
	}
	return 0, false
}

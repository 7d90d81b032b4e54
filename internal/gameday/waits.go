package gameday

import (
	"cmp"
	"slices"
)

// Wait is how long the questions of a step waited for their answers, all together.
type Wait struct {
	Step    string  `json:"step"`
	Seconds float64 `json:"seconds"`
}

// LongWait is a step that waited longer for the person's word than for the script's.
type LongWait struct {
	Step    string  `json:"step"`
	Seconds float64 `json:"seconds"`
	Script  float64 `json:"script_seconds"`
	Why     string  `json:"why,omitempty"` // of the step, as the runbook says it
}

// mostLongWaits is how many of them a comparison names.
const mostLongWaits = 3

// addWait books a time to the questions of a step.
func addWait(waits []Wait, step string, seconds float64) []Wait {
	if i := slices.IndexFunc(waits, func(w Wait) bool { return w.Step == step }); i >= 0 {
		waits[i].Seconds += seconds
		return waits
	}
	return append(waits, Wait{step, seconds})
}

// longWaits are the longest waits for the person's word among the steps that waited less for the script's, longest
// first.
func (d *Day) longWaits(person, script *Result) []LongWait {
	list := []LongWait{}
	for _, w := range person.Waits {
		long := LongWait{Step: w.Step, Seconds: w.Seconds}
		for _, s := range script.Waits {
			if s.Step == w.Step {
				long.Script = s.Seconds
			}
		}
		if step := d.Book.Step(w.Step); step != nil {
			long.Why = step.Why
		}
		if w.Seconds > long.Script {
			list = append(list, long)
		}
	}
	slices.SortStableFunc(list, func(a, b LongWait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return list[:min(len(list), mostLongWaits)]
}

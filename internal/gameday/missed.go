package gameday

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/probes"
)

// notCome says of each moment of the scorecard what has not happened when it has not come.
var notCome = map[string]string{
	"declared":  "no modes were declared",
	"protected": "the last protecting stage was not done",
	"recovered": "the service did not recover",
	"closed":    "the run was not closed",
}

// missed says what became of the first moment of the scorecard that a broken expectation waited for in vain: it came
// later, or not at all. "" for an expectation that held, or that waited for nothing of the kind.
func (w *world) missed(e *watch) string {
	if e.held {
		return ""
	}
	for _, ask := range probes.Asks(w.day.Terms, e.Holds, "", "") {
		m := w.judge.measure(ask.Probe)
		if m == nil || notCome[m.Score] == "" {
			continue
		}
		seconds, known := w.score.figure(m.Score)
		came := time.Duration(seconds * float64(time.Second))
		switch {
		case !known:
			return fmt.Sprintf("%s before the day ended after %s", notCome[m.Score], tenths(w.elapsed()))
		case came > e.at:
			return fmt.Sprintf("%s came at %s, later than %s", m.Score, tenths(came), tenths(e.at))
		}
	}
	return ""
}

// tenths rounds a time of the day as the scorecard shows it.
func tenths(d time.Duration) time.Duration { return d.Round(second / 10) }

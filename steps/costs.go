package steps

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Costs says what waiting costs as seen at a time: by when the copies have run out at the latest that a longer stale
// window of this run keeps alive. They age from the moment at which their entries were lost, which nobody knows: one that
// was lost at the flip lives for the whole window, which is a bound for all, and no time is "left" of them. Once that is
// over it says so as long as the exit still measures stale copies. It is "" when nothing runs out. Of several windows the
// longest counts.
func (s *State) Costs(now time.Time) string {
	control, end := s.runsOut()
	at := end.UTC().Format("15:04:05Z")
	switch {
	case control == "":
		return ""
	case end.After(now):
		return fmt.Sprintf("copies on %s run out by %s at the latest", control, at)
	case s.stillStale():
		return fmt.Sprintf("copies on %s ran out by %s at the latest", control, at)
	}
	return ""
}

// stillStale reports whether the exit has a bound on stale copies that is not known to hold. What it measures now counts,
// whatever was flipped since.
func (s *State) stillStale() bool {
	gate := s.Doc.ExitOnStale()
	if len(gate) == 0 {
		return false
	}
	x := s.followExit()
	if x.latest == nil {
		return true
	}
	w := s.exitWatch()
	w.Gate, w.Marked = gate, false
	r := s.rule(w, x.latest, nil)
	return r.Verdict != probes.Pass
}

// runsOut gives the control that keeps copies longest beyond its steady value, by this run, and when that ends after its
// flip; "" when there is none. It compares the windows by their length. Once the exit has held nobody lives on such
// copies any more, until the service is out of its bounds again.
func (s *State) runsOut() (control string, end time.Time) {
	if _, out := s.OutAgain(); s.Recovered != nil && !out {
		return "", time.Time{}
	}
	var longest time.Duration
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		live, ok := s.live(c)
		if c.Kind != runbook.Duration || c.Protects != "higher" || !s.Control(c.Name).Ours ||
			!ok || live.Unlimited || c.Direction(c.Steady, live) != runbook.Protecting {
			continue
		}
		if window := time.Duration(live.Number * float64(time.Second)); window > longest {
			longest, control, end = window, c.Name, s.Control(c.Name).Since.Add(window)
		}
	}
	return control, end
}

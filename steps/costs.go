package steps

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Costs says what waiting costs as seen at a time: when the copies run out that a longer
// stale window of this run keeps alive, and how soon that is. It is "" when nothing runs
// out. Of several windows the longest counts.
func (s *State) Costs(now time.Time) string {
	control, end := s.runsOut()
	switch left := end.Sub(now).Round(time.Second); {
	case control == "":
		return ""
	case left > 0:
		return fmt.Sprintf("%s, in %s", s.costs(now), left)
	}
	return s.costs(now)
}

// costs is what a record says of it: without what is only true at the moment.
func (s *State) costs(now time.Time) string {
	control, end := s.runsOut()
	at := end.UTC().Format("15:04:05")
	switch {
	case control == "":
		return ""
	case end.After(now):
		return fmt.Sprintf("copies that live on %s run out from %s UTC on", control, at)
	}
	return fmt.Sprintf("copies that live on %s have been running out since %s UTC", control, at)
}

// RunsOut gives the control that keeps copies longest beyond its steady value, by this run, and when
// that ends; "" when there is none.
func (s *State) RunsOut() (control string, end time.Time) { return s.runsOut() }

// runsOut compares the windows by their length. Once the exit has held nobody lives on such
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
		if window := time.Duration((live.Number - c.Steady.Number) * float64(time.Second)); window > longest {
			longest, control, end = window, c.Name, s.Control(c.Name).Since.Add(window)
		}
	}
	return control, end
}

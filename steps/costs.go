package steps

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Costs says what waiting costs as seen at a time: when the copies run out that a longer
// stale window of this run keeps alive, and how soon that is. It is "" when nothing runs
// out. Of several windows the first of the runbook counts.
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

// runsOut gives the first control that keeps copies longer than its steady value, by this
// run, and when that ends; "" when there is none. Once the exit has held nobody lives on
// such copies any more.
func (s *State) runsOut() (control string, end time.Time) {
	if s.Recovered != nil {
		return "", time.Time{}
	}
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		live, ok := s.live(c)
		if c.Kind != runbook.Duration || c.Protects != "higher" || !s.Control(c.Name).Ours ||
			!ok || live.Unlimited || c.Direction(c.Steady, live) != runbook.Protecting {
			continue
		}
		window := time.Duration((live.Number - c.Steady.Number) * float64(time.Second))
		return c.Name, s.Control(c.Name).Since.Add(window)
	}
	return "", time.Time{}
}

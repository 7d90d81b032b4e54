package steps

import (
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

// lapses takes in which values readers have left, as Redis was read.
func (s *State) lapses(names []string) {
	s.renewed = s.LastAt
	for name, c := range s.controls {
		c.Lapsed = slices.Contains(names, name)
	}
}

// leftByReaders reports whether a value has lapsed that is another than what readers obey then: nobody renews that one.
func leftByReaders(c *runbook.Control, live actions.Live) bool {
	value, err := decode(c, live.Raw)
	return live.Lapsed && (err != nil || !value.Equal(*c.DeadMan))
}

// Lapsed reports whether readers obey the dead man's value of a control at a time, and not what this run has raised it to:
// it was seen in Redis, or nobody can have renewed it since, because the process of the run has left no record for so
// long or has not reached Redis.
func (s *State) Lapsed(c *runbook.Control, now time.Time) bool {
	state := s.Control(c.Name)
	switch {
	case c.DeadMan == nil || !s.raisedByUs(c) || !equalRaw(state.Raw, state.Expected):
		return false
	case state.Lapsed:
		return true
	}
	return state.By == s.Begun.Run && now.Sub(s.renewed) > actions.LeaseTime+s.looksEvery()
}

// looksEvery is how often a process that walks reads Redis.
func (s *State) looksEvery() time.Duration {
	every := lookAgain
	for i, w := range s.watches() {
		if i == 0 || w.Every < every {
			every = w.Every
		}
	}
	return every
}

// OverridesAt gives Overrides with what readers obey at a time where that is not the value any more.
func (s *State) OverridesAt(now time.Time) []Override {
	list := s.Overrides()
	for i := range list {
		if c := s.Doc.Control(list[i].Control); s.Lapsed(c, now) {
			list[i].Obeyed = c.Format(*c.DeadMan)
		}
	}
	return list
}

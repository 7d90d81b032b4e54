package steps

import (
	"github.com/rewarm/rewarm/runbook"
)

// driftOf judges a value that somebody else wrote: what tightens is adopted, what
// loosens or cannot be read holds releases, and a shared control may move.
func (s *State) driftOf(c *runbook.Control, state *ControlState) *Drifted {
	body := &Drifted{Control: c.Name, Expected: state.Expected, Found: state.Raw, Direction: runbook.Releasing, Decision: DriftHolds}
	was, err := decode(c, state.Expected)
	is, err2 := decode(c, state.Raw)
	if err == nil && err2 == nil {
		body.Direction = c.Direction(was, is)
	}
	switch {
	case c.Shared:
		body.Decision = DriftShared
	case body.Direction != runbook.Releasing:
		body.Decision = DriftAdopted
	}
	return body
}

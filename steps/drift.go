package steps

import (
	"slices"

	"github.com/rewarm/rewarm/runbook"
)

// driftOf judges a value that somebody else wrote: what tightens is adopted, what
// loosens or cannot be read holds releases, and a shared control may move. A brake that
// Redis lost with its data is put back.
func (s *State) driftOf(c *runbook.Control, state *ControlState) *Drifted {
	body := &Drifted{Control: c.Name, Expected: state.Expected, Found: state.Raw, Direction: runbook.Releasing, Decision: DriftHolds}
	was, err := decode(c, state.Expected)
	is, err2 := decode(c, state.Raw)
	if err == nil && err2 == nil {
		body.Direction = c.Direction(was, is)
	}
	switch {
	case equalRaw(state.Raw, state.Expected):
		body.Direction, body.Decision = runbook.Protecting, DriftEnded
	case c.Shared:
		body.Decision = DriftShared
	case body.Direction != runbook.Releasing:
		body.Decision = DriftAdopted
	case s.hasLost(c.Name):
		body.Decision = DriftLost
	}
	return body
}

// hasLost reports whether Redis had lost a control of this run at the latest poll. A hand
// that deletes a field leaves its meta and the other fields.
func (s *State) hasLost(control string) bool { return slices.Contains(s.lost, control) }

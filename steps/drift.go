package steps

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

// driftOf judges a value that somebody else wrote: what tightens is adopted, what
// loosens or cannot be read holds releases, and a shared control may move. A brake that
// Redis lost with its data is put back.
func (s *State) driftOf(c *runbook.Control, state *ControlState) *Drifted {
	body := &Drifted{Control: c.Name, Expected: state.Expected, Found: state.Raw, Direction: runbook.Releasing,
		Decision: DriftHolds}
	was, err := decode(c, state.Expected)
	is, err2 := decode(c, state.Raw)
	if err == nil && err2 == nil {
		body.Direction = c.Direction(was, is)
	}
	switch {
	case equalRaw(state.Raw, state.Expected):
		body.Direction, body.Decision = runbook.Protecting, DriftEnded
	case s.returned[c.Name] > 0:
		body.Decision = DriftReturned
	case c.Shared:
		body.Decision = DriftShared
	case s.hasLost(c.Name) && body.Direction == runbook.Releasing:
		body.Decision = DriftLost
	case s.hasLost(c.Name):
		body.Decision = DriftReverted
	case body.Direction != runbook.Releasing:
		body.Decision = DriftAdopted
	}
	return body
}

// hasLost reports whether Redis had lost the last flip of a control of this run at the
// latest poll. A hand that deletes a field leaves its meta and the other fields.
func (s *State) hasLost(control string) bool { return slices.Contains(s.lost, control) }

// expiry remarks, once, that somebody has given the hash of the controls a time to live:
// when that ends, every brake is gone at once.
func (n *next) expiry() Move {
	if n.s.expires == 0 || n.s.warned {
		return nil
	}
	key := actions.ControlsKey(n.doc.Service)
	return Write{Kind: KindNoted, Durable: true, Body: &Noted{About: AboutExpiry, Text: fmt.Sprintf(
		"redis key %s was given a time to live and ends in %s, and every brake with it: PERSIST %s removes that, as does the next flip",
		key, Lasts(n.s.expires), key)}}
}

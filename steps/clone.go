package steps

import (
	"maps"
	"slices"
)

// Clone gives a state that goes on by itself: what one of the two follows from now on is not seen in the other. They
// share what never changes again: the document, the bodies of records and polls that are complete.
func (s *State) Clone() *State {
	c, flips := *s, copies[FlipState]{}
	c.steps = cloned(s.steps, func(st *StepState) *StepState { return st.clone(flips) })
	c.controls = cloned(s.controls, shallow[ControlState])
	c.confirms = cloned(s.confirms, shallow[ConfirmState])
	c.tracks = cloned(s.tracks, (*track).clone)
	c.flips, c.early = flips.ofAll(s.flips), flips.ofAll(s.early)
	c.approvals, c.calls = copies[ApprovalState]{}.ofAll(s.approvals), copies[CallState]{}.ofAll(s.calls)
	c.open, c.holds, c.polls = slices.Clone(s.open), slices.Clone(s.holds), slices.Clone(s.polls)
	c.toIdle, c.walkers = slices.Clone(s.toIdle), slices.Clone(s.walkers)
	c.plans, c.guards, c.readings = maps.Clone(s.plans), maps.Clone(s.guards), maps.Clone(s.readings)
	c.drifts, c.putBack, c.retries = maps.Clone(s.drifts), maps.Clone(s.putBack), maps.Clone(s.retries)
	c.received = maps.Clone(s.received)
	if s.partial != nil {
		c.partial = shallow(s.partial)
		c.partial.answers = slices.Clone(s.partial.answers)
	}
	return &c
}

func (st *StepState) clone(flips copies[FlipState]) *StepState {
	c := shallow(st)
	c.Awaiting, c.Undoing, c.Acted = flips.of(st.Awaiting), flips.of(st.Undoing), flips.of(st.Acted)
	if st.ByHand != nil {
		c.ByHand = shallow(st.ByHand)
	}
	return c
}

func (t *track) clone() *track {
	c := shallow(t)
	c.asks = slices.Clone(t.asks)
	return c
}

func shallow[T any](from *T) *T { c := *from; return &c }

func cloned[K comparable, T any](from map[K]*T, clone func(*T) *T) map[K]*T {
	c := make(map[K]*T, len(from))
	for key, value := range from {
		c[key] = clone(value)
	}
	return c
}

// copies has one copy of each of what several places point to.
type copies[T any] map[*T]*T

func (c copies[T]) of(from *T) *T {
	if from == nil {
		return nil
	}
	if c[from] == nil {
		c[from] = shallow(from)
	}
	return c[from]
}

func (c copies[T]) ofAll(from []*T) []*T {
	all := make([]*T, len(from))
	for i := range from {
		all[i] = c.of(from[i])
	}
	return all
}

package steps

import (
	"slices"

	"github.com/rewarm/rewarm/runbook"
)

// restore lifts what was really flipped, one at a time, and takes the calls back. What
// brings a control back by tightening waits for nothing, and is judged together. What releases does not break
// into an exit that holds or may be about to: policy is restored after recovery, or when
// the exit does not hold for another reason.
func (n *next) restore(step *runbook.Step, st *StepState) Move {
	lift, more := n.s.nextLift(step)
	if more && n.tightens(lift) && (st.Awaiting == nil || st.Awaiting.Plan.Direction == runbook.Protecting) {
		return n.lift(step, st, lift)
	}
	switch {
	case st.Awaiting != nil:
		return n.block(n.waitingFor(n.s.expectWatch(step, st)))
	case n.s.followExit().counting():
		return n.block("the exit's bounds hold; lifting goes on when its intervals have passed")
	case n.s.Recovered == nil && n.s.followExit().early():
		return n.block("the exit sees the last flip only from a moment after it on")
	case more:
		return n.lift(step, st, lift)
	}
	return n.undoCalls(step, st)
}

func (n *next) lift(step *runbook.Step, st *StepState, lift Target) Move {
	to, err := decode(n.doc.Control(lift.Control), &lift.To)
	if err != nil {
		return n.block(err.Error())
	}
	return n.flip(step, st, lift, &to)
}

// tightens reports whether a lift takes its control to a value that protects more.
func (n *next) tightens(lift Target) bool {
	c := n.doc.Control(lift.Control)
	live, ok := n.s.live(c)
	to, err := decode(c, &lift.To)
	return ok && err == nil && c.Direction(live, to) == runbook.Protecting
}

// undoCalls takes the calls back, the latest first. Taking back what held something off
// is a release; taking back what added load waits for nothing.
func (n *next) undoCalls(step *runbook.Step, st *StepState) Move {
	for _, called := range n.s.toUndo() {
		c := n.s.callOf(called.Name, true, false)
		switch {
		case c == nil:
			if called.Stage.Protects() {
				move, ready := n.readyToCall(step, st, undoneCalls.from, undoneCalls.to, callChange(called, true))
				if !ready {
					return move
				}
			}
			return StartCall{Step: called.Name, Undo: true, Call: called.Call}
		default: // it has not ended, or has failed and is held for that
			return n.block(n.blocker())
		}
	}
	return n.takeBack(step, st)
}

// nextLift gives the next flip towards the steady values: controls in the order that
// the runbook gives, the rest in reverse order of their first flip.
func (s *State) nextLift(step *runbook.Step) (Target, bool) {
	for _, name := range s.liftOrder(step) {
		c := s.Doc.Control(name)
		live, ok := s.live(c)
		if !ok {
			continue
		}
		if to, more := s.towardsSteady(c, live); more {
			return targetFor(step.Name, PurposeRestore, c, live, &to), true
		}
	}
	return Target{}, false
}

// Unlifted gives what a restore still lifts, the next first, and the calls that it still takes back.
func (s *State) Unlifted(step *runbook.Step) []Change {
	if step.Restore == nil {
		return nil
	}
	return s.changesOf(step)
}

func (s *State) liftOrder(step *runbook.Step) []string {
	var rest []string
	for i := range s.Doc.Controls {
		name := s.Doc.Controls[i].Name
		if c := s.controls[name]; c != nil && c.Ours && !slices.Contains(step.Restore.Order, name) {
			rest = append(rest, name)
		}
	}
	// What was taken over at once has no order of its own: that of the runbook, in every process alike.
	slices.SortStableFunc(rest, func(a, b string) int { return s.controls[b].Order - s.controls[a].Order })
	var order []string
	for _, name := range append(slices.Clone(step.Restore.Order), rest...) {
		if c := s.controls[name]; c != nil && c.Ours && s.Doc.Control(name) != nil {
			order = append(order, name)
		}
	}
	return order
}

// towardsSteady gives the next value on a control's way back, if it is not there yet.
func (s *State) towardsSteady(c *runbook.Control, live runbook.Value) (runbook.Value, bool) {
	goal, ok := s.goalOf(c, live)
	if !ok || live.Equal(goal) {
		return runbook.Value{}, false
	}
	if middle, ok := s.middleLift(c, live); ok {
		return middle, true
	}
	for _, rung := range c.Back {
		if c.Direction(live, rung) == runbook.Releasing && c.Direction(rung, goal) == runbook.Releasing {
			return rung, true
		}
	}
	return goal, true
}

// middleLift is the next try after a lift that failed: the middle between where the
// control is and where it failed.
func (s *State) middleLift(c *runbook.Control, live runbook.Value) (runbook.Value, bool) {
	failed := s.Control(c.Name).Failed
	if failed == nil {
		return runbook.Value{}, false
	}
	value, err := decode(c, failed)
	if err != nil {
		return runbook.Value{}, false
	}
	return between(c, live, value)
}

// goalOf is where a control is taken back to: first from a harder brake, of its step or of
// a guard, to the step's own value, then, if the control is temporary, to its steady value.
func (s *State) goalOf(c *runbook.Control, live runbook.Value) (runbook.Value, bool) {
	for step := range s.Doc.Steps() {
		if step.Flip == nil || step.Flip.Control != c.Name || !s.Step(step.Name).Harder && !s.brakedBeyond(step) {
			continue
		}
		if c.Direction(live, step.Flip.To) == runbook.Releasing {
			return step.Flip.To, true
		}
	}
	return c.Steady, c.Temporary
}

// brakedBeyond reports whether a guard has put a harder brake on the control of a
// protecting step than the step itself.
func (s *State) brakedBeyond(step *runbook.Step) bool {
	own := s.flipOf(step)
	return step.Stage.Protects() && own != nil && slices.ContainsFunc(s.flips, func(f *FlipState) bool {
		return f.Target.Purpose == PurposeGuard && f.Plan.Control == step.Flip.Control && !f.Nothing &&
			f.Version > own.Version
	})
}

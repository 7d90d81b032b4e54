package steps

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

func (s *State) settled(b *Settled) error {
	if b.Result == ResultUnknown {
		s.backOff(b)
		s.away = s.away.again(s.LastAt)
		return nil // the intent stays open
	}
	if b.Result != ResultUnreached {
		s.away = retry{}
	}
	s.open = slices.DeleteFunc(s.open, func(i *Intended) bool { return i.Digest == b.Digest })
	delete(s.plans, b.Target.key())
	switch b.Result {
	case ResultRefused:
		if b.Seen {
			s.noticed(b.Plan.Control, b.Found)
			s.Control(b.Plan.Control).Unread = true
		}
		if b.Cause == string(actions.NotApplied) {
			s.anew(b.Target.key())
			return nil
		}
		s.backOff(b)
		if refusesAll(b) {
			s.refusing, s.refusal = s.refusing.again(s.LastAt), b
		}
		return nil
	case ResultUnreached:
		s.backOff(b)
		s.away = s.away.again(s.LastAt)
		return nil
	case ResultApplied, ResultNothing:
	default:
		return fmt.Errorf("unknown result %q of a flip", b.Result)
	}
	delete(s.retries, b.Target.key())
	if b.Result == ResultApplied {
		s.refusing, s.refusal = retry{}, nil
	}
	s.flipped(b)
	return nil
}

// anew lets a flip be made at once of which it is certain now that it was not. How often
// it was tried stays: a server that never says what became of it must not be flooded.
func (s *State) anew(key Target) {
	r := s.retries[key]
	r.at = s.LastAt
	s.retries[key] = r
}

// backOff spaces the tries of one flip.
func (s *State) backOff(b *Settled) {
	r := s.retries[b.Target.key()].again(s.LastAt)
	r.unreachable = away(b)
	s.retries[b.Target.key()] = r
}

// again is when to try the next time: almost at once, then after one second, then every
// two. A brake must not miss the moment at which Redis comes back.
func (r retry) again(now time.Time) retry {
	waits := []time.Duration{200 * time.Millisecond, time.Second, 2 * time.Second}
	return retry{at: now.Add(waits[min(r.tries, len(waits)-1)]), tries: r.tries + 1}
}

// away reports whether a flip failed because Redis could not be reached or took no
// writes, rather than because the value had moved.
func away(b *Settled) bool {
	return b.Cause != string(actions.Moved) && b.Cause != string(actions.NotApplied)
}

// refusesAll reports whether a refusal is Redis' own, so that it meets every flip: no
// memory, no disk, no rights. One flip then finds out for all.
func refusesAll(b *Settled) bool {
	switch b.Cause {
	case string(actions.CommandLost), causeTooLong, causeLog:
		return false
	}
	return away(b)
}

func (s *State) flipped(b *Settled) {
	flip := &FlipState{Target: b.Target, Plan: b.Plan, Digest: b.Digest, Version: b.Version,
		At: s.LastAt, polls: s.polled(), ServerAt: b.ServerAt, Settle: s.settleOf(b.Target),
		Nothing: b.Result == ResultNothing}
	if flip.Nothing {
		s.mark(flip, b.ServerAt)
	}
	if !flip.Nothing {
		s.own(flip)
		s.exit.passesNow = false // what passed was before it
	}
	if b.Seen && !equalRaw(b.Found, flip.Plan.After) { // somebody has changed it since, or a failover has lost it
		s.noticed(flip.Plan.Control, b.Found)
		s.Control(flip.Plan.Control).Unread = true
	}
	s.flips = append(s.flips, flip)
	if flip.Target.Purpose == PurposeGuard {
		s.supersede(flip.Plan.Control, true)
		s.braked(flip.Plan.Control)
	}
	s.afterFlip(flip)
}

// supersede ends the waiting for a release whose control was tightened by a guard's brake
// or by somebody else: what it was to bring about can no longer be seen. After a guard
// the next try goes half way.
func (s *State) supersede(control string, failed bool) {
	for step := range s.Doc.Steps() {
		st := s.Step(step.Name)
		if st.Awaiting == nil || st.Awaiting.Plan.Control != control || st.Awaiting.Target.Purpose == PurposeCall {
			continue
		}
		if failed {
			st.UndoneFor = "the brake of a guard on " + control
			st.Undoing = st.Awaiting
			s.failed(st, st.Awaiting.Target)
			st.Undoing = nil
			s.voidStep(step.Name)
		}
		st.Awaiting.Undone = true
		st.Awaiting, st.TargetAt = nil, s.LastAt
	}
}

// braked takes up again the steps that had released what a guard has braked since: they
// are gated and approved anew, and the next try goes half way. From restore on, restore
// does that.
func (s *State) braked(control string) {
	for step := range s.Doc.Steps() {
		st := s.Step(step.Name)
		flip := s.flipOf(step)
		if step.Stage.Protects() || step.Flip == nil || step.Flip.Control != control || st.Phase != StepDone || st.Skipped ||
			s.Stage >= runbook.Restore || flip == nil || flip.Nothing {
			continue
		}
		flip.Undone = true
		st.Phase, st.Outcome, st.Rung, st.TargetAt = StepEntered, "", 0, s.LastAt
		st.Failed, st.UndoneFor = flip.Plan.After, "the brake of a guard on "+control
		st.Failures++
		s.voidStep(step.Name)
	}
}

// own notes that the run has flipped a control and what it left there.
func (s *State) own(flip *FlipState) {
	c := s.Control(flip.Plan.Control)
	if !c.Ours {
		c.Ours, c.Original, c.Order = true, flip.Plan.Before, len(s.flips)
	}
	c.Since, c.By = s.LastAt, s.Begun.Run
	if control := s.Doc.Control(flip.Plan.Control); control != nil && s.review(control) > 0 {
		c.ReviewAt = s.LastAt.Add(s.review(control))
	}
	s.see(flip.Plan.Control, flip.Plan.After)
	c.Expected, c.Version, c.Reverted, c.Lapsed = flip.Plan.After, flip.Version, false, false
	s.renewed = s.LastAt
	s.outdate(flip)
}

// outdate drops the plans that a control had before a flip. Should the value that one of them starts from
// come back, it takes another plan: the old one may have been applied, by a process whose last records are lost.
func (s *State) outdate(flip *FlipState) {
	maps.DeleteFunc(s.plans, func(_ Target, p *Planned) bool {
		return p.Plan.Control == flip.Plan.Control && p.Digest != flip.Digest
	})
}

// takeOver makes what another run has left this run's own, so that it is named and restored.
// What adds load is idled and gated again, as after a resume: nobody renews it any more.
func (s *State) takeOver(l Left) {
	c := s.Control(l.Control)
	if c.Ours {
		return
	}
	if s.inherited.Run == "" || l.Since.Before(s.inherited.Since) {
		s.inherited = l
	}
	c.Ours, c.Original, c.Expected, c.Order = true, c.Raw, c.Raw, len(s.flips)
	if l.Edited {
		c.Expected = l.Wrote
	}
	c.Since, c.By, c.ReviewAt = l.Since, l.Run, l.ReviewAt
	if control := s.Doc.Control(l.Control); control != nil && control.DeadMan != nil && s.raisedByUs(control) {
		s.toIdle = append(s.toIdle, l.Control)
	}
}

func (s *State) settleOf(t Target) time.Duration {
	if step := s.Doc.Step(t.Step); step != nil {
		return step.Settle
	}
	return defaultSettle
}

// defaultSettle is used for flips that belong to no step: a guard's brake.
const defaultSettle = 5 * time.Second

// afterFlip moves the step on that the flip was made for.
func (s *State) afterFlip(flip *FlipState) {
	st := s.Step(flip.Target.Step)
	step := s.Doc.Step(flip.Target.Step)
	switch flip.Target.Purpose {
	case PurposeFlip:
		if step != nil && !step.Stage.Protects() {
			st.Awaiting = flip
		}
	case PurposeRestore:
		st.Awaiting = flip
	case PurposeUndo:
		if st.Undoing != nil {
			st.Undoing.Undone = true
			st.Undoing = nil
		}
		st.Awaiting, st.Undone, st.Ordered = nil, st.Ordered == nil, nil
	case PurposeHarder:
		st.Harder = true
	case PurposeIdle:
		s.idled(flip.Plan.Control)
	case PurposePutBack:
		// What is there now is agreed on, also when nothing was written: then what was lost
		// does not come back.
		if flip.Nothing {
			s.lostFlip(flip.Plan.Control, s.LastAt.Add(s.offset))
		}
		c := s.Control(flip.Plan.Control)
		c.Expected = c.Raw
		delete(s.putBack, flip.Plan.Control)
		delete(s.drifts, flip.Plan.Control)
	}
}

// idle lists the controls that add load and that this run has raised.
func (s *State) idle() {
	s.toIdle = nil
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		if c.DeadMan != nil && (s.raisedByUs(c) || s.openIntent(c.Name) != nil) {
			s.toIdle = append(s.toIdle, c.Name)
		}
	}
}

// raisedByUs reports whether the run flipped a control and it is not at its dead man's
// value, as far as is known.
func (s *State) raisedByUs(c *runbook.Control) bool {
	live, ok := s.live(c)
	return s.Control(c.Name).Ours && !(ok && live.Equal(*c.DeadMan))
}

func (s *State) idled(control string) {
	s.toIdle = slices.DeleteFunc(s.toIdle, func(name string) bool { return name == control })
	s.sendBack(control)
}

// reverted: Redis has lost a release, and the tighter value is agreed on. What had released
// is gated and approved again; from restore on, restore does it.
func (s *State) reverted(b *Drifted) {
	c := s.Control(b.Control)
	c.Expected, c.Reverted = b.Found, true
	s.lostFlip(b.Control, s.LastAt.Add(s.offset))
	s.supersede(b.Control, false)
	delete(s.drifts, b.Control)
	s.sendBack(b.Control)
	for step := range s.Doc.Steps() {
		if st := s.Step(step.Name); step.Restore != nil && st.Phase == StepDone {
			st.Phase, st.Outcome, st.TargetAt = StepEntered, "", s.LastAt
		}
	}
}

// cameBack: a flip of this run that seemed to be lost is there. What was measured before counts for nothing,
// for nobody knows which processes have obeyed it all the time.
func (s *State) cameBack(b *Drifted) {
	c := s.Control(b.Control)
	s.lostFlip(b.Control, s.LastAt.Add(s.offset))
	c.Expected, c.Version, c.Reverted = b.Found, s.returned[b.Control], false
	delete(s.drifts, b.Control)
}

// lostFlip takes in that Redis has lost the last flips of a control. Their versions may
// never be reported, so their mark is when the loss was found and the service has had its
// time to follow, or not known yet when they come back.
func (s *State) lostFlip(control string, found time.Time) {
	s.Control(control).Version = 0
	for i, last := len(s.flips)-1, true; i >= 0; i-- {
		f := s.flips[i]
		if f.Plan.Control != control || f.Nothing || !last && !f.Mark.IsZero() {
			continue
		}
		if f.stood.mark.IsZero() {
			f.stood = stood{f.Mark, f.polls}
		}
		last, f.Mark, f.polls = false, found, s.polled()
		if !found.IsZero() {
			s.mark(f, s.assumedMark(f, found))
		}
	}
}

// mark sets a mark that follows from a time of our clock.
func (s *State) mark(f *FlipState, at time.Time) {
	f.Mark = at
	if !s.measured {
		s.early = append(s.early, f)
	}
}

// measure takes in how far the clock of Prometheus is from ours. Marks that were set before
// that was known, in this process with its clock, move with it.
func (s *State) measure(offset time.Duration) {
	for _, f := range s.early {
		if !f.Mark.IsZero() { // it was taken back since
			f.Mark = f.Mark.Add(offset - s.offset)
		}
	}
	s.offset, s.measured, s.early = offset, true, nil
}

// anew is a step at its start, which still owes a person the end of an undo that waits.
func (st *StepState) anew(step *runbook.Step) *StepState {
	fresh := &StepState{NotMade: st.NotMade}
	if st.undoWaits(step) {
		fresh.Undoing, fresh.Ordered, fresh.UndoCall = st.Undoing, st.Ordered, st.UndoCall
	}
	return fresh
}

// sendBack sends the steps that had flipped this control back to their start, so that
// they are gated and approved again. From restore on nothing is sent back any more.
func (s *State) sendBack(control string) {
	for _, f := range s.flips {
		if f.Plan.Control != control || f.Target.Purpose != PurposeFlip || s.Stage >= runbook.Restore {
			continue
		}
		f.Idled = true
		if step := s.Doc.Step(f.Target.Step); step != nil && !step.Stage.Protects() {
			s.steps[step.Name] = s.Step(step.Name).anew(step)
			s.voidStep(step.Name)
		}
	}
}

package steps

import (
	"math"
	"slices"
	"strconv"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

// rungsOf gives the values that a flip goes through; a plain flip has one.
func rungsOf(f *runbook.Flip) []runbook.Value {
	if len(f.Through) > 0 {
		return f.Through
	}
	return []runbook.Value{f.To}
}

// nextRung gives the value that a release flips to next: of a ladder the first rung that
// goes on from the live value, wherever a guard or a hand has taken that. After a failure the next try is the
// middle between the last good rung and the failed one.
func (s *State) nextRung(
	step *runbook.Step, st *StepState, c *runbook.Control, live runbook.Value,
) (runbook.Value, bool) {
	rungs := rungsOf(step.Flip)
	if len(rungs) == 1 && st.Rung > 0 {
		return runbook.Value{}, false
	}
	if st.Failed != nil {
		if failed, err := decode(c, st.Failed); err == nil {
			if middle, ok := between(c, live, failed); ok {
				return middle, true
			}
		}
	}
	if len(rungs) == 1 {
		return rungs[0], true
	}
	return rungAfter(c, live, rungs)
}

// rungAfter gives the first rung that goes on from the live value.
func rungAfter(c *runbook.Control, live runbook.Value, rungs []runbook.Value) (runbook.Value, bool) {
	for _, to := range rungs {
		if c.Direction(live, to) == runbook.Releasing {
			return to, true
		}
	}
	return runbook.Value{}, false
}

// passRung moves a step on after a flip whose expectation held.
func (st *StepState) passRung(doc *runbook.Document, flip *FlipState) {
	step := doc.Step(flip.Target.Step)
	st.Failed = nil
	if step == nil || step.Flip == nil || flip.Plan.After == nil {
		return
	}
	rungs := rungsOf(step.Flip)
	reached := slices.IndexFunc(rungs, func(v runbook.Value) bool { return actions.Encode(v) == *flip.Plan.After })
	if reached >= st.Rung {
		st.Rung = reached + 1
	}
}

// between gives a value in the middle of two, if there is one that the control takes: a hand may have gone beyond that.
func between(c *runbook.Control, good, failed runbook.Value) (runbook.Value, bool) {
	middle := runbook.Value{Kind: c.Kind}
	switch {
	case c.Kind.Numeric() && !good.Unlimited && !failed.Unlimited:
		middle.Number = (good.Number + failed.Number) / 2
		if c.Kind != runbook.Duration {
			middle.Number = math.Round(middle.Number)
		}
	case c.Kind == runbook.Choice:
		a, b := slices.Index(c.Choices, good.Text), slices.Index(c.Choices, failed.Text)
		if a < 0 || b < 0 {
			return middle, false
		}
		middle.Text = c.Choices[(a+b)/2]
	default:
		return middle, false
	}
	return middle, !middle.Equal(good) && !middle.Equal(failed) && c.Takes(middle)
}

// upcoming gives the numbers that ${from} and ${to} stand for in the when of a step's
// next flip, and whether there is one: the next that is to be made or, while one is
// awaited, the one after it.
func (s *State) upcoming(step *runbook.Step, st *StepState) (from, to string, more bool) {
	switch {
	case step.Flip != nil:
		return s.upcomingRung(step, st)
	case step.Restore != nil:
		if lift, more := s.nextLift(step); more {
			from, to = s.numbers(lift)
			return from, to, true
		}
		return undoneCalls.from, undoneCalls.to, len(s.toUndo())+len(s.DoneByHand()) > 0
	}
	return "", "", st.Awaiting == nil
}

// undoneCalls are the numbers for taking back a call: it moves no control.
var undoneCalls = struct{ from, to string }{"0", "0"}

func (s *State) upcomingRung(step *runbook.Step, st *StepState) (from, to string, more bool) {
	after := *st
	if st.Awaiting != nil {
		after.passRung(s.Doc, st.Awaiting)
	}
	c := s.Doc.Control(step.Flip.Control)
	live, _ := s.live(c)
	next, more := s.nextRung(step, &after, c, live)
	if !more {
		return "", "", false
	}
	from, to = s.numbers(targetFor(step.Name, PurposeFlip, c, live, &next))
	return from, to, true
}

// numbers gives what a target comes from and goes to, as numbers; "" where it is not
// a number.
func (s *State) numbers(t Target) (from, to string) {
	if _, err := strconv.ParseFloat(t.To, 64); err != nil || t.From == "" {
		return "", ""
	}
	return t.From, t.To
}

package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

// plan reads the controls and writes down what the flip would do. That Redis cannot be
// read is an outcome too: the flip is tried again later.
func (m *Machine) plan(ctx context.Context, v MakePlan) error {
	c := m.c.Doc.Control(v.Target.Control)
	read, err := m.readAll(ctx)
	if left := ctx.Err(); left != nil {
		return left
	}
	if err != nil {
		return m.write(KindSettled, &Settled{Target: v.Target, Result: ResultUnreached, Sentence: err.Error(),
			Plan: actions.Plan{Run: m.state.Begun.Run, Step: v.Target.Step, Control: c.Name}, ServerAt: m.serverNow()}, false)
	}
	if err := m.firstTake(ctx); err != nil {
		return m.untaken(v, err)
	}
	if lost, err := m.notice(read); lost || err != nil {
		return err
	}
	live := read[c.Name]
	if live.Raw != nil && len(*live.Raw) > longestRaw {
		return m.write(KindSettled, &Settled{Target: v.Target, Result: ResultRefused, Cause: causeTooLong,
			Plan:     actions.Plan{Run: m.state.Begun.Run, Step: v.Target.Step, Control: c.Name},
			Sentence: fmt.Sprintf("%s holds %d bytes, which no record can name", c.Name, len(*live.Raw)),
			Hint:     "remove them by hand: HDEL of the field", ServerAt: m.serverNow()}, false)
	}
	plan := actions.NewPlan(m.state.Begun.Run, v.Target.Step, c, live, v.To)
	body := &Planned{Target: v.Target, Plan: plan, Digest: plan.Digest(), Before: readable(c, plan.Before), After: readableAfter(c, plan.After)}
	before, _ := decode(c, plan.Before) // what nobody can read has no number, as in the gate that is polled for
	body.Target.From = numberText(before)
	if live.Meta != nil {
		body.Owner = live.Meta.Owner
	}
	return m.write(KindPlanned, body, false)
}

// firstTake takes the command for a walk that began while Redis was away.
func (m *Machine) firstTake(ctx context.Context) error {
	if m.lease.Fence != 0 {
		return nil
	}
	return m.take(ctx)
}

// untaken writes down that a walk without the command cannot flip yet. When another run
// has taken it meanwhile, that ends the walk of this process.
func (m *Machine) untaken(v MakePlan, err error) error {
	var commanded *actions.Commanded
	if errors.As(err, &commanded) {
		return m.commandedBy(err)
	}
	body := &Settled{Target: v.Target, Result: ResultRefused, Sentence: err.Error(),
		Plan: actions.Plan{Run: m.state.Begun.Run, Step: v.Target.Step, Control: v.Target.Control}, ServerAt: m.serverNow()}
	var failure *actions.Failure
	if errors.As(err, &failure) {
		body.Cause, body.Hint = string(failure.Cause), failure.Hint
	}
	return m.write(KindSettled, body, false)
}

// readable shows a raw value of a control to a person.
func readable(c *runbook.Control, raw *string) string {
	value, err := decode(c, raw)
	switch {
	case err != nil:
		return shown(raw)
	case raw == nil:
		return c.Format(value) + " (absent)"
	}
	return c.Format(value)
}

// readableAfter shows a raw value that a control shall get. Without its field the service does
// what it does without the control, which need not be its steady value.
func readableAfter(c *runbook.Control, raw *string) string {
	switch {
	case raw != nil:
		return readable(c, raw)
	case c.Absent.Equal(c.Steady):
		return c.Format(c.Absent) + " (field removed)"
	}
	return fmt.Sprintf("%s (field removed; steady is %s)", c.Format(c.Absent), c.Format(c.Steady))
}

// apply writes the intent, applies exactly this plan, and writes down how it ended.
func (m *Machine) apply(ctx context.Context, v ApplyFlip) error {
	p := v.Planned
	if p.Plan.Nothing() {
		return m.write(KindSettled, &Settled{Target: p.Target, Plan: p.Plan, Digest: p.Digest, Result: ResultNothing,
			Version: p.Plan.Version, ServerAt: m.serverNow(), After: p.After, Sentence: "nothing to do"}, false)
	}
	intended := &Intended{Target: p.Target, Plan: p.Plan, Digest: p.Digest, Fence: m.lease.Fence, Blind: v.Blind, Before: p.Before, After: p.After}
	if err := m.write(KindIntended, intended, true); err != nil {
		return err
	}
	if m.state.Broken && m.state.releases(p) {
		return m.write(KindSettled, &Settled{Target: p.Target, Plan: p.Plan, Digest: p.Digest, Result: ResultRefused, Cause: causeLog,
			ServerAt: m.serverNow(), Sentence: "the log's disk is broken: nothing is released", After: p.After}, true)
	}
	ctx, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	lease := m.lease
	lease.Version = m.state.version()
	return m.outcome(ctx, intended, m.c.Controls.Apply(ctx, lease, p.Plan, m.stamp(p.Plan)))
}

// version is the highest version that a flip of this run got.
func (s *State) version() int64 {
	var version int64
	for _, f := range s.flips {
		version = max(version, f.Version)
	}
	return version
}

// settle finds out by its digest how an open intent ended.
func (m *Machine) settle(ctx context.Context, open *Intended) error {
	ctx, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	var commanded *actions.Commanded
	switch err := m.firstTake(ctx); {
	case errors.As(err, &commanded):
		return m.commandedBy(err)
	case err != nil:
		return m.outcome(ctx, open, actions.Outcome{Sentence: err.Error()})
	}
	o := m.c.Controls.Settle(ctx, m.lease, open.Plan)
	switch {
	case o.Lease != nil:
		m.lead(*o.Lease)
	case o.Result == actions.Unknown:
		m.unanswered++
	}
	return m.outcome(ctx, open, o)
}

// Causes of a refusal that are this package's own; the others are of package actions.
const (
	causeTooLong = "too-long"
	causeLog     = "log"
)

func (m *Machine) outcome(ctx context.Context, i *Intended, o actions.Outcome) error {
	body := &Settled{Target: i.Target, Plan: i.Plan, Digest: i.Digest, Version: o.Version, Found: o.Found, Seen: o.Seen, Cause: string(o.Cause),
		ServerAt: m.serverNow(), Sentence: o.Sentence, Hint: o.Hint, After: i.After, Result: resultOf(o)}
	if err := m.write(KindSettled, body, true); err != nil {
		return err
	}
	if o.Commander == nil {
		return nil
	}
	return m.retake(ctx, o.Commander)
}

func resultOf(o actions.Outcome) Result {
	switch o.Result {
	case actions.Applied:
		return ResultApplied
	case actions.Refused:
		return ResultRefused
	case actions.NotSent:
		return ResultUnreached
	}
	return ResultUnknown
}

// stamp is what Redis keeps beside the value.
func (m *Machine) stamp(p actions.Plan) actions.Stamp {
	c := m.c.Doc.Control(p.Control)
	steady := actions.Encode(c.Steady)
	stamp := actions.Stamp{Actor: m.actor(), Steady: &steady, Absent: actions.EncodeAbsent(c), Protects: c.Protects, Owner: m.actor(), DeadMan: c.DeadMan != nil}
	if review := m.state.review(c); review > 0 {
		stamp.ReviewAt = m.c.Clock.Now().Add(review)
	}
	if hand := m.state.Begun.Hand; hand != nil {
		stamp.Reason = hand.Reason
	}
	return stamp
}

// review is after what time a control that was flipped is to be looked at; 0 for never.
func (s *State) review(c *runbook.Control) time.Duration {
	if hand := s.Begun.Hand; hand != nil && hand.ReviewMS > 0 {
		return time.Duration(hand.ReviewMS) * time.Millisecond
	}
	return c.Review
}

package steps

import (
	"context"
	"fmt"
	"iter"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// HandStep stands for the step in the plan of a flip by hand.
const HandStep = "by-hand"

// handTries is how often the outcome of a flip by hand is asked for before it is left open.
const handTries = 6

// Consent is a person's word for a flip by hand that releases: which plan was shown, and
// how the word was given.
type Consent struct {
	Shown actions.Plan // its Run is empty: it was made before the log had begun
	By    string
	How   string // typed, or the digest that was given
}

// HandPlan is the plan that a person is shown before a flip by hand. It belongs to no run
// yet, so that its digest can be given again by another process.
func HandPlan(c *runbook.Control, live actions.Live, to runbook.Value) actions.Plan {
	return actions.NewPlan("", HandStep, c, live, &to)
}

// ByHand makes the one flip that Config.Begun.Hand names, with the records that a walk would
// write: it takes the command, plans, and applies a plan that protects, or that is the one
// of the consent. It gives the last record about the flip: one that was refused and one whose
// outcome is not known are no errors.
func (m *Machine) ByHand(ctx context.Context, consent *Consent) (*Settled, error) {
	if err := m.Begin(ctx); err != nil {
		return nil, err
	}
	if err := m.flipByHand(ctx, consent); err != nil {
		return nil, err
	}
	return m.endHand(ctx)
}

// ResumeHand goes on with the log of a flip by hand whose process is gone: it finds out how
// the flip ended. It makes none, and gives nil when it had not come to one.
func (m *Machine) ResumeHand(ctx context.Context, records iter.Seq2[audit.Record, error]) (*Settled, error) {
	if err := m.Resume(ctx, records); err != nil {
		return nil, err
	}
	return m.endHand(ctx)
}

func (m *Machine) flipByHand(ctx context.Context, consent *Consent) error {
	hand := m.state.Begun.Hand
	c := m.c.Doc.Control(hand.Control)
	to, err := decode(c, &hand.To)
	if err != nil {
		return err
	}
	t := Target{Step: HandStep, Purpose: PurposeHand, Control: c.Name, To: hand.To}
	if err := m.plan(ctx, MakePlan{Target: t, To: &to}); err != nil {
		return err
	}
	planned := m.state.plans[t.key()]
	if planned == nil {
		return nil // a record says why
	}
	if planned.Plan.Direction == runbook.Releasing {
		if refused := consent.refuses(planned.Plan); refused != "" {
			return m.write(KindSettled, &Settled{Target: t, Plan: planned.Plan, Digest: planned.Digest, Result: ResultRefused,
				Cause: string(actions.Moved), Sentence: refused, After: planned.After, ServerAt: m.serverNow()}, true)
		}
		if err := m.write(KindApproved, consent.approves(planned), true); err != nil {
			return err
		}
	}
	return m.apply(ctx, ApplyFlip{Planned: planned})
}

// refuses says why the consent does not cover a plan, "" when it does.
func (c *Consent) refuses(p actions.Plan) string {
	if c == nil {
		return "it releases, and nobody has agreed to that"
	}
	if p.Run = ""; p.Digest() != c.Shown.Digest() {
		return fmt.Sprintf("%s has moved since the plan was shown: it held %s and holds %s", p.Control, shown(c.Shown.Before),
			shown(p.Before))
	}
	return ""
}

func (c *Consent) approves(p *Planned) *Approved {
	return &Approved{Scope: ScopePlan, Digest: p.Digest, Step: HandStep, By: c.By, How: c.How,
		Covers: []Change{{Control: p.Plan.Control, After: p.Plan.After, Unit: p.Plan.Unit}}}
}

// endHand settles what is open, writes down what is out of place, and gives the command back.
// What cannot be settled now stays open, for a resume.
func (m *Machine) endHand(ctx context.Context) (*Settled, error) {
	for tries := 0; len(m.state.open) > 0; tries++ {
		open := m.state.open[0]
		if tries == handTries || m.c.Clock.Wait(ctx, m.state.retries[open.Target.key()].at) != nil {
			return m.latest, nil
		}
		if err := m.settle(ctx, open); err != nil {
			return nil, err
		}
	}
	if err := m.write(KindClosed, m.state.endedBody(m.state.Begun.Hand.Reason, ""), true); err != nil {
		return nil, err
	}
	m.drop(ctx)
	return m.latest, nil
}

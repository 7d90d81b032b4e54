package steps

import (
	"context"
	"errors"
	"testing"
)

// TestAWalkThatIsLeftBeginsNothing: once its context has ended, a walk writes and flips
// nothing more, and a read that was called off is no outage of Redis.
func TestAWalkThatIsLeftBeginsNothing(t *testing.T) {
	w := newWalker(t, mustParse(t, incident))
	w.quiet = true
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.machine.Step(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a step gives %v", err)
	}
	plan := w.untilPlan(t)
	before := len(w.journal.records)
	if err := w.machine.plan(ctx, plan); !errors.Is(err, context.Canceled) {
		t.Errorf("planning %s gives %v", plan.Target, err)
	}
	if wrote := len(w.journal.records) - before; wrote != 0 {
		t.Errorf("%d records were written", wrote)
	}
}

// untilPlan walks until a flip is to be planned.
func (w *walker) untilPlan(t *testing.T) MakePlan {
	for range mostMoves {
		if plan, ok := Next(w.machine.state, w.clock.now).(MakePlan); ok {
			return plan
		}
		if _, err := w.step(w.clock.now.Add(lookAgain)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("nothing is ever planned")
	return MakePlan{}
}

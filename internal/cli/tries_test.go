package cli

import (
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// A brake that Redis refuses is tried every two seconds: the screen shows the first try,
// any other answer, and a sign of life now and then.
func TestTriesAreSaidOnce(t *testing.T) {
	refused := &steps.Settled{Target: steps.Target{Step: "jobs"}, Plan: actions.Plan{Control: "jobs"}, Result: steps.ResultRefused, Sentence: "no memory"}
	other := &steps.Settled{Target: refused.Target, Plan: refused.Plan, Result: steps.ResultUnreached, Sentence: "it cannot be reached"}
	applied := &steps.Settled{Target: refused.Target, Plan: refused.Plan, Result: steps.ResultApplied}
	printed := newTranscript(nil)
	began := time.Date(2026, 11, 29, 10, 8, 1, 0, time.UTC)
	for _, try := range []struct {
		after time.Duration
		body  *steps.Settled
		said  bool
	}{
		{0, refused, true},
		{2 * time.Second, refused, false},
		{4 * time.Second, other, true},
		{6 * time.Second, refused, true},
		{8 * time.Second, refused, false},
		{22 * time.Second, refused, true},
		{24 * time.Second, applied, true},
		{26 * time.Second, refused, true},
	} {
		record := audit.Record{Kind: steps.KindSettled, At: began.Add(try.after)}
		if got := len(printed.events(record, try.body)) > 0; got != try.said {
			t.Errorf("after %s: said %t, want %t", try.after, got, try.said)
		}
	}
}

// A flip that the walk itself has called off is neither an outage nor tried again.
func TestInterruptedFlipIsSaidAsSuch(t *testing.T) {
	body := &steps.Settled{Plan: actions.Plan{Control: "prewarm.rate"}, After: "0", Result: steps.ResultUnreached, Cause: string(actions.Interrupted),
		Sentence: "it was interrupted before anything was sent to redis a:1"}
	want := "not flipped: prewarm.rate to 0: it was interrupted before anything was sent to redis a:1"
	if got := newTranscript(nil).settledText(body); got != want {
		t.Errorf("said %q", got)
	}
}

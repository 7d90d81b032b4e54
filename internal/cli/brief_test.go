package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// briefly prints bodies as a walk does, on a terminal of a width.
func briefly(t *testing.T, width int, bodies ...any) string {
	t.Helper()
	out := &narrow{width: width}
	printer := newTranscript(out)
	printer.brief = true
	for i, body := range bodies {
		record := audit.Record{Seq: uint64(i + 1), At: time.Date(2026, 11, 29, 10, 7, 30+i, 0, time.UTC), Kind: kindOf(t, body)}
		if err := printer.print(record, body); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestBreachIsSaidOnce: what a guard saw, then the hold with its rows, then its end.
func TestBreachIsSaidOnce(t *testing.T) {
	fails := probes.Finding{Bound: "partitions at least 0.95", Verdict: probes.Fail, Value: "0.4", Series: `{partition="recall"}`}
	passes := probes.Finding{Bound: "partitions at least 0.95", Verdict: probes.Pass, Value: "1.2", Series: "{}"}
	seen := func(verdict string, n int, f probes.Finding) *steps.Observed {
		return &steps.Observed{Gates: []steps.GateSeen{{Gate: "guard 3 partitions", Verdict: verdict, Passes: n, Of: 2, Findings: []probes.Finding{f}}}}
	}
	got := briefly(t, 80,
		seen("fail", 0, fails),
		&steps.Guarded{Guard: "guard 3 partitions", Breached: true, Action: "holds", Findings: []probes.Finding{fails}},
		&steps.Held{Cause: "guard 3 partitions", Sentence: `guard 3 partitions is breached: partitions 0.4 < 0.95 at least in {partition="recall"}`,
			Can: "wait, or abort", Costs: "copies on stale.product-detail run out now, the last by 10:09:30Z"},
		seen("pass", 1, passes), seen("pass", 2, passes),
		&steps.Guarded{Guard: "guard 3 partitions", Findings: []probes.Finding{passes}},
		&steps.Held{Cause: "guard 3 partitions", Lifted: true, Sentence: "the guard holds again"},
		&steps.Held{Cause: "person", By: "ana", Sentence: "held by ana: lunch"})
	want := `2026-11-29 UTC
10:07:30.0Z     +0.0s  run  guard 3 partitions fail 0/2: partitions at least
        0.95: 0.4 {partition="recall"} fail
10:07:32.0Z     +0.0s  run  HOLD: guard 3 partitions is breached: partitions 0.4
        < 0.95 at least in {partition="recall"}
        may:    wait, or abort
        costs:  copies on stale.product-detail run out now, the last by
                10:09:30Z
10:07:36.0Z     +0.0s  run  hold lifted (guard 3 partitions): the guard holds
        again
10:07:37.0Z     +0.0s  run  HOLD: held by ana: lunch
`
	if got != want {
		t.Errorf("a breach is said as\n%s", got)
	}
}

// TestOneLineAnEvent: without a terminal nothing is wrapped.
func TestOneLineAnEvent(t *testing.T) {
	got := briefly(t, 0, &steps.Noted{By: "ana", Text: strings.Repeat("a long remark ", 20)})
	if strings.Count(got, "\n") != 2 {
		t.Errorf("a note is said as\n%s", got)
	}
}

// TestUndoIfIsSilentAsItShouldBe: an undo_if that waits for its first samples and then
// measures that nothing has to be undone has nothing to say.
func TestUndoIfIsSilentAsItShouldBe(t *testing.T) {
	gates := gateLines{}
	waits := probes.Finding{Bound: "forbidden above 0", Reason: probes.BeforeMark}
	fine := probes.Finding{Bound: "forbidden above 0", Verdict: probes.Fail, Value: "0 reads"}
	for now, finding := range []probes.Finding{waits, waits, fine, fine} {
		seen := &steps.GateSeen{Gate: "undo_if extend-stale", Verdict: finding.Verdict.String(), Of: 2, Findings: []probes.Finding{finding}}
		if text, ok := gates.changed(int64(now)*1000, seen, true); ok {
			t.Errorf("after %d s it says %q", now, text)
		}
	}
}

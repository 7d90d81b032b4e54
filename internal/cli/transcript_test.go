package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func text(value string) *string { return &value }

// everyKind is a walk that never was: at least one record of every kind that a walk
// writes, with text from outside that tries to reach the terminal.
func everyKind(source []byte) []any {
	evil := "\x1b[2J\u202eevil\nsecond line"
	target := steps.Target{Step: "enforce-admission", Purpose: steps.PurposeFlip, Control: "origin.admission", To: "3200"}
	plan := actions.Plan{Run: "RUN", Step: "enforce-admission", Control: "origin.admission", After: text("3200"), Direction: runbook.Protecting, Unit: "attempts/s"}
	pass := probes.Finding{Bound: "queue-age at most 500ms", Probe: "queue-age", Verdict: probes.Pass, Value: "0.3 s", Series: `{cell="a"}`}
	fail := probes.Finding{Bound: "queue-age at most 500ms", Probe: "queue-age", Verdict: probes.Fail, Value: "2.7 s", Series: "{}", Notes: []string{"warning: " + evil}}
	unknown := probes.Finding{Bound: "retrying at most 50", Probe: "retrying", Reason: probes.NoData, Sentence: "retrying unknown: the query matched no series"}
	waits := probes.Finding{Bound: "offered at most 1950", Probe: "offered", Reason: probes.BeforeMark, Sentence: "it still looks back"}
	seen := func(gate, verdict string, passes int, findings ...probes.Finding) *steps.Observed {
		return &steps.Observed{Gates: []steps.GateSeen{{Gate: gate, Verdict: verdict, Passes: passes, Of: 2, Findings: findings}}}
	}
	obeyed := func(n int) *steps.Observed {
		return &steps.Observed{Propagation: &probes.Propagation{Version: 2, Reported: true, Processes: 240, Obeying: n}}
	}
	digest := strings.Repeat("ab", 32)
	return []any{
		&steps.Begun{Run: "RUN", Service: "catalog", File: "book.yaml", Runbook: source, SHA256: digest, Parameters: map[string]string{"cell": "cell-c"},
			Prometheus: "http://prom", Redis: "redis://controls", Approve: steps.Manual, Through: "observe", Version: "1.2.3", Host: "desk", PID: 42, User: evil},
		&steps.StageBody{Stage: "declare-mode", Skip: "known"},
		&steps.StageBody{Stage: "protect-origin"},
		&steps.StepBody{Step: "enforce-admission", Stage: "protect-origin", State: steps.StepEntered, Why: "below the knee"},
		&steps.Planned{Target: target, Plan: plan, Digest: digest, Before: "unlimited (absent)", After: "3200 attempts/s", Owner: evil},
		&steps.Intended{Target: target, Plan: plan, Digest: digest, Fence: 7, Blind: true, Before: "unlimited", After: "3200 attempts/s"},
		&steps.Settled{Target: target, Plan: plan, Digest: digest, Result: steps.ResultApplied, Version: 2, After: "3200 attempts/s"},
		&steps.Settled{Target: target, Plan: plan, Digest: digest, Result: steps.ResultRefused, After: "3200 attempts/s", Sentence: "redis is read-only", Hint: "find the master"},
		&steps.Settled{Target: target, Plan: plan, Digest: digest, Result: steps.ResultUnknown, After: "3200 attempts/s", Sentence: "no answer"},
		&steps.Settled{Target: target, Plan: plan, Digest: digest, Result: steps.ResultNothing, After: "3200 attempts/s"},
		&steps.OwedBody{Step: "enforce-admission", Gate: "expect enforce-admission"},
		obeyed(1), obeyed(1), obeyed(240),
		seen("expect enforce-admission", "unknown", 0, waits),
		seen("expect enforce-admission", "fail", 0, fail, unknown),
		seen("expect enforce-admission", "fail", 0, fail, unknown),
		seen("expect enforce-admission", "pass", 1, pass),
		seen("expect enforce-admission", "pass", 2, pass),
		seen("expect enforce-admission", "pass", 3, pass),
		seen("guard 1 queue-age", "pass", 1, pass),
		seen("guard 1 queue-age", "fail", 0, fail),
		&steps.Observed{Redis: "no answer within 2s"}, &steps.Observed{},
		&steps.Judged{Gate: "expect enforce-admission", Step: "enforce-admission", Verdict: "pass", Decision: steps.DecisionMet, Findings: []probes.Finding{pass}},
		&steps.Judged{Gate: "when allow-prewarm", Step: "allow-prewarm", Verdict: "unknown", Decision: steps.DecisionBlind, Findings: []probes.Finding{unknown}},
		&steps.Guarded{Guard: "guard 1 queue-age", Breached: true, Action: "holds", Findings: []probes.Finding{fail}},
		&steps.Guarded{Guard: "guard 1 queue-age", Findings: []probes.Finding{pass}},
		&steps.Drifted{Control: "origin.admission", Expected: text("3200"), Found: text(evil), Direction: runbook.Releasing, Decision: steps.DriftHolds},
		&steps.Held{Cause: "person", By: "ana", Sentence: "held by ana: " + evil, Can: "release, or abort", Costs: "stale copies run out at 10:09:20"},
		&steps.Held{Cause: "person", By: "ana", Lifted: true, Sentence: "released"},
		&steps.Skipped{Step: "allow-prewarm", Reason: "not needed", Findings: []probes.Finding{pass}},
		&steps.Skipped{Step: "allow-prewarm", Reason: "not today", By: "ana"},
		&steps.Noted{By: "ana", Text: evil},
		&steps.ManualBody{Ask: probes.Ask{Probe: "predicted", From: "10", To: "50"}, Value: "1800", Unit: "attempts/s", Source: "grafana", By: "ana",
			Until: time.Date(2026, 11, 29, 10, 20, 0, 0, time.UTC), Digest: "0123456789abcdef"},
		&steps.ManualBody{Ask: probes.Ask{Probe: "queue-age"}, Value: "0.4", Unit: "s", Source: "grafana", By: "ben", Confirms: "ana",
			Until: time.Date(2026, 11, 29, 10, 20, 0, 0, time.UTC), Digest: "0123456789abcdef"},
		&steps.OrderedBody{Order: steps.OrderAbort, By: "ana", Reason: "too late"},
		&steps.Approved{Scope: steps.ScopeLadder, Digest: digest, Step: "allow-prewarm", By: "ana", How: "typed", Covers: []steps.Change{
			{Control: "routing.cell-c", After: text("10"), Unit: "%"}, {Control: "routing.cell-c", Unit: "%"}}},
		&steps.Approved{Scope: steps.ScopePlan, Digest: digest, Step: "allow-prewarm", By: "auto", How: "auto"},
		&steps.Called{Step: "freeze-deployments", Command: []string{"deployctl", "freeze", evil}},
		&steps.Called{Step: "freeze-deployments", Finished: true, OK: true, Output: "frozen"},
		&steps.Called{Step: "freeze-deployments", Undo: true, Finished: true, Error: "exit status 1", Output: evil},
		&steps.ConfirmedBody{Step: "declare", Ask: "Which modes?"},
		&steps.ConfirmedBody{Step: "declare", Answered: true, Answer: "undeclared"},
		&steps.ConfirmedBody{Step: "declare", Answered: true, Answer: "cell-loss", By: "ana"},
		&steps.Resumed{Host: "desk", User: "ana", PID: 43, Approve: steps.Auto, Found: []string{"the outcome of enforce-admission is open"}},
		&steps.Recovered{TookMS: 142_300, WithinMS: 156_000},
		&steps.Recovered{TookMS: 242_300, WithinMS: 156_000, Late: true},
		&steps.Ended{Recovered: true},
	}
}

// kindOf finds the kind of a body by its type.
func kindOf(t *testing.T, body any) steps.Kind {
	t.Helper()
	for _, kind := range []steps.Kind{
		steps.KindBegun, steps.KindResumed, steps.KindStage, steps.KindStep, steps.KindObserved, steps.KindPlanned, steps.KindApproved,
		steps.KindIntended, steps.KindSettled, steps.KindJudged, steps.KindOwed, steps.KindGuarded, steps.KindDrifted, steps.KindHeld,
		steps.KindSkipped, steps.KindNoted, steps.KindManual, steps.KindOrdered, steps.KindCalled, steps.KindConfirmed, steps.KindRecovered, steps.KindClosed,
	} {
		if decoded, err := steps.DecodeBody(kind, json.RawMessage("{}")); err == nil && reflect.TypeOf(decoded) == reflect.TypeOf(body) {
			return kind
		}
	}
	t.Fatalf("no kind has a body of type %T", body)
	return ""
}

func TestTranscript(t *testing.T) {
	var out bytes.Buffer
	printer := newTranscript(&out)
	at := time.Date(2026, 11, 29, 23, 59, 30, 0, time.UTC)
	_, source, ok := readBundled(bundledBook)
	if !ok {
		t.Fatal("there is no bundled runbook")
	}
	for i, body := range everyKind(source) {
		record := audit.Record{Seq: uint64(i + 1), At: at.Add(time.Duration(i) * time.Second), T: int64(i) * 1000, Kind: kindOf(t, body)}
		if err := printer.print(record, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := printer.print(audit.Record{Kind: steps.KindTorn, At: at, Emergency: true}, nil); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "transcript.golden", out.Bytes())
	if strings.ContainsFunc(out.String(), hidden) {
		t.Error("the transcript holds something that a terminal would obey")
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (rewrite with -update):\n%s", path, diff)
	}
}

// TestDemoWalksNineStages holds the demo's shape, whatever the lab's figures are: all
// stages in their order, protections first, one line an event, the recovery at the end.
func TestDemoWalksNineStages(t *testing.T) {
	t.Parallel()
	out := demoHere(t, t.TempDir())
	var entered []string
	for _, found := range regexp.MustCompile(`(?m)  (\S+)  stage (?:entered|passed)`).FindAllStringSubmatch(out, -1) {
		entered = append(entered, found[1])
	}
	var want []string
	for stage := runbook.DeclareMode; stage <= runbook.Reconcile; stage++ {
		want = append(want, stage.String())
	}
	if !slices.Equal(entered, want) {
		t.Errorf("stages %q, want %q", entered, want)
	}
	inOrder := []string{"  protect-origin/enforce-admission  flipped ", "  rank-warmth/allow-prewarm  approved ", "  rank-warmth/allow-prewarm  flipped ",
		"  exit  RECOVERED ", "  reconcile  closed: recovered", "\nrecovered ", "\nlog: ", "\nhead: ", "\nnext: ", "\nthe log verifies: head "}
	at := 0
	for _, part := range inOrder {
		i := strings.Index(out[at:], part)
		if i < 0 {
			t.Fatalf("%q does not come, or too early", part)
		}
		at += i
	}
	if strings.ContainsFunc(out, hidden) {
		t.Error("the demo prints something that a terminal would obey")
	}
}

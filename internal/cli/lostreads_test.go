package cli

import (
	"os"
	"slices"
	"testing"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// TestLostReadsAreTold: a share that leaves its bound is told, one that comes and goes once a minute, and what cannot be
// measured changes nothing.
func TestLostReadsAreTold(t *testing.T) {
	told := lostReads{}
	var seconds []int64
	for _, seen := range []struct {
		at      int64 // seconds
		verdict probes.Verdict
	}{
		{1, probes.Pass}, {2, probes.Unknown}, {3, probes.Fail}, {4, probes.Unknown}, {5, probes.Fail}, {6, probes.Pass},
		{7, probes.Fail}, {8, probes.Pass}, {65, probes.Fail}, {66, probes.Fail}, {67, probes.Fail}, {68, probes.Pass},
	} {
		f := probes.Finding{Bound: "rejected-share at most 0.001", Probe: "rejected-share", Verdict: seen.verdict}
		if told.changed(1000*seen.at, f) {
			seconds = append(seconds, seen.at)
		}
	}
	if want := []int64{3, 6, 66, 68}; !slices.Equal(seconds, want) {
		t.Errorf("told at %d, not at %d", seconds, want)
	}
}

// TestAFailedStepIsNotDone: a step whose call failed is not told like one that was done.
func TestAFailedStepIsNotDone(t *testing.T) {
	for outcome, want := range map[string]string{
		"done":                             "step done: done",
		"failed, went on: exit status 1":   "step over, NOT DONE: failed, went on: exit status 1",
		"failed: exit status 1":            "step over, NOT DONE: failed: exit status 1",
		"failed, and done by hand: thawed": "step done: failed, and done by hand: thawed",
	} {
		if got := stepText(&steps.StepBody{State: steps.StepDone, Outcome: outcome}); got != want {
			t.Errorf("%q: %q", outcome, got)
		}
	}
}

// TestExitOnLostReads: what readers are refused and what fails is found in the exit of the bundled runbook.
func TestExitOnLostReads(t *testing.T) {
	const book = "../../templates/runbooks/hot-key-collapse.yaml"
	source, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	doc, problems := runbook.Parse(book, source, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var found []string
	for _, group := range doc.ExitOnLost() {
		found = append(found, group[0].Probe)
	}
	if want := []string{"rejected-share", "error-share"}; !slices.Equal(found, want) {
		t.Errorf("%q, not %q", found, want)
	}
}

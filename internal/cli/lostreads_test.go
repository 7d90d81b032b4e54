package cli

import (
	"slices"
	"testing"

	"github.com/rewarm/rewarm/probes"
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

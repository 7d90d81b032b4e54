package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// TestPlanCountsTheUnjudged hands a plan one good answer, one without series, one
// that is too old, and none at all.
func TestPlanCountsTheUnjudged(t *testing.T) {
	doc, problems := runbook.Parse("plan.yaml", []byte(`
apiVersion: rewarm/v1
kind: Runbook
name: plan
service: catalog
probes:
  good: {query: good, unit: s}
  empty: {query: empty, unit: s}
  old: {query: old, unit: s}
  silent: {query: silent, unit: s}
  unused: {query: unused, unit: s}
exit: {when: [{probe: good, at_most: 250ms}, {any: [{probe: empty, falling: true}, {probe: old, at_most: 1s}]}], interval: 5s}
guards: [{probe: good, at_most: {probe: silent}, from: observe, to: restore}]
stages:
  declare-mode: {skip: none}
  protect-origin: {skip: none}
  preserve-stale: {skip: none}
  constrain-leaders: {skip: none}
  rank-warmth: {skip: none}
  observe: {skip: none}
  expand: {skip: none}
  restore: {skip: none}
  reconcile: {skip: none}
`), nil)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)
	answer := func(probe string, sampled time.Time) probes.Answer {
		a := probes.Answer{Ask: probes.Ask{Probe: probe}, At: now, Stalest: sampled}
		a.SetReadings([]probes.Reading{probes.NewReading("{}", 0.1)})
		return a
	}
	l := looked{doc: doc, seen: &probes.Observation{At: now, Answers: []probes.Answer{
		answer("good", now), answer("old", now.Add(-time.Minute)),
		{Ask: probes.Ask{Probe: "empty"}, At: now, Reason: probes.NoData},
	}}}
	asked, without := l.unjudged()
	if want := []string{"empty", "old", "silent"}; asked != 4 || !slices.Equal(without, want) {
		t.Errorf("%d asked, %q without an answer, want 4 and %q", asked, without, want)
	}
}

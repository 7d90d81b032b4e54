//go:build !race

// Minutes of the model for every walk: the race detector looks at walks elsewhere, and CI
// runs these without it.

package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Every bundled scenario is recovered by its runbook, with every control back at its
// steady value, and on the way every count adds up.
func TestScenariosAreRecovered(t *testing.T) {
	for _, name := range bundledScenarios() {
		t.Run(name, func(t *testing.T) {
			scenario, err := openScenario(name)
			if err != nil {
				t.Fatal(err)
			}
			if scenario.Name != name {
				t.Errorf("the file is of the scenario %s", scenario.Name)
			}
			doc := bundled(t, scenario.Runbook)
			for _, finding := range runbook.Lint(doc) {
				t.Errorf("%s: %s", scenario.Runbook, finding.Message)
			}
			tr := playing(t, doc, scenario, scenario.Seed)
			holds := exitHolds(t, tr)
			if holds != (name == "warm") {
				t.Errorf("at the start the exit holds: %v", holds)
			}
			state, err := tr.walked(context.Background(), true)
			if err != nil {
				t.Fatalf("%v; %s", err, lastHold(state))
			}
			if state.Recovered == nil || state.Ending != steps.EndedClosed {
				t.Fatalf("recovered %v, ended %q; %s", state.Recovered, state.Ending, lastHold(state))
			}
			t.Logf("recovered after %d s, closed after %s", state.Recovered.TookMS/1000, tr.elapsed())
			if state.Recovered.Late {
				t.Errorf("it took %d s, more than recover_within", state.Recovered.TookMS/1000)
			}
			for _, o := range state.Overrides() {
				t.Errorf("%s is left at %v", o.Control, o)
			}
		})
	}
}

// playing begins a trial whose counts are checked at every second.
func playing(t *testing.T, doc *runbook.Document, scenario *lab.Scenario, seed uint64) *trial {
	t.Helper()
	l, err := lab.New(lab.Options{Seed: seed, Scenario: scenario, Start: dayOfTrials.Add(scenario.Start)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return &trial{doc: doc, lab: l, began: l.Clock().Now(), longest: time.Hour, each: l.Check}
}

func exitHolds(t *testing.T, tr *trial) bool {
	t.Helper()
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: tr.lab.Transport()}, tr.lab.Clock())
	if err != nil {
		t.Fatal(err)
	}
	gate := tr.doc.Exit.When
	seen := poller.Poll(context.Background(), tr.doc, probes.Asks(tr.doc, gate, "", ""), 0)
	return probes.Judge(gate, probes.Situation{StaleAfter: time.Minute, Answer: seen.Answer, Probe: tr.doc.Probe}).Verdict == probes.Pass
}

func lastHold(s *steps.State) string {
	text := fmt.Sprintf("at %s", s.Stage)
	for _, h := range s.Holds() {
		text += "; held: " + h.Sentence
	}
	return text
}

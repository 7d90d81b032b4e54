//go:build !race

// Minutes of the model for every scenario: CI runs these without the race detector.

package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

var confusionSeeds = flag.Int("confusion.seeds", 1, "seeds that the confusion table is measured with")

// confusionMoments are when a scenario is diagnosed, from its last event before the
// lab is handed over.
var confusionMoments = []time.Duration{5 * time.Second, 15 * time.Second, 45 * time.Second, 2 * time.Minute, 5 * time.Minute, 8 * time.Minute}

// TestConfusion diagnoses every scenario, left alone, at several moments and with
// some seeds, and compares with the modes that the scenario declares. It prints the
// table of docs/diagnosis.md.
func TestConfusion(t *testing.T) {
	table := confusion{scenarios: confusionScenarios(t), count: map[confusionCell]int{}}
	t.Run("scenarios", func(t *testing.T) {
		for _, scenario := range confusionScenarios(t) {
			for seed := range seedsOf(scenario) {
				t.Run(fmt.Sprintf("%s/%d", scenario.Name, seed+1), func(t *testing.T) {
					t.Parallel()
					table.measure(t, scenario, uint64(seed+1))
				})
			}
		}
	})
	t.Logf("\n%s", table.String())
	if got, all := table.exact(false); float64(got) < 0.95*float64(all) {
		t.Errorf("%d of %d diagnoses of the bundled scenarios are exact, less than 95 %%", got, all)
	}
}

// together are pairs of scenarios that begin at one time: several modes at once.
var together = [][2]string{
	{"cell-loss", "invalidation-storm"}, {"cell-loss", "serializer-rejection"}, {"cell-loss", "origin-fault"},
	{"cell-loss", "hot-shard"}, {"cell-loss", "ttl-cliff"}, {"invalidation-storm", "origin-fault"},
	{"hot-shard", "origin-fault"}, {"ttl-cliff", "invalidation-storm"}, {"ttl-cliff", "origin-fault"},
}

// confusionScenarios are the bundled scenarios and, behind them, the pairs.
func confusionScenarios(t *testing.T) []*lab.Scenario {
	t.Helper()
	open := func(name string) *lab.Scenario {
		s, err := openScenario(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var list []*lab.Scenario
	for _, name := range bundledScenarios() {
		if name == "drill" {
			continue // two causes at once, a bulk import and slow queries: the drill is held to its picture
		}
		list = append(list, open(name))
	}
	for _, pair := range together {
		a, b := open(pair[0]), open(pair[1])
		a.Name += paired + b.Name
		a.Modes = append(a.Modes, b.Modes...)
		a.Events = append(a.Events, b.Events...)
		list = append(list, a)
	}
	return list
}

// paired joins the names of scenarios that are played together.
const paired = " + "

// seedsOf is how often a scenario is played; a pair a fifth as often, and not at all
// with the few seeds of an ordinary test run.
func seedsOf(s *lab.Scenario) int {
	if strings.Contains(s.Name, paired) {
		return *confusionSeeds / 5
	}
	return *confusionSeeds
}

type confusionCell struct {
	scenario string
	moment   time.Duration
	said     string // a mode, "none" or "exact": all modes and no others
}

type confusion struct {
	scenarios []*lab.Scenario
	mu        sync.Mutex
	count     map[confusionCell]int
	missed    int // modes that were there and called unlikely
}

func (c *confusion) measure(t *testing.T, scenario *lab.Scenario, seed uint64) {
	doc := bundled(t, scenario.Runbook)
	rules, err := openRules(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	fault := faultOf(scenario)
	l, err := lab.New(lab.Options{Seed: seed, Scenario: scenario, From: fault + time.Second, Start: dayOfTrials.Add(fault + time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: l.Transport()}, l.Clock())
	if err != nil {
		t.Fatal(err)
	}
	for _, moment := range confusionMoments {
		if err := l.Clock().Wait(context.Background(), dayOfTrials.Add(fault+moment)); err != nil {
			t.Fatal(err)
		}
		seen := poller.Poll(context.Background(), rules.Document(), diagnosis.Asks(rules), 0)
		c.add(scenario, moment, diagnosis.Of(rules, seen, doc.Defaults.StaleAfter))
	}
}

// faultOf is the time of day of the last event before a scenario is handed over.
func faultOf(s *lab.Scenario) time.Duration {
	at := s.Start
	for _, e := range s.Events {
		if e.At <= s.Start {
			at = e.At + cutOver(e)
		}
	}
	return at
}

// cutOver is how long after its event the pipeline takes the cell away that it replaces.
func cutOver(e lab.Event) time.Duration {
	if e.Kind != lab.ReplaceCell {
		return 0
	}
	return e.Over
}

func (c *confusion) add(s *lab.Scenario, moment time.Duration, r *diagnosis.Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var said []string
	for _, m := range r.Likely() {
		said = append(said, string(m.Mode))
	}
	truth := slices.Sorted(slices.Values(s.Modes))
	slices.Sort(said)
	for _, m := range r.Modes {
		if m.Verdict == diagnosis.Unlikely && slices.Contains(truth, string(m.Mode)) {
			c.missed++
		}
	}
	if slices.Equal(said, truth) {
		c.count[confusionCell{s.Name, moment, "exact"}]++
	}
	if len(said) == 0 {
		said = []string{"none"}
	}
	for _, mode := range said {
		c.count[confusionCell{s.Name, moment, mode}]++
	}
}

// String is the table in Markdown: how often each mode was likely.
func (c *confusion) String() string {
	columns := []string{}
	for _, mode := range runbook.Modes {
		columns = append(columns, string(mode))
	}
	columns = append(columns, "none", "exact")
	var b strings.Builder
	right, all := c.exact(false)
	fmt.Fprintf(&b, "Exact in %d of %d diagnoses of one scenario", right, all)
	right, all = c.exact(true)
	fmt.Fprintf(&b, ", and in %d of %d of two at once;\na mode that was there was called unlikely %d times.\n\n| scenario | after | %s |\n|---|---:|%s\n", right, all, c.missed,
		strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, s := range c.scenarios {
		for _, moment := range confusionMoments {
			fmt.Fprintf(&b, "| %s | %s |", s.Name, moment)
			for _, column := range columns {
				fmt.Fprintf(&b, " %s |", dotted(c.count[confusionCell{s.Name, moment, column}]))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// exact counts the diagnoses that name all modes and no others, of pairs or of the
// bundled scenarios.
func (c *confusion) exact(pairs bool) (right, all int) {
	for _, s := range c.scenarios {
		if strings.Contains(s.Name, paired) != pairs {
			continue
		}
		for _, moment := range confusionMoments {
			all += seedsOf(s)
			right += c.count[confusionCell{s.Name, moment, "exact"}]
		}
	}
	return right, all
}

// dotted shows a count so that the zeros do not hide the others.
func dotted(n int) string {
	if n == 0 {
		return "·"
	}
	return fmt.Sprint(n)
}

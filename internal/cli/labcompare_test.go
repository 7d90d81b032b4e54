//go:build !race

// Minutes of the model for every walk: the race detector looks at walks elsewhere, and CI
// runs these without it.

package cli

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
)

// The scenario that a lab plays by itself is the file of the case study.
func TestCaseStudyIsItsFile(t *testing.T) {
	file, err := openScenario(caseStudy)
	if err != nil {
		t.Fatal(err)
	}
	if built := lab.CaseStudy(); !reflect.DeepEqual(*file, built) {
		t.Errorf("the file has %+v\nthe lab has %+v", *file, built)
	}
}

func compared(t *testing.T, seed uint64, vary lab.Variation, edits ...string) *comparison {
	t.Helper()
	scenario := lab.CaseStudy()
	c, err := compare(context.Background(), bundled(t, scenario.Runbook, edits...), &scenario, seed, vary, func(string) *progress { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if c.LeftAlone == nil || c.Auto == nil || c.Person == nil {
		t.Fatalf("not recovered: %+v", c)
	}
	return c
}

// Left alone the collapse lasts as long as in the case study, 11.8 minutes; with the
// runbook no longer than 2.6, whoever approves.
func TestCompareTheCase(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		c := compared(t, seed, lab.Variation{})
		if alone := *c.LeftAlone / 60; alone < 11.8*0.95 || alone > 11.8*1.05 {
			t.Errorf("seed %d: left alone %.2f minutes", seed, alone)
		}
		if *c.Auto > 2.6*60 || *c.Person > 2.6*60 || c.Words != 2 {
			t.Errorf("seed %d: %.0f s, with a person and %d words %.0f s", seed, *c.Auto, c.Words, *c.Person)
		}
		if *c.Saved < 9.2*60*0.95 || c.Floor > *c.Auto {
			t.Errorf("seed %d: %.0f s saved, floor %.0f s", seed, *c.Saved, c.Floor)
		}
	}
}

// Two comparisons with one seed are equal, to the byte, and equal to what docs/lab.md shows.
func TestCompareIsDeterministic(t *testing.T) {
	one, two := &strings.Builder{}, &strings.Builder{}
	for _, to := range []*strings.Builder{one, two} {
		if err := compared(t, 1, lab.Variation{}).write(to); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != two.String() {
		t.Errorf("one seed, two results:\n%s%s", one, two)
	}
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(one.String()) {
		if !strings.Contains(string(doc), "    "+line) {
			t.Errorf("docs/lab.md does not show %s", line)
		}
	}
}

// docs/lab.md lists every bundled scenario.
func TestDocListsTheScenarios(t *testing.T) {
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range bundledScenarios() {
		if !strings.Contains(string(doc), "| `"+name+"` | ") {
			t.Errorf("docs/lab.md does not list %s", name)
		}
	}
}

// measures are what a setting moves. A time that is not reached is the longest.
type measures struct {
	alone, walked         float64 // seconds from the collapse
	lostAlone, lostWalked float64 // reads refused or failed
}

// setting is a service and a runbook that differ from what is bundled.
type setting struct {
	vary  lab.Variation
	edits []string // of the runbook
}

// measured plays a scenario under a setting, left alone and walked.
func measured(t *testing.T, scenario string, s setting) measures {
	t.Helper()
	played, err := openScenario(scenario)
	if err != nil {
		t.Fatal(err)
	}
	doc := bundled(t, played.Runbook, s.edits...)
	begin := beginning(doc, played, played.Seed, s.vary)
	var c comparison
	if err := c.leaveAlone(context.Background(), begin, longestTrial); err != nil {
		t.Fatal(err)
	}
	if c.Auto, c.LostAuto, _, err = recoverWith(context.Background(), begin, 0); err != nil {
		t.Fatal(err)
	}
	if c.Auto == nil {
		t.Fatalf("%s is not recovered under %+v", scenario, s)
	}
	m := measures{alone: longestTrial.Seconds(), walked: *c.Auto, lostAlone: float64(c.LostAlone), lostWalked: float64(c.LostAuto)}
	if c.LeftAlone != nil {
		m.alone = *c.LeftAlone
	}
	return m
}

// atKnee is a service whose origin bends elsewhere, with a limit to match.
func atKnee(knee, limit int) setting {
	to := strconv.Itoa(limit)
	return setting{lab.Variation{Knee: knee}, []string{"limit: {value: 3200", "limit: {value: " + to, "max: 3200", "max: " + to}}
}

// What makes a collapse worse makes it worse step by step, left alone and walked. Which
// measures a step must raise is said by the letters of moves, as in docs/lab.md: a and w
// for the times left alone and walked, A and W for the reads that got no answer. The
// others may not fall.
func TestCompareIsSensitive(t *testing.T) {
	processes := func(n int) setting { return setting{vary: lab.Variation{PerDomain: n}} }
	stale := func(d time.Duration) setting { return setting{vary: lab.Variation{SteadyStale: d}} }
	extended := func(to string) setting { return setting{edits: []string{"to: 120s", "to: " + to}} }
	cell := func(percent int) setting { return setting{vary: lab.Variation{LostCell: percent}} }
	const collapse, expiry = "hot-key-collapse", "synchronized-expiry"
	tests := []struct {
		name, scenario, moves string
		steps                 []setting // the best first
	}{
		{"a lower knee", collapse, "awAW", []setting{atKnee(4800, 3800), {}, atKnee(4000, 3000)}},
		{"more domains", collapse, "aA", []setting{processes(240), {}, processes(1)}},
		{"more domains", expiry, "wAW", []setting{processes(240), {}, processes(1)}},
		{"a shorter stale window", collapse, "awAW", []setting{stale(60 * time.Second), stale(30 * time.Second), {}}},
		{"a shorter extended window", collapse, "W", []setting{{}, extended("90s"), extended("60s")}},
		{"a bigger cell", collapse, "awAW", []setting{cell(20), {}, cell(35)}},
	}
	seen := map[string]measures{}
	for _, test := range tests {
		var before measures
		for i, step := range test.steps {
			key := fmt.Sprint(test.scenario, step)
			if _, played := seen[key]; !played {
				seen[key] = measured(t, test.scenario, step)
			}
			now := seen[key]
			t.Logf("%s, %s: left alone %.0f s, walked %.0f s, unserved reads %.0f and %.0f", test.name, test.scenario, now.alone, now.walked, now.lostAlone, now.lostWalked)
			if fell := before.notRaised(now, test.moves); i > 0 && fell != "" {
				t.Errorf("%s, %s: step %d does not raise %s", test.name, test.scenario, i, fell)
			}
			before = now
		}
	}
}

// notRaised names the measures that a step does not raise as it must, or lowers by more
// than a fiftieth.
func (m measures) notRaised(after measures, must string) string {
	var names strings.Builder
	for _, v := range []struct {
		name          string
		before, after float64
	}{{"a", m.alone, after.alone}, {"w", m.walked, after.walked}, {"A", m.lostAlone, after.lostAlone}, {"W", m.lostWalked, after.lostWalked}} {
		if strings.Contains(must, v.name) && v.after <= v.before || v.after < 0.98*v.before {
			names.WriteString(v.name)
		}
	}
	return names.String()
}

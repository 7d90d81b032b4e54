//go:build !race

// Minutes of the model for every walk: the race detector looks at walks elsewhere, and CI
// runs these without it.

package cli

import (
	"context"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
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

// bundled parses a bundled runbook with some of its text replaced: old, new, old, new.
func bundled(t *testing.T, name string, edits ...string) *runbook.Document {
	t.Helper()
	source, err := templates.Files.ReadFile(path.Join(runbooksDir, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(edits...).Replace(string(source))
	doc, problems := runbook.Parse(name+".yaml", []byte(text), nil)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return doc
}

func compared(t *testing.T, seed uint64, vary lab.Variation, edits ...string) *comparison {
	t.Helper()
	scenario := lab.CaseStudy()
	c, err := compare(context.Background(), bundled(t, scenario.Runbook, edits...), &scenario, seed, vary)
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

// setting is one side of a comparison of comparisons.
type setting struct {
	vary  lab.Variation
	edits []string // of the runbook
}

// What makes a collapse worse makes both worse, left alone and recovered: in time, as far as
// the pace of warming does not decide, and in reads that got no answer. Within the limit of
// admission the number of domains hardly counts.
func TestCompareIsSensitive(t *testing.T) {
	tests := []struct {
		name          string
		better, worse setting
	}{
		{"a higher knee",
			setting{lab.Variation{Knee: 4800}, []string{"limit: {value: 3200", "limit: {value: 3600", "max: 3200", "max: 3600"}}, setting{}},
		{"fewer domains", setting{vary: lab.Variation{PerDomain: 240}}, setting{vary: lab.Variation{PerDomain: 1}}},
		{"a shorter stale window",
			setting{vary: lab.Variation{SteadyStale: 30 * time.Second}},
			setting{lab.Variation{SteadyStale: 5 * time.Second}, []string{"to: 120s", "to: 20s"}}},
		{"a bigger cell", setting{}, setting{vary: lab.Variation{LostCell: 35}}},
	}
	for _, test := range tests {
		better := compared(t, 1, test.better.vary, test.better.edits...)
		worse := compared(t, 1, test.worse.vary, test.worse.edits...)
		if *better.LeftAlone >= *worse.LeftAlone || *better.Auto > *worse.Auto {
			t.Errorf("%s: left alone %.0f and %.0f s, recovered %.0f and %.0f s", test.name, *better.LeftAlone, *worse.LeftAlone, *better.Auto, *worse.Auto)
		}
		if better.LostAlone >= worse.LostAlone || float64(better.LostAuto) > 1.02*float64(worse.LostAuto) {
			t.Errorf("%s: unserved reads left alone %d and %d, recovered %d and %d", test.name, better.LostAlone, worse.LostAlone, better.LostAuto, worse.LostAuto)
		}
		t.Logf("%s: left alone %.0f and %.0f s, recovered %.0f and %.0f s, unserved reads %d and %d, %d and %d", test.name,
			*better.LeftAlone, *worse.LeftAlone, *better.Auto, *worse.Auto, better.LostAlone, worse.LostAlone, better.LostAuto, worse.LostAuto)
	}
}

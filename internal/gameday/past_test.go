//go:build !race

package gameday

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/runbook"
)

// ownLibrary has a runbook of a service that is not the catalog, and files of a folder.
type ownLibrary struct {
	bundled
	dir string
}

func (l ownLibrary) Runbook(name string, set map[string]string) (*runbook.Document, error) {
	source, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		return nil, err
	}
	doc, problems := runbook.Parse(name+".yaml", source, set)
	return doc, problems.Err()
}

func (l ownLibrary) File(name string) ([]byte, error) { return os.ReadFile(filepath.Join(l.dir, name)) }

// rehearsal is an incident of the past: the queue is long for two minutes. Once a sample is missing.
const rehearsal = `apiVersion: rewarm/v1
kind: GameDay
name: search
about: the outage of May again
runbook: search
past:
  interval: 5s
%s
duration: 6m
operator: {reacts: 20s, approve: person, word: 4s}
timeline: [{at: 40s, event: prometheus-stale, for: 30s}]
expect:
  - {name: limited, at: 30s, holds: [{control: index.admission, equals: 500}]}
  - {name: not widened while the queue is long, at: 121s, holds: [{control: index.admission, equals: 500}]}
  - {name: recovered, eventually: [{score: recovered, above: 130s}]}
  - {name: widened, finally: [{control: index.admission, equals: 1000}, {score: left, equals: 0}]}
  - {name: no model, never: [{score: lost-reads, at_least: 0}]}
`

const asSeries = `  input:
    - {series: 'search_queries_total{index="a"}', values: '0+6000x23 144000+2500x60'}
    - {series: 'search_queue_seconds', values: '9x10 _ 9x11 0.2x60'}`

func playPast(t *testing.T, text, dir string) *Result {
	t.Helper()
	day, err := Parse("day.yaml", []byte(text), ownLibrary{dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r, err := day.Play(t.Context(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOwnPast(t *testing.T) {
	r := playPast(t, fmt.Sprintf(rehearsal, asSeries), "")
	if r.Modelled || !r.Past || r.Scenario != "" {
		t.Errorf("the figures are said to be a model's: %t, of the past: %t, of scenario %q", r.Modelled, r.Past, r.Scenario)
	}
	for _, v := range r.Verdicts {
		if v.Held == (v.Name == "no model") {
			t.Errorf("%s: %s: %q", v.Name, v.Why, v.Readings)
		}
	}
}

// An export of ranges gives the same incident as its series.
func TestExportedPast(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"search_queries_total","index":"a"},"values":[`)
	v := 0
	for i := range 85 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `[%d,"%d"]`, 1_700_000_000+5*i, v)
		if v += 6000; i > 22 {
			v -= 3500
		}
	}
	b.WriteString(`]},{"metric":{"__name__":"search_queue_seconds"},"values":[`)
	for i := range 85 {
		if i == 11 {
			continue
		}
		if i > 0 {
			b.WriteString(",")
		}
		value := "9"
		if i >= 24 {
			value = "0.2"
		}
		fmt.Fprintf(&b, `[%d.25,"%s"]`, 1_700_000_000+5*i, value)
	}
	b.WriteString("]}]}}")
	if err := os.WriteFile(filepath.Join(dir, "may.json"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	exported := playPast(t, fmt.Sprintf(rehearsal, "  export: [may.json]"), dir)
	series := playPast(t, fmt.Sprintf(rehearsal, asSeries), "")
	for _, name := range []string{"recovered", "closed", "words"} {
		a, _ := exported.Score(name)
		b, _ := series.Score(name)
		if a != b || a == 0 {
			t.Errorf("%s is %v of the export and %v of the series", name, a, b)
		}
	}
}

func TestWrongPasts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "no.json"), []byte(`{"status":"error"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for past, want := range map[string]string{
		"  input: [{series: 'up{', values: '1'}]":                           "day.yaml:8:11: ",
		"  input: [{series: up, values: '1x3'}, {series: up, values: '1'}]": "is there twice",
		"  input: [{series: up, values: '1x200000'}]":                       "lengthen the interval",
		"  input: [{series: up}]":                                           "day.yaml:8:11: the series has no values",
		"  export: [no.json]":                                               "day.yaml:8:12: no.json is no answer of /api/v1/query_range",
		"  export: [missing.json]":                                          "missing.json",
		"  input: [{series: up, values: '1'}]\nscenario: cell-loss":         "the game day has a scenario and a past",
		"  input: [{series: up, values: '1'}]\nmistakes: {a: {about: b, timeline: [{at: 3s, event: lose-cell}]}}": "needs a scenario",
	} {
		_, err := Parse("day.yaml", fmt.Appendf(nil, rehearsal, past), ownLibrary{dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", past, err)
		}
	}
}

package gameday

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
	"github.com/rewarm/rewarm/templates"
)

// bundled is the library of the documents that come with rewarm.
type bundled struct{}

func (bundled) Scenario(name string) (*lab.Scenario, error) {
	source, err := templates.Files.ReadFile("scenarios/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	return lab.ParseScenario(name+".yaml", source)
}

func (bundled) Runbook(name string, set map[string]string) (*runbook.Document, error) {
	source, err := templates.Files.ReadFile("runbooks/" + name + ".yaml")
	if err != nil {
		source, err = templates.Files.ReadFile("mistaken/" + name + ".yaml")
	}
	if err != nil {
		return nil, err
	}
	doc, problems := runbook.Parse(name+".yaml", source, set)
	return doc, problems.Err()
}

func (bundled) File(name string) ([]byte, error) { return os.ReadFile(name) }

// short is a day of 62 s, in which a cell is lost and the walk begins at 30 s.
const short = `apiVersion: rewarm/v1
kind: GameDay
name: short
about: for a test
scenario: cell-loss
duration: 62s
`

func parse(t *testing.T, text string) *Day {
	t.Helper()
	day, err := Parse("day.yaml", []byte(text), bundled{})
	if err != nil {
		t.Fatal(err)
	}
	return day
}

func play(t *testing.T, text string, o Options) *Result {
	t.Helper()
	if o.Seed == 0 {
		o.Seed = 1
	}
	r, err := parse(t, text).Play(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is unknown is never taken for true, and what was never judged has not held.
func TestUnknownIsNotTrue(t *testing.T) {
	r := play(t, strings.Replace(short, "62s", "20s", 1)+`
probes:
  nobody: {query: 'sum(rate(nobody_counts_this_total[5s]))', unit: reads/s}
expect:
  - {name: always, always: [{probe: nobody, at_most: 1}]}
  - {name: never, never: [{probe: nobody, at_most: 1}]}
  - {name: eventually, eventually: [{probe: nobody, at_least: 0}]}
  - {name: at, at: 5s, holds: [{probe: nobody, at_least: 0}]}
  - {name: finally, finally: [{probe: nobody, at_least: 0}]}
`, Options{})
	for _, v := range r.Verdicts {
		if v.Held || !strings.HasPrefix(v.Why, "never judged") {
			t.Errorf("%s: held %v, %s", v.Name, v.Held, v.Why)
		}
	}
	if r.Passed {
		t.Error("the day passed")
	}
}

// A broken expectation names the first moment and what was read then.
func TestFirstBrokenMoment(t *testing.T) {
	r := play(t, strings.Replace(short, "62s", "60s", 1)+`runbook: none
timeline: [{at: 20s, event: edit, control: origin.admission, to: 2000}, {at: 30s, event: edit, control: origin.admission, to: 400}]
expect: [{name: admission, from: 21s, always: [{control: origin.admission, at_least: 1000}]}]
`, Options{})
	v := r.Verdicts[0]
	if v.Held || v.At != 30 || len(v.Readings) != 1 || !strings.Contains(v.Readings[0], "400 attempts/s < 1000 attempts/s") {
		t.Errorf("%+v", v)
	}
	if r.Ending != "none" {
		t.Errorf("nobody walks, and the run is %s", r.Ending)
	}
}

// A mistake is made only when it is asked for.
func TestMistakes(t *testing.T) {
	text := strings.Replace(short, "62s", "20s", 1) + `runbook: none
mistakes:
  widen: {about: he widens the stale window, timeline: [{at: 10s, event: edit, control: stale.product-detail, to: 60s}]}
expect: [{name: stale, finally: [{control: stale.product-detail, equals: 60s}]}]
`
	if play(t, text, Options{}).Passed || !play(t, text, Options{Mistakes: []string{"widen"}}).Passed {
		t.Error("the mistake was made unasked, or was not made")
	}
	if _, err := parse(t, text).Play(t.Context(), Options{Mistakes: []string{"other"}}); err == nil {
		t.Error("an unknown mistake was made")
	}
}

func TestSameSeedSameDay(t *testing.T) {
	text := short + `
timeline: [{at: 40s, event: prometheus-partial, for: 5s}, {at: 50s, event: kill-operator, for: 5s}]
expect: [{name: recovered, eventually: [{score: recovered, above: 0s}]}]
`
	var plays []string
	for _, seed := range []uint64{7, 7, 8} {
		b, err := json.Marshal(play(t, text, Options{Seed: seed}).Scores)
		if err != nil {
			t.Fatal(err)
		}
		plays = append(plays, string(b))
	}
	if plays[0] != plays[1] || plays[0] == plays[2] {
		t.Errorf("of seeds 7, 7 and 8:\n%s", strings.Join(plays, "\n"))
	}
}

// The log of a day on disk is one that verifies, also after its process was killed.
func TestJournalOnDisk(t *testing.T) {
	path := t.TempDir() + "/run/audit.jsonl"
	r := play(t, short+`
timeline: [{at: 40s, event: kill-operator, for: 5s}]
expect: [{name: resumed, eventually: [{records: resumed, equals: 1}]}]
`, Options{Journal: func(_ string, clock Clock) (Journal, error) { return FileJournal(path, clock) }})
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed || !strings.Contains(string(log), `"kind":"resumed"`) {
		t.Errorf("%+v", r.Verdicts)
	}
}

// Who said something to the run stands beside it; nobody has said what was done past it.
func TestDeedsNameWhoSaidThem(t *testing.T) {
	r := play(t, short+`
timeline: [{at: 35s, event: order, order: hold, text: wait}, {at: 45s, event: edit, control: origin.admission, to: 4000}]
expect: [{name: quiet, finally: [{score: words, at_least: 0}]}]
`, Options{})
	got := map[steps.OrderKind]string{}
	for _, d := range r.Deeds {
		got[d.Deed] = d.By
	}
	if want := map[steps.OrderKind]string{steps.OrderHold: "operator", DeedEdit: ""}; !maps.Equal(got, want) {
		t.Errorf("deeds by %v", got)
	}
}

package runbook

import (
	"strings"
	"testing"
)

const someRules = `apiVersion: rewarm/v1
kind: Diagnosis
name: catalog
figures:
  limit: {value: 1, unit: attempts/s}
  window: {value: 5, unit: s}
probes:
  age: {query: 'max_over_time(queue_age[${window}s])', unit: s}
  offered: {query: 'sum(rate(attempts[${window}s])) / ${limit}', unit: ratio}
modes:
  cell-loss:
    needs: [{says: it waits, when: [{probe: age, at_least: 500ms}]}]
    runbook: cell-loss
pictures:
  full: {needs: [{says: it is full, when: [{probe: offered, above: 1}]}], advice: hold}
`

func measuredBook() *Document {
	return &Document{Service: "catalog", Defaults: builtIn, Figures: []Figure{{Name: "limit", Value: 3200, Unit: "attempts/s"}}}
}

// The figures of the runbook stand, those of the last file count in the queries of all,
// and what has a name is replaced in its place.
func TestRulesReplaceByName(t *testing.T) {
	own := `apiVersion: rewarm/v1
kind: Diagnosis
name: own
figures: {window: {value: 60, unit: s}}
modes:
  cell-loss:
    needs: [{says: it waits long, when: [{probe: age, at_least: 2s}]}]
    runbook: mine.yaml
  hot-shard:
    needs: [{says: it is full, when: [{probe: offered, above: 1}]}]
    runbook: hot-shard
`
	rules, problems := ParseDiagnosis(measuredBook(), RuleFile{"rules.yaml", []byte(someRules)}, RuleFile{"own.yaml", []byte(own)})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	doc := rules.Document()
	for name, want := range map[string]string{
		"age": "max_over_time(queue_age[60s])", "offered": "sum(rate(attempts[60s])) / 3200",
	} {
		if got := doc.Probe(name).Query; got != want {
			t.Errorf("%s asks %s, want %s", name, got, want)
		}
	}
	if len(rules.Modes) != 2 || rules.Modes[0].Runbook != "mine.yaml" || rules.Modes[0].Needs[0].When[0][0].Operand.Number != 2 {
		t.Errorf("modes: %+v", rules.Modes)
	}
	if len(rules.Pictures) != 1 || rules.Pictures[0].Advice != "hold" {
		t.Errorf("pictures: %+v", rules.Pictures)
	}
}

func TestRulesAreStrict(t *testing.T) {
	for _, c := range []struct{ replace, with, want string }{
		{"kind: Diagnosis", "kind: Runbook", `rules.yaml:2:7: kind "Runbook" where Diagnosis is expected (write kind: Diagnosis)`},
		{"  cell-loss:", "  cell-lost:", `rules.yaml:11:3: a mode cannot be "cell-lost"`},
		{"probe: age,", "probe: ages,", `rules.yaml:12:45: probe ages is not declared`},
		{"500ms", "500", ``},
		{"500ms", "500 keys", `unit "keys" does not fit probe age`},
		{"says: it waits, ", "", "the sign has no says"},
		{"    runbook: cell-loss\n", "", "mode cell-loss has no runbook"},
		{", advice: hold", ", advise: hold", `picture full has no key "advise" (did you mean "advice"?)`},
		{"${window}", "${windows}", "windows"},
		{"probes:", "history: ages\nprobes:", `rules.yaml:7:10: probe ages is not declared`},
		{"probes:", "history: offered\nprobes:", `rules.yaml:7:10: probe offered is in "ratio", history is in s (give it a query in seconds and unit: s)`},
		{"probes:", "history: age\nprobes:", ""},
		{"name: catalog", "name: catalog\nname: twice", "name"},
	} {
		source := strings.Replace(someRules, c.replace, c.with, 1)
		_, problems := ParseDiagnosis(measuredBook(), RuleFile{"rules.yaml", []byte(source)})
		if got := problems.Error(); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q for %q: %s\nwant %s", c.with, c.replace, got, c.want)
		}
	}
}

// Bounds that were read before are numbers in the unit of the probe that they had.
func TestReplacingProbeKeepsUnit(t *testing.T) {
	own := "apiVersion: rewarm/v1\nkind: Diagnosis\nname: own\nprobes:\n  age: {query: queue_age_ms, unit: ms}\n"
	_, problems := ParseDiagnosis(measuredBook(), RuleFile{"rules.yaml", []byte(someRules)}, RuleFile{"own.yaml", []byte(own)})
	if got := problems.Error(); !strings.Contains(got, `own.yaml:5:3: probe age replaces one in "s" and is in "ms" (write unit: s`) {
		t.Error(got)
	}
}

func FuzzParseDiagnosis(f *testing.F) {
	f.Add([]byte(someRules))
	f.Fuzz(func(t *testing.T, source []byte) {
		rules, problems := ParseDiagnosis(measuredBook(), RuleFile{"rules.yaml", source})
		if (rules == nil) != (len(problems) > 0) {
			t.Errorf("rules %v, problems %v", rules, problems)
		}
	})
}

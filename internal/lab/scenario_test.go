package lab

import (
	"os"
	"strings"
	"testing"
)

const scenarioText = `apiVersion: rewarm/v1
kind: Scenario
name: two
about: a cell, then the tier
modes: [cell-loss, tier-loss]
runbook: tier-loss
seed: 7
start: 10:01:00
events:
  - {at: 10:00:00, event: lose-cell, cell: cell-b, copies: kept}
  - {at: 10:00:30, event: lose-tier, copies: gone}
`

func TestParseScenario(t *testing.T) {
	s, err := ParseScenario("two.yaml", []byte(scenarioText))
	if err != nil {
		t.Fatal(err)
	}
	if s.Seed != 7 || s.Start != clock(10, 1, 0) || len(s.Modes) != 2 || len(s.Events) != 2 {
		t.Errorf("%+v", s)
	}
	if e := s.Events[0]; e.Kind != LoseCell || e.Cell != "cell-b" || !e.Copies || e.At != clock(10, 0, 0) {
		t.Errorf("%+v", e)
	}
}

// What is wrong is said with its place.
func TestParseScenarioErrors(t *testing.T) {
	tests := []struct{ old, new, want string }{
		{"kind: Scenario", "kind: Runbook", `two.yaml:2:7: "Runbook" is not Scenario`},
		{"seed: 7", "sede: 7", `two.yaml:7:1: a scenario has no key "sede"`},
		{"seed: 7\n", "", "two.yaml:1:1: the scenario lacks the key seed"},
		{"seed: 7", "seed: -7", `"-7" is no whole number`},
		{"10:01:00", "10:1", `two.yaml:8:8: "10:1" is no time of day like 10:07:30`},
		{"10:01:00", "09:00:00", "begins at 09:58:00 or later"},
		{"cell: cell-b", "cell: cell-x", `two.yaml:10:44: there is no cell "cell-x"`},
		{"copies: gone", "copies: lost", `copies are kept or gone, not "lost"`},
		{", copies: gone", "", "two.yaml:11:5: the event lose-tier lacks the key copies"},
		{"copies: gone", "copies: gone, keys: 3", `lose-tier has no key "keys"`},
		{"event: lose-tier", "event: explode", `not "explode"`},
		{"10:00:30", "09:59:30", "events stand in the order of their times"},
		{"apiVersion", "\tapiVersion", "two.yaml:1:"},
		{scenarioText, "", "holds no scenario"},
		{scenarioText, "- a\n", "a scenario is a mapping"},
		{"name: two", "name: two\nname: three", "two.yaml:4:"},
	}
	for _, test := range tests {
		text := strings.Replace(scenarioText, test.old, test.new, 1)
		_, err := ParseScenario("two.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %q for %q the error is %v, want %q in it", test.new, test.old, err, test.want)
		}
	}
}

// docs/lab.md lists every kind of event with its keys.
func TestDocumentListsTheEvents(t *testing.T) {
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, keys := range eventKeys {
		row := "| `" + string(kind) + "` | `" + strings.Join(keys, ", ") + "` |"
		if len(keys) == 0 {
			row = "| `" + string(kind) + "` | |"
		}
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/lab.md has no row %s", row)
		}
	}
}

func FuzzParseScenario(f *testing.F) {
	f.Add(scenarioText)
	f.Add("events: [{at: 10:00:00, event: launch, share: 28%}]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScenario("fuzz.yaml", []byte(text))
		if (s == nil) == (err == nil) {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// An event that stands in another file is read alike, and its mistakes are said where it stands.
func TestEventOfAnotherFile(t *testing.T) {
	e, err := ParseEvent("day.yaml", 7, 5, AddClients, []EventField{{"processes", "48", 7, 30}})
	if err != nil || e.Kind != AddClients || e.Processes != 48 {
		t.Errorf("%+v, %v", e, err)
	}
	_, err = ParseEvent("day.yaml", 7, 5, LoseCell, []EventField{{"cell", "cell-x", 7, 30}})
	if err == nil || !strings.Contains(err.Error(), `day.yaml:7:30: there is no cell "cell-x"`) ||
		!strings.Contains(err.Error(), "the event lose-cell lacks the key copies") {
		t.Error(err)
	}
}

package gameday

import (
	"path"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/templates"
)

// library are the bundled days by their names.
func library(t *testing.T) map[string]*Day {
	t.Helper()
	entries, err := templates.Files.ReadDir("gamedays")
	if err != nil {
		t.Fatal(err)
	}
	days := map[string]*Day{}
	for _, entry := range entries {
		file := path.Join("gamedays", entry.Name())
		source, err := templates.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		day, err := Parse(file, source, bundled{})
		if err != nil {
			t.Fatal(err)
		}
		if file != path.Join("gamedays", day.Name+".yaml") {
			t.Errorf("%s is of the day %s", file, day.Name)
		}
		days[day.Name] = day
	}
	return days
}

// Each state of the lab has a day, and the library is as large as it is said to be.
func TestStatesHaveDays(t *testing.T) {
	days := library(t)
	if len(days) < 15 {
		t.Errorf("only %d days", len(days))
	}
	played := map[string]bool{}
	for _, day := range days {
		played[day.Scenario] = true
	}
	scenarios, err := templates.Files.ReadDir("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		if name := strings.TrimSuffix(s.Name(), ".yaml"); !played[name] {
			t.Errorf("no day plays the scenario %s", name)
		}
	}
}

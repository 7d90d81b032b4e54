package gameday

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

// library are the bundled days by their names.
func library(t *testing.T) map[string]*Day {
	t.Helper()
	days, err := parsedLibrary()
	if err != nil {
		t.Fatal(err)
	}
	return days
}

// parsedLibrary reads every bundled day once.
var parsedLibrary = sync.OnceValues(func() (map[string]*Day, error) {
	files, err := fs.Glob(templates.Files, "gamedays/*.yaml")
	if err != nil {
		return nil, err
	}
	days := map[string]*Day{}
	for _, file := range files {
		source, err := templates.Files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		day, err := Parse(file, source, bundled{})
		if err != nil {
			return nil, err
		}
		if file != "gamedays/"+day.Name+".yaml" {
			return nil, fmt.Errorf("%s is of the day %s", file, day.Name)
		}
		days[day.Name] = day
	}
	return days, nil
})

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

// The reference lists every bundled day with what it is about and what it teaches.
func TestDaysAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/gamedays.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- days -->")
	table, _, _ = strings.Cut(table, "\n\n")
	days := library(t)
	for name, day := range days {
		if row := "| `" + name + "` | " + strings.TrimSuffix(day.About, ".") + " | " + day.Lesson + " |"; !strings.Contains(table, row) {
			t.Errorf("docs/gamedays.md has no row %s", row)
		}
	}
	if rows := strings.Count(table, "\n| `"); rows != len(days) {
		t.Errorf("docs/gamedays.md lists %d days, and there are %d", rows, len(days))
	}
}

// Lint names the mistake of each runbook that is one, and a day says what it breaks.
func TestMistakesAreNamed(t *testing.T) {
	for book, rule := range map[string]string{
		"exit-on-hit-ratio": "exit-on-hit-ratio", "limit-above-knee": "admission-at-knee",
		"one-jump": "ladder-jumps", "warm-first": "prewarm-uncharged",
	} {
		day := library(t)[book]
		if day == nil || day.Runbook != book || len(day.Breaks) == 0 {
			t.Errorf("no day says what the runbook %s breaks", book)
			continue
		}
		if !slices.ContainsFunc(runbook.Lint(day.Book), func(f runbook.LintFinding) bool { return f.Rule == rule }) {
			t.Errorf("lint does not find %s in the runbook %s", rule, book)
		}
	}
}

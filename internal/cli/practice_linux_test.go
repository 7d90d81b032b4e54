package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rumbling is a day whose names tell what they hide, with a runbook that waits for its person however slow this machine
// is. The script gives up early, which is not seen by a person and saves time.
func rumbling(t *testing.T, timeline string) string {
	t.Helper()
	book, err := os.ReadFile(patientBook(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"volcano.yaml": `apiVersion: rewarm/v1
kind: GameDay
name: volcano
about: Lava takes a cell away.
lesson: run
scenario: earthquake.yaml
runbook: lava.yaml
duration: 12m
operator: {reacts: 1s, approve: person, word: 5s, modes: [cell-loss]}
timeline:
` + timeline + `
  - {at: 30s, event: order, order: abort}
expect:
  - {name: nobody is burnt, never: [{records: skipped, where: {step: allow-prewarm}, at_least: 1}]}
`,
		"earthquake.yaml": `apiVersion: rewarm/v1
kind: Scenario
name: earthquake
about: The ground shakes.
modes: [cell-loss]
runbook: lava.yaml
seed: 1
start: 10:07:30
events: [{at: 10:07:00, event: lose-cell, cell: cell-c, copies: kept}]
`,
		"lava.yaml": strings.Replace(string(book), "name: hot-key-collapse", "name: lava", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "volcano.yaml")
}

// hides demands that a text does not tell what breaks.
func hides(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{"volcano", "earthquake", "lava", "Lava", "shakes", "burnt", "lose-cell", "kept"} {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("%s tells %q: %q", what, secret, text[max(0, at-60):min(len(text), at+60)])
		}
	}
}

// TestPracticeAtTheConsole: the screens hide what broke, and who leaves at once is told all the same.
func TestPracticeAtTheConsole(t *testing.T) {
	s := sitAtConsole(t, 80, 24, "gameday", "run", rumbling(t, ""), "--operator", "human", "--speed", "10")
	s.showed("you were called 1s ago: something is wrong with catalog")
	s.showed("the end tells what it was; no other terminal reaches this lab")
	s.shows("may: an answer")
	for key, view := range map[string]string{"\x05": "── events", "\x10": "── probes", "\x07": "── queue-age", "\x0f": "── controls", "?": "── help"} {
		s.types(key)
		s.shows(view)
		hides(t, view, s.picture())
	}
	s.types("\x1b")
	s.shows("may: an answer")
	hides(t, "the board", s.picture())
	for range 5 {
		s.types("\x03")
	}
	s.sees("this was game day volcano: ")
	s.sees("stopped the walk")
	s.sees("the service had not recovered")
	s.sees("the log verifies: ")
	if code := s.ends(); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
	again, err := exec.Command("rewarm", "resume", "last", "--state-dir", s.state).CombinedOutput()
	if err == nil || !strings.Contains(string(again), "was a practice, whose lab ended with its process\nrewarm: hint: start another with rewarm gameday run DAY --operator human\n") {
		t.Errorf("resume says %v: %s", err, again)
	}
}

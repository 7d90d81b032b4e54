package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rumbling is a day whose names tell what they hide, with a runbook that waits for its person however slow this machine
// is; what happens then waits for them, too.
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
` + timeline + `
expect:
  - {name: nobody is burnt, finally: [{score: left, equals: 0}]}
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

// practised gives the log of the practice and what is kept beside it.
func (s *seat) practised() (log, compared string) {
	s.t.Helper()
	folders, err := filepath.Glob(filepath.Join(s.state, "runs", "*-practice-*"))
	if err != nil || len(folders) != 1 {
		s.t.Fatalf("%v: %v", folders, err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folders[0], name))
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
	return read("audit.jsonl"), read("practice.json")
}

// TestPractice: a person walks a game day in lines, errs, and is told at the end alone what it was.
func TestPractice(t *testing.T) {
	s := sitDown(t, "gameday", "run", rumbling(t, ""), "--operator", "human", "--plain", "--speed", "40")
	s.sees("you were called 1s ago: something is wrong with catalog; the end tells what")
	s.declares("7")
	s.sees("approval: allow-prewarm: ")
	s.types("skip allow-prewarm too early\n")
	s.sees("skipped by ")
	s.types("abort enough\n")
	s.sees("aborted by ")
	s.sees("this was game day volcano: scenario earthquake, runbook ")
	hides(t, "the screen", s.shown()[:strings.Index(s.shown(), "this was game day")])
	s.sees("it broke  The ground shakes.")
	s.sees("origin-fault, WRONG")
	s.sees("declared origin-fault; it was cell-loss")
	s.sees("skipped allow-prewarm: too early")
	s.sees("aborted the walk: enough")
	s.sees("BROKEN  nobody is burnt: ", "; the script held it")
	s.sees("script  rewarm gameday run ")
	if code := s.ends(); code != exitNotHeld {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
	log, compared := s.practised()
	hides(t, "the log", log)
	if !strings.Contains(compared, `"wrong_moves":[{"seconds":`) || !strings.Contains(compared, `"scenario":"earthquake"`) {
		t.Errorf("beside the log stands %.300s", compared)
	}
}

// TestPracticeAtTheConsole: the screens hide what broke, and who leaves at once is told all the same.
func TestPracticeAtTheConsole(t *testing.T) {
	s := sitAtConsole(t, 80, 24, "gameday", "run", rumbling(t, ""), "--operator", "human", "--speed", "10")
	s.showed("you were called 1s ago: something is wrong with catalog; the end tells what")
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
	s.sees("the log verifies: ")
	if code := s.ends(); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
}

// TestPracticeIsInterfered: a process of the person is killed and the next goes on with the log; then somebody takes the
// command over, and walks on.
func TestPracticeIsInterfered(t *testing.T) {
	day := rumbling(t, `timeline:
  - {when: [{records: approved, at_least: 1}], event: kill-operator, for: 5s}
  - {when: [{records: noted, where: {text: all yours}, at_least: 1}], event: take-over, reason: my turn}`)
	s := sitDown(t, "gameday", "run", day, "--operator", "human", "--plain", "--speed", "40")
	s.declares("2")
	s.sees("approval: allow-prewarm: ")
	s.types("approve\n")
	s.sees("the process of this walk was killed, and what it added to the load dies with it")
	s.sees("resumed")
	s.sees("approval: allow-prewarm: ")
	s.types("note all yours\n")
	s.sees("the rest of the day was played without you")
	s.sees("this was game day volcano: ")
	if code := s.ends(); code != exitDone && code != exitNotHeld {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
	log, _ := s.practised()
	hides(t, "the log", log)
}

// TestDayIsWatched: the screen follows the walk of a script into the hands of whoever takes it over. Who leaves it is told
// how the whole day went.
func TestDayIsWatched(t *testing.T) {
	day := rumbling(t, `timeline: [{at: 15s, event: take-over, reason: my turn}]`)
	s := sitAtConsole(t, 80, 24, "gameday", "run", day, "--watch", "--speed", "20")
	s.showed("may: look; on the lab nobody acts from another terminal")
	s.showed("15s of the day: take-over done")
	s.showed("by second operator")
	s.shows("watching, q leaves")
	if strings.Contains(s.shown(), "cannot be followed") {
		t.Error(s.picture())
	}
	s.types("q")
	s.sees("game day volcano: scenario earthquake, ")
	s.sees("take-over done")
	s.sees("held    nobody is burnt: ")
	s.sees("1 of 1 game day held")
	if code := s.ends(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
}

// TestPracticeInRecords: with --output json the comparison is the last line behind the records.
func TestPracticeInRecords(t *testing.T) {
	s := sitDown(t, "gameday", "run", rumbling(t, ""), "--operator", "human", "--output", "json", "--speed", "40")
	s.sees(`"kind":"begun"`)
	s.sees("may be answered until", "question: declare: ")
	s.types("abort\n")
	s.sees(`{"practice":true,"day":"volcano"`)
	if code := s.ends(); code != exitNotHeld {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	out, err := exec.Command("rewarm", "status", "last", "--state-dir", s.state).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("aborted")) {
		t.Errorf("%v: %s", err, out)
	}
}

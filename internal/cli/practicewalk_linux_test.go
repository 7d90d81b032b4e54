//go:build !race

// Several walks, each in a process of its own: the race detector looks at one at the console elsewhere, and CI runs these
// without it.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	s.sees("you were called 1s ago: something is wrong with catalog")
	s.sees("the end tells what it was; no other terminal reaches this lab")
	s.sees("type help for what you can say here")
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
	s.sees("BROKEN  nobody is burnt: ", "; it came true for the script")
	s.sees("script  rewarm gameday run ")
	s.sees("next: rewarm audit show ")
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

// TestPracticeIsInterfered: a process of the person is killed and the next goes on with the log; then somebody takes the
// command over, and walks on.
func TestPracticeIsInterfered(t *testing.T) {
	day := rumbling(t, `  - {when: [{records: approved, at_least: 1}], event: kill-operator, for: 5s}
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
	log, compared := s.practised()
	hides(t, "the log", log)
	if !strings.Contains(compared, `"event":"walk","outcome":"ended"`) {
		t.Errorf("the day does not tell that the walk was lost: %.900s", compared)
	}
}

// TestDayIsWatched: the screen follows the walk of a script into the hands of whoever takes it over. Who leaves it is told
// how the whole day went.
func TestDayIsWatched(t *testing.T) {
	day := rumbling(t, `  - {at: 15s, event: take-over, reason: my turn}`)
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
	s.sees("ok      nobody is burnt: ")
	s.sees("1 of 1 game day passed")
	if code := s.ends(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
}

//go:build realservers && linux

package cli

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
)

func init() { programs["fault"] = fault }

// fault is a program that breaks the lab, or mends it: fault break|mend DIR URL. It writes down what it does
// in DIR/deeds, and waits before it as long as there is a file DIR/break.wait or DIR/mend.wait.
func fault() {
	deed, dir, url := os.Args[1], os.Args[2], os.Args[3]
	log, err := os.OpenFile(filepath.Join(dir, "deeds"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(log, "to "+deed)
	}
	for err == nil {
		if _, gone := os.Stat(filepath.Join(dir, deed+".wait")); gone != nil {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if err == nil {
		var answer *http.Response
		if answer, err = http.Post(url, "", nil); err == nil && answer.StatusCode != http.StatusNoContent {
			err = fmt.Errorf("answered %s", answer.Status)
		}
	}
	if err == nil {
		_, err = fmt.Fprintln(log, "did "+deed)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// staging is a folder with a day that a fault breaks, on the servers of a world.
type staging struct {
	*world
	dir string
}

// stage writes a day. Its texts BREAK and MEND become the two calls.
func (w *world) stage(t *testing.T, text string) *staging {
	t.Helper()
	s := &staging{w, t.TempDir()}
	events := "http://" + w.labMetrics + "/events?event=slow-queries&"
	call := func(deed, query string) string {
		return fmt.Sprintf("[fault, %s, '%s', '%s%s']", deed, s.dir, events, query)
	}
	book, err := filepath.Abs(shortBook)
	if err != nil {
		t.Fatal(err)
	}
	text = strings.NewReplacer("BREAK", call("break", "share=50%25&factor=20"), "MEND", call("mend", "share=1%25&factor=1"), "SHORT", book).Replace(text)
	if err := os.WriteFile(filepath.Join(s.dir, "day.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *staging) run(t *testing.T, words ...string) *process {
	t.Helper()
	return start(t, "rewarm", append(words, "--prometheus", s.prometheusURL, "--redis", s.redisURL, "--state-dir", filepath.Join(s.dir, "state"))...)
}

func (s *staging) play(t *testing.T) *process {
	t.Helper()
	return s.run(t, "gameday", "run", filepath.Join(s.dir, "day.yaml"), "--target", "lab-staging")
}

// undo takes back what is open.
func (s *staging) undo(t *testing.T) {
	t.Helper()
	p := s.run(t, "gameday", "undo")
	if code := p.ends(time.Minute); code != exitDone {
		t.Fatalf("exit code %d: %s", code, p.shown())
	}
}

// waits has a deed wait until proceeds is called.
func (s *staging) waits(t *testing.T, deed string) (proceeds func()) {
	t.Helper()
	gate := filepath.Join(s.dir, deed+".wait")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *staging) deeds() []string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "deeds"))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// until waits for a deed, so many times.
func (s *staging) until(t *testing.T, deed string, times int) {
	t.Helper()
	eventually(t, func() error {
		if n := strings.Count(strings.Join(s.deeds(), "\n")+"\n", deed+"\n"); n < times {
			return fmt.Errorf("%q has come %d times: %q", deed, n, s.deeds())
		}
		return nil
	})
}

// whole demands that what was broken is mended, and that nothing is left to be taken back.
func (s *staging) whole(t *testing.T) {
	t.Helper()
	deeds := s.deeds()
	if broken := slices.Contains(deeds, "to break"); broken != slices.Contains(deeds, "did mend") || broken && deeds[len(deeds)-1] != "did mend" {
		t.Errorf("the deeds are %q", deeds)
	}
	days, err := filepath.Glob(filepath.Join(s.dir, "state", "gamedays", "*"))
	if err != nil || len(days) != 1 {
		t.Fatalf("%q, %v", days, err)
	}
	if _, open, err := (dayFolder{dir: days[0]}).read(); err != nil || len(open) > 0 {
		t.Errorf("open are %v, %v", open, err)
	}
}

func newStagingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldWith(t, "--scenario", "warm")
	if out, err := exec.Command("redis-cli", "-u", w.redisURL, "HSET", actions.TargetKey("catalog"), "target", "lab-staging").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return w
}

// Days are played one after the other on the same servers, for the second must find nothing left of the first.
func TestStagingDays(t *testing.T) {
	t.Parallel()
	w := newStagingWorld(t)
	t.Run("holds", w.dayHolds)
	w.daysInterrupted(t)
}

// dayHolds: a program breaks the service that a real Prometheus sees, the walk goes through a real Redis, and the day
// holds.
func (w *world) dayHolds(t *testing.T) {
	s := w.stage(t, `apiVersion: rewarm/v1
kind: GameDay
name: slow
about: for a test
target: {name: lab-staging}
runbook: SHORT
duration: 15s
operator: {reacts: 1s, approve: person, word: 500ms}
timeline:
  - {at: 2s, event: call, do: BREAK, undo: MEND, for: 5s}
expect:
  - {name: slow, eventually: [{probe: queue-age, above: 100ms}]}
  - {name: limited, eventually: [{control: origin.admission, equals: 3200}, {records: settled, where: {result: applied}, at_least: 1}]}
  - {name: taken back, eventually: [{records: event, where: {event: undo, outcome: done}, equals: 1}]}
  - {name: quick again, finally: [{probe: queue-age, at_most: 1s}]}
`)
	day := s.play(t)
	if code := day.ends(time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, day.shown())
	}
	s.whole(t)
	if want := []string{"to break", "did break", "to mend", "did mend"}; !slices.Equal(s.deeds(), want) {
		t.Errorf("the deeds are %q", s.deeds())
	}
	runs := s.run(t, "audit", "verify", "last", "--deep")
	if code := runs.ends(time.Minute); code != exitDone {
		t.Errorf("the log of the run: %s", runs.shown())
	}
}

// endless is a day that has a fault at this time, and lasts until somebody ends it.
const endless = `apiVersion: rewarm/v1
kind: GameDay
name: endless
about: for a test
target: {name: lab-staging}
runbook: SHORT
duration: 20m
operator: {reacts: 20m}
timeline:
  - {at: AT, event: call, do: BREAK, undo: MEND, timeout: 5s}
expect:
  - {name: never judged, finally: [{score: words, equals: 0}]}
`

// daysInterrupted: whenever a day is interrupted, in order or by a kill, what it broke is mended in the end.
func (w *world) daysInterrupted(t *testing.T) {
	at := func(t *testing.T, moment string) *staging {
		return w.stage(t, strings.Replace(endless, "AT", moment, 1))
	}
	interrupted := func(t *testing.T, day *process) {
		t.Helper()
		if code := day.ends(time.Minute); code != exitInterrupted {
			t.Errorf("exit code %d:\n%s", code, day.shown())
		}
	}
	t.Run("before it breaks anything", func(t *testing.T) {
		for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			s := at(t, "19m")
			day := s.play(t)
			day.prints("the run is ")
			if day.signal(signal); signal == syscall.SIGTERM {
				interrupted(t, day)
			}
			<-day.ended
			s.whole(t)
		}
	})
	t.Run("while it breaks something", func(t *testing.T) {
		s := at(t, "100ms")
		s.waits(t, "break")
		day := s.play(t)
		s.until(t, "to break", 1)
		day.signal(syscall.SIGTERM)
		interrupted(t, day)
		s.whole(t)
	})
	t.Run("killed while it breaks something, which goes on", func(t *testing.T) {
		s := at(t, "100ms")
		breaks := s.waits(t, "break")
		day := s.play(t)
		s.until(t, "to break", 1)
		day.kill()
		undo := s.run(t, "gameday", "undo")
		s.until(t, "did mend", 1)
		breaks()
		s.until(t, "did break", 1)
		if code := undo.ends(time.Minute); code != exitDone {
			t.Errorf("exit code %d: %s", code, undo.shown())
		}
		s.whole(t)
	})
	t.Run("when it is broken", func(t *testing.T) {
		for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			s := at(t, "100ms")
			day := s.play(t)
			day.prints("call done")
			if day.signal(signal); signal != syscall.SIGKILL {
				interrupted(t, day)
			} else {
				<-day.ended
				s.undo(t)
			}
			s.whole(t)
		}
	})
	t.Run("while it mends", func(t *testing.T) {
		for _, second := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			s := at(t, "100ms")
			mends := s.waits(t, "mend")
			day := s.play(t)
			day.prints("call done")
			day.signal(syscall.SIGTERM)
			s.until(t, "to mend", 1)
			<-time.After(2 * echo) // nobody asks twice sooner
			day.signal(second)
			<-day.ended
			if second == syscall.SIGTERM && !strings.Contains(day.shown(), "by hand: fault mend ") {
				t.Errorf("left: %s", day.shown())
			}
			mends()
			s.undo(t)
			s.whole(t)
		}
	})
}

package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/internal/notify"
)

// faultyClock is the time of this machine, until a file is there: then who waits panics, once.
type faultyClock struct {
	wallClock
	file  string
	spent *bool
}

func (c faultyClock) Wait(ctx context.Context, until time.Time) error {
	if _, err := os.Stat(c.file); err == nil && !*c.spent {
		*c.spent = true
		panic("the program is wrong")
	}
	return c.wallClock.Wait(ctx, until)
}

// stagedLab is a lab on real ports that says that game days may break it.
type stagedLab struct {
	t      *testing.T
	server *lab.Server
	dir    string
}

func newStagedLab(t *testing.T) *stagedLab {
	t.Helper()
	server, err := lab.Serve(t.Context(), lab.ServeOptions{Seed: 1, Clock: wallClock{}, Scenario: &lab.Scenario{Name: "quiet", Seed: 1, Start: 10 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	options, err := redis.ParseURL(server.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.HSet(t.Context(), actions.TargetKey("catalog"), "target", "lab-staging").Err(); err != nil {
		t.Fatal(err)
	}
	return &stagedLab{t, server, t.TempDir()}
}

func (l *stagedLab) write(name, text string) string {
	l.t.Helper()
	file := filepath.Join(l.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return file
}

// day writes a day of nine minutes on the lab: the timeline and the operator are the rest.
func (l *stagedLab) day(rest string) string {
	l.t.Helper()
	book := absolute(l.t, filepath.Join("testdata", "books", "short.yaml"))
	return l.write("day.yaml", fmt.Sprintf(`{apiVersion: rewarm/v1, kind: GameDay, name: staged, about: for a test, target: {name: lab-staging}, runbook: '%s',
duration: 9m, %s, expect: [{name: nothing, finally: [{score: words, equals: 0}]}]}`, book, rest))
}

// run runs a command on the servers of the lab.
func (l *stagedLab) run(where surroundings, out, said io.Writer, words ...string) exitCode {
	return exitCode(newProgram(strings.NewReader(""), out, said, where).run(append(words,
		"--prometheus", l.server.PrometheusURL, "--redis", l.server.RedisURL, "--state-dir", filepath.Join(l.dir, "state"))))
}

// A day that panics takes back what it has injected.
func TestPanicTakesBack(t *testing.T) {
	l := newStagedLab(t)
	broken := filepath.Join(l.dir, "broken")
	day := l.day(fmt.Sprintf(`operator: {reacts: 9m}, timeline: [{at: 1ms, event: call, do: [touch, '%s'], undo: [rm, -f, '%[1]s']}]`, broken))
	where := thisMachine()
	where.servers = faultyClock{file: broken, spent: new(bool)}
	var out, said bytes.Buffer
	func() {
		defer func() {
			if wrong := recover(); wrong != "the program is wrong" {
				t.Errorf("the panic is %v", wrong)
			}
		}()
		l.run(where, &out, &said, "gameday", "run", day, "--target", "lab-staging")
	}()
	if _, err := os.Stat(broken); err == nil || !strings.Contains(said.String(), "taken back: rm -f ") {
		t.Errorf("%v: %s%s", err, &out, &said)
	}
}

// listening are receivers in memory that can be waited for.
type listening struct {
	told
	came chan struct{}
}

func (l *listening) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.told.RoundTrip(r)
	select {
	case l.came <- struct{}{}:
	default:
	}
	return answer, err
}

// until waits until an event of a kind has come.
func (l *listening) until(kind notify.Kind) {
	for !l.has(kind) {
		<-l.came
	}
}

func (l *listening) has(kind notify.Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.events(), func(e notify.Event) bool { return e.Kind == kind })
}

// killedWhenHeld is a day whose walk is killed at the first hold, and comes back.
const killedWhenHeld = `operator: {reacts: 1ms, approve: nobody},
timeline: [{when: [{records: held, at_least: 1}], event: kill-operator, for: 1ms}]`

// The walk of a day on real servers is that of rewarm run: it takes orders from elsewhere, tells others and serves its
// metrics, also when its process was killed.
func TestStagedWalkIsAnOrdinaryOne(t *testing.T) {
	l := newStagedLab(t)
	l.write("bus-url", "https://bus.example/in")
	receivers := l.write("notify.yaml", "receivers: [{name: bus, kind: webhook, url_file: bus-url}]")
	to, signals := &listening{came: make(chan struct{}, 1)}, make(chan string, 1)
	where := thisMachine()
	where.outside = to
	where.interrupts = func() (<-chan string, func()) { return signals, func() {} }
	heard, said := io.Pipe()
	ended := make(chan exitCode)
	go func() {
		code := l.run(where, io.Discard, said, "gameday", "run", l.day(killedWhenHeld), "--target", "lab-staging",
			"--notify", receivers, "--metrics-listen", "0")
		said.Close()
		ended <- code
	}()
	lines := bufio.NewScanner(heard)
	address, found := "", false
	for !found && lines.Scan() {
		address, found = strings.CutPrefix(lines.Text(), "rewarm: metrics ")
	}
	go func() { _, _ = io.Copy(io.Discard, heard) }()
	if !found {
		t.Fatalf("no metrics are served: exit code %d", <-ended)
	}
	to.until(notify.Began)
	elsewhere := thisMachine()
	elsewhere.user, elsewhere.host = "bob", "ops-2"
	order := func(words ...string) {
		t.Helper()
		var out, said bytes.Buffer
		if code := l.run(elsewhere, &out, &said, words...); code != exitDone {
			t.Errorf("%q: exit code %d: %s%s", words, code, &out, &said)
		}
	}
	order("hold", "last", "the shift changes")
	if page := scraped(t, address); !strings.Contains(page, `rewarm_run_holds{`) {
		t.Errorf("the metrics are %s", page)
	}
	to.until(notify.Resumed)
	order("release", "last")
	order("abort", "last", "that is enough")
	to.until(notify.Aborted)
	signals <- "interrupt"
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	for _, kind := range []notify.Kind{notify.Hold, notify.Lifted, notify.Aborted} {
		if !to.has(kind) {
			t.Errorf("nobody is told of %s", kind)
		}
	}
	order("audit", "verify", "last", "--deep")
}

// A run that takes over on the same day serves its metrics at the same address.
func TestStagedTakeOver(t *testing.T) {
	l := newStagedLab(t)
	signals := make(chan string, 1)
	where := thisMachine()
	where.interrupts = func() (<-chan string, func()) { return signals, func() {} }
	heard, said := io.Pipe()
	ended := make(chan exitCode)
	go func() {
		code := l.run(where, io.Discard, said, "gameday", "run", l.day(`operator: {reacts: 1ms, approve: nobody},
timeline: [{when: [{records: stage, at_least: 1}], event: take-over, reason: mine}]`), "--target", "lab-staging", "--metrics-listen", "0")
		said.Close()
		ended <- code
	}()
	var all []string
	for lines := bufio.NewScanner(heard); lines.Scan(); {
		if all = append(all, lines.Text()); strings.Contains(lines.Text(), "take-over done") {
			signals <- "interrupt"
		}
	}
	text := strings.Join(all, "\n")
	if code := <-ended; code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, text)
	}
	if strings.Contains(text, "not served") || strings.Count(text, "rewarm: metrics ") != 1 {
		t.Errorf("of metrics it says: %s", text)
	}
}

// scraped is the page of a walk's metrics.
func scraped(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

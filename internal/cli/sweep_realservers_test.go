//go:build realservers && linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/steps"
)

// The crash sweep kills a process of rewarm at every write and every sync of its log, before
// it, in the middle of the line and after it, resumes it, and compares what is left with the
// walk that nobody disturbed. Redis is a real redis-server; the service and its Prometheus are
// the lab in virtual time, which outlives the process, so that a walk takes about a second.

var killings = flag.Int("kills", 6, "points of the walk at which TestCrashSweep kills it, evenly spread; 0 for all")

// What a swept process is told, in its environment.
const (
	sweptClockURL = "REWARM_SWEPT_CLOCK" // where its time is
	sweptKillAt   = "REWARM_SWEPT_KILL"  // the point that it does not outlive; 0 for none
	sweptFullAt   = "REWARM_SWEPT_FULL"  // the write from which on the disk is full; 0 for never
	sweptCount    = "REWARM_SWEPT_COUNT" // the file for the number of points that it has passed
)

func init() { programs["rewarm-swept"] = func() { os.Exit(swept()) } }

// swept is rewarm with the lab's time and a log file that ends it.
func swept() int {
	where := thisMachine()
	where.servers = newLabTime(os.Getenv(sweptClockURL))
	at, err := strconv.Atoi(os.Getenv(sweptKillAt))
	full, fullErr := strconv.Atoi(os.Getenv(sweptFullAt))
	if err := errors.Join(err, fullErr); err != nil {
		panic(err)
	}
	points := &killPoints{at: at}
	where.logFile = func(f audit.File) audit.File { return &fatalFile{File: f, points: points, full: full} }
	code := newProgram(os.Stdin, os.Stdout, os.Stderr, where).run(os.Args[1:])
	if err := os.WriteFile(os.Getenv(sweptCount), []byte(strconv.Itoa(points.passed)), 0o600); err != nil {
		panic(err)
	}
	return code
}

// unintended is the point behind the first flip, of which the log holds nothing but zeros where
// its plan and its intent should be. No walk may come there: it shows what the sweep sees.
const unintended = -1

// killPoints counts the moments at which a process can be killed. One goroutine writes a log.
type killPoints struct{ passed, at int }

func (k *killPoints) pass() {
	if k.next() {
		die()
	}
}

func (k *killPoints) next() bool {
	k.passed++
	return k.passed == k.at
}

// die ends this process as a power cut does for it: nothing is run or flushed any more.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// fatalFile is a log's file at each of whose calls the process may end, on a disk that may
// become full.
type fatalFile struct {
	audit.File
	points   *killPoints
	full     int // the write from which on there is no space; 0 for never
	writes   int
	lost     bool // nothing reaches the disk any more, and nobody is told
	intended bool // the last line was an intent
}

func (f *fatalFile) Write(line []byte) (int, error) {
	if f.writes++; f.full > 0 && f.writes >= f.full {
		n, err := f.File.Write(line[:len(line)/3])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	f.points.pass()
	if f.points.at == unintended {
		return f.lose(line)
	}
	if f.points.next() {
		_, _ = f.File.Write(line[:len(line)/2])
		die()
	}
	return f.File.Write(line)
}

// lose lets the plan and the intent of the first flip get lost, and the process end behind it.
func (f *fatalFile) lose(line []byte) (int, error) {
	intended := bytes.Contains(line, []byte(`,"kind":"intended",`))
	switch {
	case f.intended:
		die()
	case f.lost || bytes.Contains(line, []byte(`,"kind":"planned",`)):
		f.lost, f.intended = true, intended
		return f.File.Write(make([]byte, len(line)))
	}
	return f.File.Write(line)
}

func (f *fatalFile) Sync() error {
	f.points.pass()
	err := f.File.Sync()
	f.points.pass()
	return err
}

// labTime is the time of a lab in another process. It moves only while somebody waits.
type labTime struct {
	url string
	mu  sync.Mutex
	now time.Time
}

func newLabTime(url string) *labTime {
	c := &labTime{url: url}
	if err := c.ask(context.Background(), time.Time{}); err != nil {
		panic(err)
	}
	return c
}

func (c *labTime) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *labTime) Wait(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil || !until.After(c.Now()) {
		return err
	}
	return c.ask(ctx, until)
}

// Deadline counts in real time, for what is waited for is real, and a loaded machine is slow.
func (c *labTime) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d+20*time.Second)
}

func (c *labTime) ask(ctx context.Context, until time.Time) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(until.Format(time.RFC3339Nano)))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	now, err := time.Parse(time.RFC3339Nano, string(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && now.After(c.now) {
		c.now = now
	}
	return err
}

// sweptWorld is a lab in virtual time that obeys a real Redis, for one walk.
type sweptWorld struct {
	t      *testing.T
	state  string
	lab    *lab.Lab
	redis  *redis.Client // the real one
	inside *redis.Client // the lab's own, which gets what the real one has
	url    string
	server *httptest.Server
}

func newSweptWorld(t *testing.T, address string) *sweptWorld {
	t.Helper()
	l, err := lab.New(lab.Options{Seed: 1, Start: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	w := &sweptWorld{t: t, state: t.TempDir(), lab: l, url: "redis://" + address,
		redis:  redis.NewClient(&redis.Options{Addr: address}),
		inside: redis.NewClient(&redis.Options{Addr: "lab", Dialer: l.DialRedis})}
	if err := w.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /clock", w.clock)
	mux.Handle("/", &httputil.ReverseProxy{Transport: l.Transport(), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: "lab"})
	}})
	w.server = httptest.NewServer(mux)
	return w
}

func (w *sweptWorld) close() {
	w.server.Close()
	_, _ = w.redis.Close(), w.inside.Close()
	w.lab.Close()
}

// clock lets the lab go on until a time, with the controls that the real Redis has now.
func (w *sweptWorld) clock(rw http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var until time.Time
	if err == nil {
		until, err = time.Parse(time.RFC3339Nano, string(text))
	}
	if err == nil {
		err = w.copyControls(r.Context())
	}
	if err == nil {
		err = w.lab.Clock().Wait(r.Context(), until)
	}
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprint(rw, w.lab.Clock().Now().Format(time.RFC3339Nano))
}

// copyControls gives the lab's Redis what the real one has.
func (w *sweptWorld) copyControls(ctx context.Context) error {
	keys := controls.Keys("catalog")
	pipe := w.inside.TxPipeline()
	for _, key := range []string{keys.Controls, keys.Meta, keys.Commander} {
		fields, err := w.redis.HGetAll(ctx, key).Result()
		if err != nil {
			return err
		}
		pipe.Del(ctx, key)
		for field, value := range fields {
			pipe.HSet(ctx, key, field, w.inLabTime(field, value))
		}
	}
	version, err := w.redis.Get(ctx, keys.Version).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	pipe.Set(ctx, keys.Version, version, 0)
	_, err = pipe.Exec(ctx)
	return err
}

// inLabTime moves the time at which something lapses from the real server's to the lab's: what
// is alive there is alive here.
func (w *sweptWorld) inLabTime(field, value string) string {
	until := strconv.FormatInt(w.lab.Clock().Now().Add(15*time.Second).UnixMilli(), 10)
	alive := func(ms int64) bool { return ms > time.Now().UnixMilli() }
	if ms, err := strconv.ParseInt(value, 10, 64); field == "until" && err == nil && alive(ms) {
		return until
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &meta) != nil {
		return value
	}
	if ms, err := strconv.ParseInt(string(meta["until"]), 10, 64); err == nil && alive(ms) {
		meta["until"] = json.RawMessage(until)
	}
	changed, err := json.Marshal(meta)
	if err != nil {
		return value
	}
	return string(changed)
}

// process runs a process of the walk to its end.
func (w *sweptWorld) process(killAt int, words ...string) (output string, points int, err error) {
	return w.processOn(killAt, 0, words...)
}

func (w *sweptWorld) processOn(killAt, fullAt int, words ...string) (output string, points int, err error) {
	cmd := exec.Command("rewarm-swept", append(words, "--approve", "auto", "--plain", "--state-dir", w.state)...)
	count := filepath.Join(w.state, "count")
	cmd.Env = append(os.Environ(), sweptClockURL+"="+w.server.URL+"/clock", sweptKillAt+"="+strconv.Itoa(killAt),
		sweptFullAt+"="+strconv.Itoa(fullAt), sweptCount+"="+count)
	out, err := cmd.CombinedOutput()
	if text, read := os.ReadFile(count); read == nil {
		points, _ = strconv.Atoi(string(text))
	}
	return string(out), points, err
}

// walk begins the walk, kills it at a point, and resumes it; at 0 it is left alone.
func (w *sweptWorld) walk(killAt int) (points int) {
	w.t.Helper()
	out, points, err := w.process(killAt, "run", shortBook, "--prometheus", w.server.URL, "--redis", w.url)
	var exit *exec.ExitError
	switch {
	case err == nil: // a walk may be some records shorter than the undisturbed one
		return points
	case killAt == 0 || !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		w.t.Fatalf("point %d: the walk ended by itself, %v:\n%s", killAt, err, out)
	}
	if w.ended() {
		return points
	}
	words := []string{"resume", "last"}
	if !w.begun() { // killed before its first record was whole: there is nothing to resume
		words = []string{"run", shortBook, "--prometheus", w.server.URL, "--redis", w.url}
		w.forget()
	}
	if out, _, err := w.process(0, words...); err != nil {
		w.t.Fatalf("point %d: resumed, %v:\n%s", killAt, err, out)
	}
	return points
}

// forget ends the lease of a run that never began, as 15 seconds would, and its folder.
func (w *sweptWorld) forget() {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.state, "runs")); err != nil {
		w.t.Fatal(err)
	}
	if err := w.redis.Del(w.t.Context(), controls.Keys("catalog").Commander).Err(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *sweptWorld) begun() bool { return audit.Holds(w.logs()[len(w.logs())-1]) }

func (w *sweptWorld) ended() bool {
	content, err := os.ReadFile(w.logs()[0])
	return err == nil && bytes.Contains(content, []byte(`,"kind":"closed",`)) && bytes.HasSuffix(content, []byte("}\n"))
}

// segments are the files of the latest log.
func (w *sweptWorld) segments() []string {
	logs := w.logs()
	return runFolder{dir: filepath.Dir(logs[len(logs)-1])}.files()
}

func (w *sweptWorld) logs() []string {
	w.t.Helper()
	logs, err := filepath.Glob(filepath.Join(w.state, "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) == 0 {
		w.t.Fatalf("no log: %v", err)
	}
	return logs
}

// remains is what a walk leaves.
type remains struct {
	Controls  map[string]string // raw, in Redis
	Ending    steps.Ending
	Recovered bool
	Overrides []steps.Override
	Outcomes  map[string]string // of each step
	Report    string            // what status prints, without times
}

// left reads what the walk has left, and demands that its log explains all of it.
func (w *sweptWorld) left() remains {
	w.t.Helper()
	log := w.segments()
	if out, err := exec.Command("rewarm", "audit", "verify", "last", "--deep", "--state-dir", w.state).CombinedOutput(); err != nil {
		w.t.Fatalf("the log does not verify: %s", out)
	}
	state, err := steps.Fold(audit.Records(log...))
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := w.redis.HGetAll(w.t.Context(), controls.Keys("catalog").Controls).Result()
	if err != nil {
		w.t.Fatal(err)
	}
	r := remains{Controls: raw, Ending: state.Ending, Recovered: state.Recovered != nil, Overrides: state.Overrides(), Outcomes: map[string]string{}}
	for step := range state.Doc.Steps() {
		s := state.Step(step.Name)
		r.Outcomes[step.Name] = fmt.Sprint(s.Phase, " ", s.Outcome)
	}
	report, err := exec.Command("rewarm", "status", "last", "--state-dir", w.state).CombinedOutput()
	if err != nil {
		w.t.Fatalf("no status: %s", report)
	}
	for line := range strings.Lines(string(report)) {
		if !strings.HasPrefix(line, "as of ") && !strings.HasPrefix(line, "run ") {
			r.Report += recoveredAfter.ReplaceAllString(line, "RECOVERED")
		}
	}
	for _, wrong := range w.unexplained(log) {
		w.t.Error(wrong)
	}
	return r
}

// recoveredAfter is what a kill costs: what adds load is idled and gated again.
var recoveredAfter = regexp.MustCompile(`RECOVERED [0-9.hms]+`)

// unexplained says what in Redis was not intended before it and settled after it, once.
func (w *sweptWorld) unexplained(log []string) (wrong []string) {
	w.t.Helper()
	intended, applied := map[string]bool{}, map[string]bool{}
	for record, err := range audit.Records(log...) {
		if err != nil {
			w.t.Fatal(err)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		switch b := body.(type) {
		case *steps.Intended:
			intended[b.Digest] = true
		case *steps.Settled:
			applied[b.Digest] = applied[b.Digest] || b.Result == steps.ResultApplied
		}
	}
	changes, err := w.redis.XRange(w.t.Context(), controls.Keys("catalog").Changes, "-", "+").Result()
	if err != nil {
		w.t.Fatal(err)
	}
	var digests []string
	for _, change := range changes {
		digest := fmt.Sprint(change.Values["digest"])
		if !intended[digest] || !applied[digest] {
			wrong = append(wrong, fmt.Sprintf("the flip %v was intended: %v, settled: %v", change.Values, intended[digest], applied[digest]))
		}
		if slices.Contains(digests, digest) {
			wrong = append(wrong, fmt.Sprintf("the flip %v was made twice", change.Values))
		}
		digests = append(digests, digest)
	}
	for digest, done := range applied {
		if done && !slices.Contains(digests, digest) {
			wrong = append(wrong, fmt.Sprintf("the log tells of a flip %s that Redis does not know", digest))
		}
	}
	return wrong
}

// TestDiskFullInAWalk: the disk is full from some write on, the first one included. The brakes
// go on, their records to the mirror; nothing is released. When there is space again, a resume
// takes from the mirror what the disk lacks, and the walk ends as the undisturbed one.
func TestDiskFullInAWalk(t *testing.T) {
	t.Parallel()
	address := startPlainRedis(t)
	undisturbed := newSweptWorld(t, address)
	undisturbed.walk(0)
	want := undisturbed.left()
	undisturbed.close()
	for _, fullAt := range []int{1, 2, 9, 60} {
		t.Run(fmt.Sprintf("from write %d on", fullAt), func(t *testing.T) {
			w := newSweptWorld(t, address)
			defer w.close()
			out, _, err := w.processOn(0, fullAt, "run", shortBook, "--prometheus", w.server.URL, "--redis", w.url)
			if err == nil || !strings.Contains(out, "flipped leaders.region to 200") || !strings.Contains(out, "are in the mirror in redis") {
				t.Fatalf("with a full disk, %v:\n%s", err, out)
			}
			out, _, err = w.process(0, "resume", "last", "--redis", w.url)
			if err != nil || !strings.Contains(out, " come from the mirror in redis ") {
				t.Fatalf("resumed, %v:\n%s", err, out)
			}
			if diff := cmp.Diff(want, w.left()); diff != "" {
				t.Errorf("left by the undisturbed walk, and by this one:\n%s", diff)
			}
		})
	}
}

func startPlainRedis(t *testing.T) (address string) {
	t.Helper()
	port := freeport.Take(t)
	start(t, "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "").prints("Ready to accept connections")
	return "127.0.0.1:" + port
}

// TestCrashSweep: wherever a walk is killed, after the resume the controls, the outcomes and
// the report are those of the walk that nobody disturbed. All points: -kills 0 -timeout 60m.
func TestCrashSweep(t *testing.T) {
	t.Parallel()
	address := startPlainRedis(t)
	undisturbed := newSweptWorld(t, address)
	points := undisturbed.walk(0)
	want := undisturbed.left()
	undisturbed.close()
	if want.Ending != steps.EndedClosed || !want.Recovered || points < 200 {
		t.Fatalf("%d points, %+v", points, want)
	}
	swept := 0
	for at := range killedAt(points, *killings) {
		swept++
		t.Run(fmt.Sprintf("point %d of %d", at, points), func(t *testing.T) {
			w := newSweptWorld(t, address)
			defer w.close()
			w.walk(at)
			if diff := cmp.Diff(want, w.left()); diff != "" {
				t.Errorf("left by the undisturbed walk, and by this one:\n%s", diff)
			}
		})
	}
	t.Logf("%d of %d points", swept, points)
}

// TestCrashSweepFindsAFault kills and resumes a walk that has flipped before its intent was on
// disk or in the mirror: it leaves a flip that its log does not explain, and the sweep says so.
// A signed head would know of the intent, and resume refuse: here it is gone, too.
func TestCrashSweepFindsAFault(t *testing.T) {
	t.Parallel()
	w := newSweptWorld(t, startPlainRedis(t))
	defer w.close()
	if out, _, err := w.process(unintended, "run", shortBook, "--prometheus", w.server.URL, "--redis", w.url); err == nil {
		t.Fatalf("the walk was not killed:\n%s", out)
	}
	run := filepath.Base(filepath.Dir(w.logs()[0]))
	if err := w.redis.Del(t.Context(), controls.Keys("catalog").Log(run)).Err(); err != nil {
		t.Fatal(err)
	}
	if out, _, err := w.process(0, "resume", "last"); err == nil {
		t.Fatalf("it resumes a log that ends before its head:\n%s", out)
	}
	if err := os.Remove(runFolder{dir: filepath.Dir(w.logs()[0]), run: run}.headPath()); err != nil {
		t.Fatal(err)
	}
	if out, _, err := w.process(0, "resume", "last"); err != nil {
		t.Fatalf("resumed, %v:\n%s", err, out)
	}
	wrong := w.unexplained(w.segments())
	if !slices.ContainsFunc(wrong, func(s string) bool { return strings.Contains(s, "was intended: false, settled: false") }) {
		t.Errorf("the sweep finds no fault: %q", wrong)
	}
}

// killedAt spreads so many points evenly over a walk; 0 stands for all.
func killedAt(points, most int) func(yield func(int) bool) {
	if most == 0 || most > points {
		most = points
	}
	return func(yield func(int) bool) {
		for i := range most {
			if !yield(1 + i*points/most) {
				return
			}
		}
	}
}

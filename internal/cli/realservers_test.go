//go:build realservers && linux

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// world is a lab on real ports that obeys a real Redis and is scraped by a real
// Prometheus.
type world struct {
	t                         testing.TB
	dir                       string
	redisPort, prometheusPort string
	redis, prometheus         *process
	redisURL, prometheusURL   string
	labMetrics                string
	walkMetrics               string // where a walk is scraped that serves its own
}

func newWorld(t testing.TB) *world { return newWorldWith(t) }

// newWorldWith has the lab started with more flags.
func newWorldWith(t testing.TB, lab ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), redisPort: freeport.Take(t), prometheusPort: freeport.Take(t)}
	w.walkMetrics = "127.0.0.1:" + freeport.Take(t)
	w.redisURL, w.prometheusURL = "redis://127.0.0.1:"+w.redisPort, "http://127.0.0.1:"+w.prometheusPort
	w.startRedis()
	w.startLab(append(lab, "--redis", w.redisURL)...)
	w.startPrometheus()
	return w
}

// process is a program that a test started, with what it has printed.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	mu     sync.Mutex
	out    bytes.Buffer
	ended  chan struct{}
	result error
}

func start(t testing.TB, name string, args ...string) *process {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("install Debian's redis-server and prometheus: %v", err)
	}
	p := &process{t: t, cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.result = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends a process as a power cut does.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// ends waits for the process and gives its exit code.
func (p *process) ends(within time.Duration) exitCode {
	p.t.Helper()
	select {
	case <-p.ended:
		return exitCode(p.cmd.ProcessState.ExitCode())
	case <-time.After(within):
		p.t.Fatalf("%s does not end within %s:\n%s", p.cmd.Path, within, p.shown())
	}
	return -1
}

// prints waits for a text in what a process prints.
func (p *process) prints(want string) {
	p.t.Helper()
	eventually(p.t, func() error {
		if strings.Contains(p.shown(), want) {
			return nil
		}
		select {
		case <-p.ended:
			if !strings.Contains(p.shown(), want) {
				p.t.Fatalf("ended before %q:\n%s", want, p.shown())
			}
		default:
		}
		return fmt.Errorf("no %q in:\n%s", want, p.shown())
	})
}

// eventually asks again until the answer is good, far longer than it takes.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (w *world) startRedis() {
	w.t.Helper()
	w.redis = start(w.t, "redis-server", "--port", w.redisPort, "--bind", "127.0.0.1", "--dir", w.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always")
	eventually(w.t, func() error {
		c, err := net.Dial("tcp", "127.0.0.1:"+w.redisPort)
		if err == nil {
			err = c.Close()
		}
		return err
	})
}

func (w *world) startLab(flags ...string) {
	w.t.Helper()
	lab := start(w.t, "rewarm", append([]string{"lab", "serve"}, flags...)...)
	lab.prints("\n")
	ready := strings.Fields(lab.shown())
	for _, word := range ready {
		if url, ok := strings.CutPrefix(word, "metrics="); ok {
			w.labMetrics = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
		}
	}
	if ready[0] != "ready" || w.labMetrics == "" {
		w.t.Fatalf("the lab says %q", lab.shown())
	}
}

func (w *world) startPrometheus() {
	w.t.Helper()
	config := filepath.Join(w.dir, "prometheus.yml")
	text := "global: {scrape_interval: 1s, scrape_timeout: 900ms}\n" +
		"scrape_configs: [{job_name: catalog, honor_labels: true, static_configs: [{targets: ['" + w.labMetrics + "']}]}," +
		" {job_name: rewarm, static_configs: [{targets: ['" + w.walkMetrics + "']}]}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.prometheus = start(w.t, "prometheus", "--config.file", config, "--storage.tsdb.path", filepath.Join(w.dir, "tsdb"),
		"--web.listen-address", "127.0.0.1:"+w.prometheusPort)
	eventually(w.t, func() error {
		if answer, err := w.asks("catalog_retry_waiters"); !strings.Contains(answer, "catalog_retry_waiters") {
			return fmt.Errorf("prometheus has not scraped the lab yet: %s %v", answer, err)
		}
		return nil
	})
}

// asks gives Prometheus' answer to a query.
func (w *world) asks(query string) (string, error) {
	r, err := http.Get(w.prometheusURL + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return string(body), err
}

const (
	shortBook = "testdata/books/short.yaml"
	longBook  = "../../templates/runbooks/hot-key-collapse.yaml"
)

// run starts a walk; resume goes on with the only one.
func (w *world) run(book string, more ...string) *process {
	w.t.Helper()
	args := []string{"run", book, "--prometheus", w.prometheusURL, "--redis", w.redisURL, "--approve", "auto", "--plain", "--state-dir", filepath.Join(w.dir, "state")}
	return start(w.t, "rewarm", append(args, more...)...)
}

func (w *world) resume() *process {
	w.t.Helper()
	return start(w.t, "rewarm", "resume", "last", "--approve", "auto", "--plain", "--state-dir", filepath.Join(w.dir, "state"))
}

// verifies demands that the log of the run is whole and folds again.
func (w *world) verifies() {
	w.t.Helper()
	out, err := exec.Command("rewarm", "audit", "verify", "last", "--deep", "--state-dir", filepath.Join(w.dir, "state")).CombinedOutput()
	if err != nil {
		w.t.Errorf("the log does not verify: %s", out)
	}
}

// explained demands that Redis holds for every control what the log says it left there.
func (w *world) explained(book string) {
	w.t.Helper()
	source, err := os.ReadFile(book)
	if err != nil {
		w.t.Fatal(err)
	}
	doc, problems := runbook.Parse(book, source, nil)
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	left := map[string]*string{}
	for _, settled := range bodies[*steps.Settled](w) {
		if settled.Result == steps.ResultApplied {
			left[settled.Plan.Control] = settled.Plan.After
		}
	}
	for name, live := range w.controls(doc) {
		want, flipped := left[name]
		if flipped && (live.Raw == nil || want == nil || *live.Raw != *want) {
			w.t.Errorf("redis holds %v for %s, the log left %v", live.Value, name, want)
		}
	}
}

func (w *world) controls(doc *runbook.Document) map[string]actions.Live {
	w.t.Helper()
	store, err := actions.Open(actions.Options{URL: w.redisURL, Service: doc.Service, Clock: wallClock{}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	var controls []*runbook.Control
	for i := range doc.Controls {
		controls = append(controls, &doc.Controls[i])
	}
	live, err := store.Read(context.Background(), controls)
	if err != nil {
		w.t.Fatal(err)
	}
	return live
}

// bodies gives all bodies of one type in the log of the only run.
func bodies[T any](w *world) []T {
	w.t.Helper()
	logs, err := filepath.Glob(filepath.Join(w.dir, "state", "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) != 1 {
		w.t.Fatalf("expected one log, found %q (%v)", logs, err)
	}
	var list []T
	for record, err := range audit.Records(logs[0]) {
		if err != nil {
			w.t.Fatal(err)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		if typed, ok := body.(T); ok {
			list = append(list, typed)
		}
	}
	return list
}

// TestRealRecovery walks the bundled runbook in real time: it gates on what the real
// Prometheus scraped and flips controls in the real Redis.
func TestRealRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	walk := w.run(longBook, "--metrics-listen", w.walkMetrics)
	if code := walk.ends(8 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	w.scraped()
	if recovered := bodies[*steps.Recovered](w); len(recovered) != 1 || recovered[0].Late {
		t.Errorf("recovered: %+v", recovered)
	}
	w.verifies()
	w.explained(longBook)
	w.evidenceOf(false)
	w.redis.kill()
	w.prometheus.kill()
	w.evidenceOf(true)
}

// evidenceOf exports the run, and first forgets what was captured when its servers are gone: the evidence says so then,
// and verifies all the same.
func (w *world) evidenceOf(gone bool) {
	w.t.Helper()
	state, bundle := filepath.Join(w.dir, "state"), filepath.Join(w.dir, "evidence.zip")
	captures, err := filepath.Glob(filepath.Join(state, "runs", "*", "captures"))
	if err != nil || len(captures) != 1 {
		w.t.Fatalf("captures: %q, %v", captures, err)
	}
	if gone {
		if err := os.RemoveAll(captures[0]); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"export", "last", "--out", bundle}, {"verify", bundle}, {"replay", bundle, "--runbook", longBook}} {
		out, err := exec.Command("rewarm", append([]string{"evidence", "--state-dir", state}, args...)...).CombinedOutput()
		if err != nil || args[0] == "replay" && regexp.MustCompile(`would be|not answerable`).Match(out) {
			w.t.Errorf("evidence %q: %v\n%s", args, err, out)
		}
	}
	kept, err := os.ReadFile(filepath.Join(captures[0], "ranges.json"))
	if missing := bytes.Contains(kept, []byte("cannot be reached")); err != nil || missing != gone {
		w.t.Errorf("the servers are gone: %v; the ranges say so: %v, %v", gone, missing, err)
	}
}

// scraped demands that Prometheus has seen a walk of itself, as far as its recovery.
func (w *world) scraped() {
	w.t.Helper()
	for _, query := range []string{
		`max_over_time(rewarm_run_recovered[10m]) == 1`,
		`max_over_time(rewarm_run_flips_total{direction="releasing",result="applied"}[10m]) > 5`,
		`max_over_time(rewarm_run_stage{stage="restore"}[10m]) == 1`,
		`max_over_time(rewarm_run_poll_duration_seconds_count[10m]) > 60`,
	} {
		if answer, err := w.asks(query); err != nil || !strings.Contains(answer, `"run":"`) {
			w.t.Errorf("%s: %s %v", query, answer, err)
		}
	}
}

// TestRealKills ends the walk as a power cut does, at ten different places, and resumes it.
func TestRealKills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	walk := w.run(shortBook)
	for _, more := range []int{1, 2, 3, 4, 5, 7, 9, 12, 16, 20} {
		w.writes(walk, more)
		walk.kill()
		w.verifies()
		walk = w.resume()
		walk.prints("resumed by ")
	}
	if code := walk.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	if ended := bodies[*steps.Ended](w); len(ended) != 1 || len(ended[0].Overrides) != 0 || !ended[0].Recovered {
		t.Errorf("ended: %+v", ended)
	}
	w.verifies()
	w.explained(shortBook)
}

// writes waits until a walk has written so many more records.
func (w *world) writes(walk *process, more int) {
	w.t.Helper()
	before := w.records()
	eventually(w.t, func() error {
		if now := w.records(); now < before+more {
			return fmt.Errorf("%d records, then %d:\n%s", before, now, walk.shown())
		}
		return nil
	})
}

// records counts the lines of the log of the only run, 0 before it has one.
func (w *world) records() int {
	w.t.Helper()
	logs, err := filepath.Glob(filepath.Join(w.dir, "state", "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) == 0 {
		return 0
	}
	content, err := os.ReadFile(logs[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return bytes.Count(content, []byte{'\n'})
}

// TestRealRedisDies kills redis-server in the middle of a walk and starts it again:
// nothing is released meanwhile, and the walk goes on by itself.
func TestRealRedisDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	walk := w.run(shortBook)
	walk.prints("flipped prewarm.rate to 3000")
	w.redis.kill()
	walk.prints("HOLD: redis cannot be read")
	w.startRedis()
	walk.prints("redis answers again")
	if code := walk.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	w.verifies()
	w.explained(shortBook)
}

// TestRealRedisHangs: a Redis that hangs is waited for, keeps nobody from leaving, and is
// found as it was left.
func TestRealRedisHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	walk := w.run(shortBook)
	walk.prints("flipped prewarm.rate to 3000")
	w.redis.signal(syscall.SIGSTOP)
	walk.prints("has given no answer since")
	w.redis.signal(syscall.SIGCONT)
	walk.prints("redis answers again")
	w.redis.signal(syscall.SIGSTOP)
	walk.signal(os.Interrupt)
	if code := walk.ends(time.Minute); code != exitInterrupted {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	w.redis.signal(syscall.SIGCONT)
	walk = w.resume()
	if code := walk.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	w.verifies()
	w.explained(shortBook)
}

// TestRealPrometheusAway: without metrics the brakes go on, blind where they have a gate,
// and nothing is released.
func TestRealPrometheusAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prometheus.kill()
	walk := w.run(shortBook)
	walk.prints("flipped leaders.region to 200 leaders")
	if !strings.Contains(walk.shown(), "blind: its gate could not be judged") {
		t.Errorf("no brake went blind:\n%s", walk.shown())
	}
	if releases := bodies[*steps.Approved](w); len(releases) > 0 {
		t.Errorf("released without metrics: %+v", releases)
	}
	w.startPrometheus()
	walk.prints("flipped prewarm.rate to 3000")
	w.prometheus.kill()
	walk.prints("unknown")
	w.startPrometheus()
	if code := walk.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, walk.shown())
	}
	w.verifies()
	w.explained(shortBook)
}

// TestRealSecondRun: a service has one commander, and a second walk is told who it is.
func TestRealSecondRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.run(shortBook)
	first.prints("flipped origin.admission")
	second := start(t, "rewarm", "run", shortBook, "--prometheus", w.prometheusURL, "--redis", w.redisURL, "--state-dir", filepath.Join(w.dir, "other"))
	if code := second.ends(time.Minute); code != exitCommanded || !strings.Contains(second.shown(), "-short-") {
		t.Errorf("exit code %d:\n%s", code, second.shown())
	}
	again := w.resume()
	if code := again.ends(time.Minute); code != exitCommanded {
		t.Errorf("a run that is being walked is resumed, exit code %d:\n%s", code, again.shown())
	}
	first.signal(syscall.SIGTERM)
	if code := first.ends(time.Minute); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, first.shown())
	}
	w.verifies()
	w.explained(shortBook)
}

// TestRealSecondInterrupt leaves within two seconds while Redis hangs; what was under
// way is settled by the next process.
// https://github.com/redis/go-redis/issues/2682
// https://github.com/stephrobert/dsoxlab/issues/146
func TestRealSecondInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	walk := w.run(shortBook)
	walk.prints("flipped origin.admission")
	w.redis.signal(syscall.SIGSTOP)
	walk.signal(syscall.SIGINT)
	walk.prints("once more to leave at once")
	walk.signal(syscall.SIGINT)
	// Two seconds and the time that a loaded machine needs to notice.
	if code := walk.ends(20 * time.Second); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, walk.shown())
	}
	w.verifies()
	w.redis.signal(syscall.SIGCONT)
	resumed := w.resume()
	if code := resumed.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, resumed.shown())
	}
	w.verifies()
	w.explained(shortBook)
}

// TestRealUnfitServers: what cannot be walked on is one clear sentence with a way out.
func TestRealUnfitServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	locked, replica := freeport.Take(t), freeport.Take(t)
	start(t, "redis-server", "--port", locked, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--requirepass", "s3cr3t").prints("Ready to accept connections")
	start(t, "redis-server", "--port", replica, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--replicaof", "127.0.0.1 1").prints("Ready to accept connections")
	page := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, "<!doctype html><title>\x1b[2JSign in</title>")
	}))
	t.Cleanup(page.Close)
	for _, test := range []struct{ name, redis, says string }{
		{"no password", "redis://127.0.0.1:" + locked, "password"},
		{"wrong password", "redis://:wr0ng@127.0.0.1:" + locked, "password"},
	} {
		walk := start(t, "rewarm", "run", shortBook, "--prometheus", page.URL, "--redis", test.redis, "--state-dir", dir)
		code, shown := walk.ends(time.Minute), walk.shown()
		if code != exitError || !strings.Contains(strings.ToLower(shown), test.says) || !strings.Contains(shown, "rewarm: hint: ") {
			t.Errorf("%s: exit code %d:\n%s", test.name, code, shown)
		}
		if strings.Contains(shown, "s3cr3t") || strings.Contains(shown, "wr0ng") || strings.ContainsFunc(shown, hidden) {
			t.Errorf("%s: a secret or something raw is shown: %q", test.name, shown)
		}
	}
	walk := start(t, "rewarm", "run", shortBook, "--prometheus", page.URL, "--redis", "redis://127.0.0.1:"+replica, "--state-dir", dir)
	walk.prints("HOLD: redis 127.0.0.1:" + replica + " is a replica and refuses writes")
	walk.signal(syscall.SIGTERM)
	if code := walk.ends(time.Minute); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, walk.shown())
	}
	plan := start(t, "rewarm", "plan", shortBook, "--prometheus", page.URL)
	if code := plan.ends(time.Minute); code != exitHeld || !strings.Contains(plan.shown(), "HTML") || strings.ContainsFunc(plan.shown(), hidden) {
		t.Errorf("exit code %d: %q", code, plan.shown())
	}
}

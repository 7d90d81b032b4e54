//go:build realservers

package probes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/runbook"
)

// exporter is a scraped service whose page a test writes.
type exporter struct {
	*httptest.Server
	mu   sync.Mutex
	page func() string
}

func newExporter(t *testing.T, page func() string) *exporter {
	e := &exporter{page: page}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, e.page())
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *exporter) show(page func() string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.page = page
}

func always(page string) func() string { return func() string { return page } }

const realConfig = `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - job_name: catalog
    honor_labels: true
    static_configs: [{targets: [%q]}]
`

const realRules = `
groups:
  - name: recorded
    interval: 2s
    rules:
      - {record: 'job:reads:rate10s', expr: 'sum(rate(reads_total[10s]))'}
`

// startPrometheus runs Debian's prometheus on loopback until the test ends.
func startPrometheus(t *testing.T, target string) string {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is not there: install Debian's package prometheus")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf(realConfig, strings.TrimPrefix(target, "http://")))
	write(t, filepath.Join(dir, "rules.yml"), realRules)
	address := "127.0.0.1:" + freeport.Take(t)
	cmd := exec.Command(program, "--config.file", filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		log.Close()
	})
	eventually(t, "prometheus is ready", func() bool {
		resp, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return "http://" + address
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("within 30 s it never came true that %s", what)
}

// skewedClock is the machine's clock, wrong by a fixed span.
type skewedClock struct {
	stillClock
	by time.Duration
}

func (c *skewedClock) Now() time.Time { return time.Now().Add(c.by) }

func realPoller(t *testing.T, url string, skew time.Duration) *Poller {
	t.Helper()
	p, err := NewPoller(Options{URL: url}, &skewedClock{by: skew})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRealFlipIsJudgedByWhatCameAfterIt(t *testing.T) {
	t.Parallel()
	e := newExporter(t, always("queue_age 0.9\nrewarm_controls_version{service=\"catalog\"} 3\n"))
	p := realPoller(t, startPrometheus(t, e.URL), 437*time.Second)
	doc := document(runbook.Probe{Name: "age", Query: "max(queue_age)", Unit: "s"},
		runbook.Probe{Name: "peak", Query: "max(max_over_time(queue_age[3s:1s] offset 1s))", Unit: "s"})
	gate := runbook.Gate{{{Probe: "age", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.25}}},
		{{Probe: "peak", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.25}}}}
	asks := Asks(doc, gate, "", "")

	var o, before Observation
	poll := func() {
		before, o = o, p.Poll(context.Background(), doc, asks, 4)
	}
	eventually(t, "the old value is there", func() bool { poll(); return o.Answers[1].Count == 1 })
	if o.Offset > -400*time.Second || o.Skew() == "" || !o.Propagation.Reported || o.Propagation.Obeying != 0 {
		t.Errorf("offset %v, propagation %+v", o.Offset, o.Propagation)
	}
	e.show(always("queue_age 0.2\nrewarm_controls_version{service=\"catalog\"} 4\n"))
	eventually(t, "the version is obeyed", func() bool { poll(); return o.Propagation.Obeying == o.Propagation.Processes })
	mark := o.Propagation.Oldest
	situation := func() Situation {
		return Situation{Mark: mark, StaleAfter: 10 * time.Second, Answer: o.Answer, Previous: before.Answer, Probe: doc.Probe}
	}
	if j := Judge(gate, situation()); j.Verdict == Pass {
		t.Errorf("judged by a sample of the flip itself: %+v", j)
	}
	eventually(t, "the gate passes", func() bool {
		poll()
		j := Judge(gate, situation())
		if j.Verdict == Fail {
			t.Fatalf("a value of before the flip was judged: %+v", j)
		}
		if j.Verdict == Pass && !o.Answers[1].Oldest.After(mark) {
			t.Fatalf("passed with a sample of %v, and the mark is %v", o.Answers[1].Oldest, mark)
		}
		return j.Verdict == Pass
	})
}

// https://github.com/prometheus/prometheus/issues/14441
func TestRealTargetThatStopsIsNotJudged(t *testing.T) {
	t.Parallel()
	frozen := time.Now().Add(-3 * time.Second).UnixMilli()
	e := newExporter(t, always(fmt.Sprintf("frozen 0.42 %d\nlive 0.42\n", frozen)))
	p := realPoller(t, startPrometheus(t, e.URL), 0)
	doc := document(runbook.Probe{Name: "frozen", Query: "max(frozen)"}, runbook.Probe{Name: "live", Query: "max(live)"})
	judge := func(probe string) Finding {
		o := p.Poll(context.Background(), doc, []Ask{{Probe: probe}}, 0)
		return JudgeBound(runbook.Bound{Probe: probe, Op: runbook.Below, Operand: runbook.Operand{Number: 1}},
			Situation{StaleAfter: 5 * time.Second, Answer: o.Answer, Probe: doc.Probe})
	}
	eventually(t, "a live target passes", func() bool { return judge("live").Verdict == Pass })
	eventually(t, "a frozen sample is stale", func() bool { return judge("frozen").Reason == Stale })
	e.Close()
	eventually(t, "a stopped target has no data", func() bool { return judge("live").Reason == NoData })
}

func TestRealRecordedSeriesCarryTheirWindow(t *testing.T) {
	t.Parallel()
	reads := 0
	e := newExporter(t, func() string { reads += 4000; return fmt.Sprintf("reads_total %d\n", reads) })
	p := realPoller(t, startPrometheus(t, e.URL), 0)
	doc := document(runbook.Probe{Name: "rate", Query: "job:reads:rate10s"}, runbook.Probe{Name: "odd", Query: "job:nobody:rate"})
	asks := []Ask{{Probe: "rate"}, {Probe: "odd"}}
	var o Observation
	eventually(t, "the rule has written", func() bool {
		o = p.Poll(context.Background(), doc, asks, 0)
		return o.Answers[0].Count == 1
	})
	a := o.Answers[0]
	if a.Reason != "" || !a.Oldest.Equal(a.Newest[0].Add(-12*time.Second)) {
		t.Errorf("a rate of 10 s recorded every 2 s rests on %v, its sample is of %v (%s)", a.Oldest, a.Newest[0], a.Detail)
	}
	if odd := o.Answers[1]; odd.Reason != Unresolved {
		t.Errorf("%+v", odd)
	}
}

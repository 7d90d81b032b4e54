//go:build realservers && linux

package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// stopwatch adds up the time that a walk spends outside of rewarm: in Redis, in
// Prometheus and on the disk.
type stopwatch struct{ outside time.Duration }

func (w *stopwatch) start() func() {
	began := time.Now()
	return func() { w.outside += time.Since(began) }
}

type timedProber struct {
	steps.Prober
	*stopwatch
}

func (t timedProber) Poll(ctx context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	defer t.start()()
	return t.Prober.Poll(ctx, doc, asks, version)
}

type timedControls struct {
	steps.Controls
	*stopwatch
}

func (t timedControls) Read(ctx context.Context, controls []*runbook.Control) (map[string]actions.Live, error) {
	defer t.start()()
	return t.Controls.Read(ctx, controls)
}

func (t timedControls) Take(ctx context.Context, holder actions.Holder) (actions.Lease, error) {
	defer t.start()()
	return t.Controls.Take(ctx, holder)
}

func (t timedControls) Apply(ctx context.Context, lease actions.Lease, plan actions.Plan, stamp actions.Stamp) actions.Outcome {
	defer t.start()()
	return t.Controls.Apply(ctx, lease, plan, stamp)
}

type timedJournal struct {
	steps.Journal
	*stopwatch
}

func (t timedJournal) Commit(actor, kind string, body any) (audit.Record, error) {
	defer t.start()()
	return t.Journal.Commit(actor, kind, body)
}

// BenchmarkProtections takes the bundled runbook from nothing to its last protection in
// force, on a real Redis and a real Prometheus, and tells how long that is and which part
// of it is rewarm's own: what is not spent waiting for Redis, Prometheus or the disk.
func BenchmarkProtections(b *testing.B) {
	w := newWorld(b)
	p := newProgram(bytes.NewReader(nil), io.Discard, io.Discard, thisMachine())
	p.settings.prometheus, p.settings.redis = w.prometheusURL, w.redisURL
	doc, err := p.openBook(bundledBook)
	if err != nil {
		b.Fatal(err)
	}
	on, err := p.realTargets(doc)
	if err != nil {
		b.Fatal(err)
	}
	var outside time.Duration
	for i := 0; b.Loop(); i++ {
		watch := &stopwatch{}
		m := steps.New(steps.Config{
			Doc: doc, Clock: on.clock, Caller: noCaller{},
			Journal:  timedJournal{newBenchLog(b, on.clock), watch},
			Prober:   timedProber{on.prober, watch},
			Controls: timedControls{on.store, watch},
			Begun:    steps.Begun{Run: "20261129T100801Z-hot-key-collapse-7f3a", Approve: steps.Auto},
			Holder:   actions.Holder{Run: "20261129T100801Z-hot-key-collapse-7f3a", Actor: "bench", Host: "bench"},
		})
		protect(b, m)
		outside += watch.outside
		b.StopTimer()
		w.forgetControls()
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-to-protected")
	b.ReportMetric(100*(1-float64(outside)/float64(b.Elapsed())), "%-own-share")
}

// protect walks until nothing is left to protect: the machine waits then.
func protect(b *testing.B, m *steps.Machine) {
	if err := m.Begin(b.Context()); err != nil {
		b.Fatal(err)
	}
	for {
		move, err := m.Step(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, waits := move.(steps.Wait); waits {
			return
		}
	}
}

// forgetControls empties the Redis, so that the next walk starts from nothing.
func (w *world) forgetControls() {
	w.t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+w.redisPort)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "FLUSHALL\r\n"); err != nil {
		w.t.Fatal(err)
	}
	if answer, err := bufio.NewReader(c).ReadString('\n'); err != nil || answer != "+OK\r\n" {
		w.t.Fatalf("FLUSHALL: %q, %v", answer, err)
	}
}

// noCaller leaves calls without an outcome: no protection waits for one.
type noCaller struct{}

func (noCaller) Start(steps.CallRequest) {}

func newBenchLog(b *testing.B, clock clock) *audit.Log {
	log, err := audit.Create(b.TempDir()+"/audit.jsonl", clock, audit.Options{Run: "20261129T100801Z-hot-key-collapse-7f3a"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	return log
}

// Package largerun walks a large runbook for tests and benchmarks: on a world that stands until it is waited in.
package largerun

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// A large run has so many steps of each kind, each with a control of its own, and so many probes with three series each.
const (
	Brakes   = 40
	Releases = 20
	Probes   = 40
)

// Book is the runbook of a large run. A step looks at two probes, and several steps at each of them.
func Book(t testing.TB) *runbook.Document {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`apiVersion: rewarm/v1
kind: Runbook
name: large
service: catalog
recover_within: 10m
figures:
  knee:  {value: 4200, unit: attempts/s, measured: 2026-11-02}
  limit: {value: 3200, unit: attempts/s, measured: 2026-11-02}
defaults: {every: 1s, passes: 2, timeout: 24h, stale_after: 10s, approval: {protect: none, release: one}}
controls:
`)
	for step := range Brakes + Releases {
		fmt.Fprintf(&b, "  control-%d: {kind: rate, unit: attempts/s, max: 1000, absent: 100, steady: 100, protects: lower}\n",
			step)
	}
	b.WriteString("probes:\n  offered: {query: 'sum(rate(offered_total[5s]))', unit: attempts/s}\n")
	for probe := range Probes - 1 {
		fmt.Fprintf(&b, "  probe-%d: {query: 'sum by (cell) (rate(metric_%d_total[5s]))', unit: attempts/s}\n", probe, probe)
	}
	b.WriteString("exit:\n  intervals: 2\n  interval: 5s\n  when:\n    - {probe: offered, at_most: 2000}\n")
	for probe := range 6 {
		fmt.Fprintf(&b, "    - %s\n", boundOf(probe))
	}
	b.WriteString("stages:\n  declare-mode: {skip: it is known}\n")
	writeStage(&b, "protect-origin", 0, 16)
	writeStage(&b, "preserve-stale", 16, 28)
	writeStage(&b, "constrain-leaders", 28, Brakes)
	writeStage(&b, "rank-warmth", Brakes, 46)
	writeStage(&b, "observe", 46, 50)
	writeStage(&b, "expand", 50, Brakes+Releases)
	b.WriteString("  restore: {skip: by hand}\n  reconcile: {skip: by hand}\n")
	doc, problems := runbook.Parse("large.yaml", b.Bytes(), nil)
	if len(problems) > 0 {
		t.Fatal(problems.Error())
	}
	return doc
}

func writeStage(b *bytes.Buffer, stage string, from, to int) {
	fmt.Fprintf(b, "  %s:\n", stage)
	for step := from; step < to; step++ {
		value, when := 10, ""
		if step >= Brakes {
			value, when = 500, fmt.Sprintf(", when: [%s, %s]", boundOf(step), boundOf(3*step))
		}
		fmt.Fprintf(b, "    - {step: step-%d, why: one of many, flip: {control: control-%d, to: %d}%s, expect: [%s, %s]}\n",
			step, step, value, when, boundOf(step), boundOf(7*step+1))
	}
}

func boundOf(n int) string {
	return fmt.Sprintf("{probe: probe-%d, at_most: 100}", n%(Probes-1))
}

// world is what the machine of a large run meets: time that stands until it waits, a Redis that does what it is
// told, and a Prometheus whose values move a little with every second.
type world struct {
	doc     *runbook.Document
	now     time.Time
	values  map[string]string
	metas   map[string]*actions.Meta
	version int64
	calm    bool // every gate passes
	records []audit.Record
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Wait(_ context.Context, until time.Time) error { w.now = until; return nil }

func (w *world) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (w *world) Append(actor, kind string, body any) (audit.Record, error) {
	raw, err := jsonv2.Marshal(body)
	r := audit.Record{Seq: uint64(len(w.records) + 1), At: w.now, Actor: actor, Kind: kind, Body: raw,
		T: w.now.Sub(time.Unix(0, 0)).Milliseconds()}
	if err == nil && len(raw) > audit.MaxBody && kind != steps.KindBegun {
		return audit.Record{}, &audit.TooLongError{}
	}
	w.records = append(w.records, r)
	return r, err
}

func (w *world) Commit(actor, kind string, body any) (audit.Record, error) {
	return w.Append(actor, kind, body)
}

func (w *world) Poll(_ context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	o := probes.Observation{At: w.now, Propagation: &probes.Propagation{
		Version: version, Reported: true, Processes: 240, Obeying: 240, Oldest: w.now,
	}}
	for n, ask := range asks {
		a := probes.Answer{Ask: ask, Query: doc.Probe(ask.Probe).Query, At: w.now,
			WindowStart: w.now.Add(-5 * time.Second), Stalest: w.now, Newest: []time.Time{w.now}}
		value := float64(50 + (n*7+int(w.now.Unix()))%40)
		if n%2 == 1 && !w.calm {
			value += 400
		}
		a.SetReadings([]probes.Reading{
			probes.NewReading(`{cell="cell-a"}`, value/2),
			probes.NewReading(`{cell="cell-b"}`, value/3),
			probes.NewReading(`{cell="cell-c"}`, value),
		})
		o.Answers = append(o.Answers, a)
	}
	return o
}

func (w *world) Read(_ context.Context, cs []*runbook.Control) (map[string]actions.Live, error) {
	lives := make(map[string]actions.Live, len(cs))
	for _, c := range cs {
		live := actions.Live{Control: c.Name, Value: c.Absent, Meta: w.metas[c.Name]}
		if raw, known := w.values[c.Name]; known {
			value, err := actions.Decode(c, raw)
			if err != nil {
				return nil, err
			}
			live.Raw, live.Value = &raw, value
		}
		lives[c.Name] = live
	}
	return lives, nil
}

func (w *world) Take(_ context.Context, h actions.Holder) (actions.Lease, error) {
	return actions.Lease{Run: h.Run, Process: h.Process, Fence: 1, Since: w.now, Until: w.now.Add(actions.LeaseTime)}, nil
}

func (w *world) Renew(context.Context, actions.Lease, []string) ([]string, error) {
	return nil, nil
}

func (w *world) Drop(context.Context, actions.Lease) error { return nil }

func (w *world) Apply(_ context.Context, l actions.Lease, p actions.Plan, s actions.Stamp) actions.Outcome {
	w.version++
	w.values[p.Control] = *p.After
	w.metas[p.Control] = &actions.Meta{Version: w.version, Digest: p.Digest(), Run: p.Run, Fence: l.Fence,
		Step: p.Step, At: w.now.UnixMilli(), Before: p.Before, After: p.After,
		Steady: s.Steady, Actor: s.Actor, Protects: s.Protects}
	return actions.Outcome{Result: actions.Applied, Version: w.version, Found: p.After, Seen: true}
}

func (w *world) Settle(context.Context, actions.Lease, actions.Plan) actions.Outcome {
	panic("every outcome is known")
}

func (w *world) Start(steps.CallRequest) { panic("nothing is called") }

// ID names the run.
const ID = "20261129T100800Z-large-7f3a"

// Calm is for how many records at its end everything passes in a large run, so that a release waits for a word.
const Calm = 100

// Walk walks a runbook of 60 steps and 40 probes for so many records, and gives them, without a chain: until everything
// passes all brakes are on, and what most of them are for is owed.
func Walk(t testing.TB, records int) []audit.Record {
	t.Helper()
	doc := Book(t)
	w := &world{doc: doc, now: time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC),
		values: map[string]string{}, metas: map[string]*actions.Meta{}}
	machine := steps.New(steps.Config{Doc: doc, Journal: w, Prober: w, Controls: w, Caller: w, Clock: w,
		Begun: steps.Begun{Run: ID, File: "large.yaml", Approve: steps.Manual, Version: "test",
			Host: "ops-1", PID: 1, User: "ana"},
		Holder: actions.Holder{Run: ID, Actor: "ana", Host: "ops-1", Process: "1"}})
	if err := machine.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(w.records) < records {
		w.calm = len(w.records) > records-Calm
		move, err := machine.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch m := move.(type) {
		case steps.Wait:
			w.now = m.Until
		case steps.Stop:
			t.Fatalf("the walk ended after %d records: %+v", len(w.records), m)
		}
	}
	return w.records
}

package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// twin does everything twice: to the model and to the real store over a Redis in process.
type twin struct {
	t      *testing.T
	model  store
	real   *actions.Store
	server *miniredis.Miniredis
	now    time.Time
	leases map[string]actions.Lease
	plans  []actions.Plan
	doc    *runbook.Document
}

func newTwin(t *testing.T) *twin {
	doc, err := full.Document()
	if err != nil {
		t.Fatal(err)
	}
	w := &twin{t: t, model: newStore(), server: miniredis.NewMiniRedis(), now: start, leases: map[string]actions.Lease{}, doc: doc}
	w.real, err = actions.Open(actions.Options{URL: "redis://fake:6379", Service: "catalog", Clock: processClock{w: &world{now: start}},
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.server.Dial() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.real.Close()
		w.server.Close()
	})
	return w
}

// same wants both to have said the same, as far as the walk can see it.
func (w *twin) same(what string, model, real any) {
	w.t.Helper()
	if m, r := fmt.Sprintf("%+v", model), fmt.Sprintf("%+v", real); m != r {
		w.t.Fatalf("%s: the model says\n%s\nand the store\n%s", what, m, r)
	}
}

type seen struct {
	result  actions.Result
	cause   actions.Cause
	version int64
	found   string
	fence   int64
	run     string
}

func seenOf(o actions.Outcome) seen {
	s := seen{result: o.Result, cause: o.Cause, version: o.Version, found: shown(o.Found)}
	if o.Lease != nil {
		s.fence = o.Lease.Fence
	}
	if o.Commander != nil {
		s.run = o.Commander.Run
		s.version, s.found = 0, ""
	}
	return s
}

func (w *twin) step(r *rand.Rand) {
	w.server.SetTime(w.now)
	run := pick(r, []string{testRun, rivalRun})
	lease := w.leaseOf(run)
	c := w.doc.Control(pick(r, controlNames(Book{})))
	ctx := context.Background()
	if r.IntN(8) == 0 {
		lease.Process = "3"
	}
	switch r.IntN(9) {
	case 0:
		h := actions.Holder{Run: run, Actor: "ana", Host: "ops-" + run[:4], Fence: lease.Fence, Since: lease.Since, Process: pick(r, []string{"1", "2"})}
		if r.IntN(4) == 0 {
			h.Over, h.Why = pick(r, []string{testRun, rivalRun, "20261129T100000Z-third-0001"}), "it sleeps"
		}
		w.take(ctx, h)
	case 1:
		m, mOther := w.model.renew(lease, []string{c.Name}, w.now)
		got, err := w.real.Renew(ctx, lease, []string{c.Name})
		var other *actions.Commanded
		w.same("renew", []any{len(m), mOther != nil}, []any{len(got), errors.As(err, &other)})
	case 2:
		w.model.drop(lease)
		if err := w.real.Drop(ctx, lease); err != nil {
			w.t.Fatal(err)
		}
	case 3:
		raw := pick(r, handValues)
		w.model.set(c.Name, &raw)
		w.server.HSet(controls.Keys("catalog").Controls, c.Name, raw)
	case 4:
		w.now = w.now.Add(pick(r, seconds))
	case 5:
		to := c.Steady
		w.plans = append(w.plans, actions.NewPlan(run, "step", c, w.model.live(c, w.now), &to))
	case 6, 7:
		if len(w.plans) > 0 {
			p := pick(r, w.plans[max(0, len(w.plans)-4):])
			lease = w.leaseOf(p.Run)
			flipped := w.doc.Control(p.Control)
			steady := actions.Encode(flipped.Steady)
			stamp := actions.Stamp{Actor: "ana", Steady: &steady, Absent: actions.EncodeAbsent(flipped), Protects: c.Protects, DeadMan: flipped.DeadMan != nil}
			w.same("apply", seenOf(w.model.apply(lease, p, stamp, w.now)), seenOf(w.real.Apply(ctx, lease, p, stamp)))
		}
	case 8:
		if len(w.plans) > 0 {
			p := pick(r, w.plans)
			lease = w.leaseOf(p.Run)
			m := w.model.settle(lease, p, w.now)
			w.same("settle", seenOf(m), seenOf(w.real.Settle(ctx, lease, p)))
			if m.Lease != nil {
				w.leases[p.Run] = *m.Lease
			}
		}
	}
	w.read(ctx)
}

// leaseOf gives the latest lease of a run, which it may have lost.
func (w *twin) leaseOf(run string) actions.Lease {
	lease := w.leases[run]
	lease.Run, lease.Version = run, int64(len(w.plans)%3)
	return lease
}

func (w *twin) take(ctx context.Context, h actions.Holder) {
	m, mOther := w.model.take(h, w.now)
	got, err := w.real.Take(ctx, h)
	var other *actions.Commanded
	errors.As(err, &other)
	w.same("take", []any{m.Fence, whyOf(mOther)}, []any{got.Fence, whyOf(other)})
	if mOther == nil {
		w.leases[h.Run] = m
	}
}

// whyOf says who commands instead, and why if it has taken over.
func whyOf(c *actions.Commanded) string {
	if c == nil {
		return "nobody else"
	}
	return c.Run + " " + c.Why
}

// read compares what each control is read as.
func (w *twin) read(ctx context.Context) {
	w.server.SetTime(w.now)
	var all []*runbook.Control
	for i := range w.doc.Controls {
		all = append(all, &w.doc.Controls[i])
	}
	got, err := w.real.Read(ctx, all)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, m := range w.model.read(all, w.now) {
		r := got[name]
		w.same("read of "+name, []any{shown(m.Raw), m.Value, m.Invalid, m.Lapsed, m.Edited, metaOf(m)}, []any{shown(r.Raw), r.Value, r.Invalid, r.Lapsed, r.Edited, metaOf(r)})
	}
}

func metaOf(l actions.Live) string {
	if l.Meta == nil {
		return "none"
	}
	return fmt.Sprint(l.Meta.Version, l.Meta.Digest, l.Meta.Run, l.Meta.Fence, l.Meta.Since != 0, l.Meta.Until)
}

// TestTheModelOfRedis lets two runs take, lose and regain the command, flip, settle and
// meet hands, on the model and on the real store with the real scripts.
func TestTheModelOfRedis(t *testing.T) {
	for seed := range uint64(12) {
		w := newTwin(t)
		r := rand.New(rand.NewPCG(seed, 1))
		for range 60 {
			w.step(r)
		}
	}
}

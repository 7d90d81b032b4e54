//go:build !race

package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
	"github.com/rewarm/rewarm/templates"
)

// labWalk walks the bundled runbook on the embedded lab, with its real engine, its real
// scripts and the real client, and with luck against it until it runs out.
type labWalk struct {
	*actions.Store
	t       *testing.T
	r       *rand.Rand
	lab     *lab.Lab
	doc     *runbook.Document
	poller  *probes.Poller
	machine *steps.Machine
	records []audit.Record
	intents map[string]bool
	calls   []steps.CallDone
	kills   int
	trouble int // faults that are still to come
}

func newLabWalk(t *testing.T, seed uint64) *labWalk {
	source, err := templates.Files.ReadFile("runbooks/hot-key-collapse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, problems := runbook.Parse("hot-key-collapse.yaml", source, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	story := lab.CaseStudy()
	w := &labWalk{t: t, r: rand.New(rand.NewPCG(seed, 7)), doc: doc, intents: map[string]bool{}, trouble: 12}
	if w.lab, err = lab.New(lab.Options{Seed: 1, Scenario: &story, Start: start}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.lab.Close)
	if w.poller, err = probes.NewPoller(probes.Options{URL: "http://lab", Transport: w.lab.Transport()}, w.lab.Clock()); err != nil {
		t.Fatal(err)
	}
	if w.Store, err = actions.Open(actions.Options{URL: "redis://lab:6379", Dial: w.lab.DialRedis, Service: doc.Service, Clock: w.lab.Clock()}); err != nil {
		t.Fatal(err)
	}
	return w
}

// unlucky reports whether a fault strikes here, of about one in n.
func (w *labWalk) unlucky(n int) bool {
	if w.trouble == 0 || w.r.IntN(n) > 0 {
		return false
	}
	w.trouble--
	return true
}

func (w *labWalk) Append(actor, kind string, body any) (audit.Record, error) {
	raw, err := encode(body)
	r := audit.Record{Seq: uint64(len(w.records) + 1), At: w.lab.Clock().Now().UTC(), Actor: actor, Kind: kind, Body: raw}
	w.records = append(w.records, r)
	if b, ok := body.(*steps.Intended); ok {
		w.intents[b.Digest] = true
	}
	if len(w.records) > 1 && w.unlucky(60) {
		panic(killed{})
	}
	return r, err
}

func (w *labWalk) Commit(actor, kind string, body any) (audit.Record, error) {
	return w.Append(actor, kind, body)
}

func (w *labWalk) Poll(ctx context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	o := w.poller.Poll(ctx, doc, asks, version)
	if w.unlucky(40) {
		for i := range o.Answers {
			o.Answers[i] = probes.Answer{Ask: o.Answers[i].Ask, At: o.At, Reason: probes.Transport, Detail: "it hung up"}
		}
		o.Propagation = nil
	}
	return o
}

func (w *labWalk) Apply(ctx context.Context, l actions.Lease, p actions.Plan, st actions.Stamp) actions.Outcome {
	if !w.intents[p.Digest()] {
		w.t.Fatalf("%s is flipped without an intent", p.Control)
	}
	lost, unanswered := w.unlucky(8), w.unlucky(8)
	if lost {
		return outcomeOf(noAnswer)
	}
	o := w.Store.Apply(ctx, l, p, st)
	if unanswered {
		return outcomeOf(noAnswer)
	}
	return o
}

// Start has the lab answer a call before the next move.
func (w *labWalk) Start(r steps.CallRequest) {
	w.calls = append(w.calls, steps.CallDone{Step: r.Step, Undo: r.Undo, Instead: r.Instead, OK: true, Output: w.lab.Call(r.Do.Args...)})
}

func (w *labWalk) process() {
	w.calls = nil
	w.machine = steps.New(steps.Config{Doc: w.doc, Journal: w, Prober: w, Controls: w, Caller: w, Clock: w.lab.Clock(),
		Begun:  steps.Begun{Run: testRun, File: w.doc.File, Approve: steps.Auto, Version: "simulated", Host: "lab", User: "ana", Lab: true},
		Holder: actions.Holder{Run: testRun, Actor: "ana", Host: "lab"}})
}

// all gives the records for a fold.
func (w *labWalk) all(yield func(audit.Record, error) bool) {
	for _, r := range w.records {
		if !yield(r, nil) {
			return
		}
	}
}

// walk drives the walk to its end, in as many processes as it takes.
func (w *labWalk) walk(ctx context.Context) error {
	until := start.Add(20 * time.Minute)
	for first := true; w.lab.Clock().Now().Before(until); first = false {
		w.process()
		ended, err := w.live(ctx, first)
		if ended || err != nil {
			return err
		}
		w.kills++
	}
	return errors.New("it has not ended: " + w.machine.State().Blocking(w.lab.Clock().Now()))
}

// live is the life of one process.
func (w *labWalk) live(ctx context.Context, first bool) (ended bool, err error) {
	defer func() {
		if dead := recover(); dead != nil && dead != (killed{}) {
			panic(dead)
		}
	}()
	if first {
		err = w.machine.Begin(ctx)
	} else {
		err = w.machine.Resume(ctx, w.all)
	}
	for err == nil {
		for len(w.calls) > 0 && err == nil {
			done := w.calls[0]
			w.calls = w.calls[1:]
			err = w.machine.Called(done)
		}
		if h := w.machine.State().Holds(); len(h) > 0 && len(h[0].Cause) > 5 && h[0].Cause[:5] == "call " {
			err = w.machine.Order(steps.Order{Kind: steps.OrderRelease, By: "ben"})
		}
		var move steps.Move
		if move, err = w.machine.Step(ctx); err != nil {
			break
		}
		switch m := move.(type) {
		case steps.Stop:
			return true, nil
		case steps.Wait:
			if now := w.lab.Clock().Now(); now.Sub(start) > 20*time.Minute {
				return true, errors.New("it does not end: " + m.Blocking)
			}
			err = w.lab.Clock().Wait(ctx, m.Until)
		}
	}
	return true, err
}

// TestSeedsOnTheLab walks the bundled runbook on the lab with faults. It closes, every
// temporary control is at its steady value, every flip had its intent, and the fold of the
// records is where the walk is.
func TestSeedsOnTheLab(t *testing.T) {
	for seed := range uint64(2) {
		w := newLabWalk(t, seed)
		if err := w.walk(t.Context()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		s := w.machine.State()
		if s.Ending != steps.EndedClosed {
			t.Fatalf("seed %d: %q", seed, s.Ending)
		}
		var all []*runbook.Control
		for i := range w.doc.Controls {
			all = append(all, &w.doc.Controls[i])
		}
		lives, err := w.Read(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if live := lives[c.Name]; c.Temporary && !live.Value.Equal(c.Steady) {
				t.Errorf("seed %d: %s is left at %s", seed, c.Name, c.Format(live.Value))
			}
		}
		folded, err := steps.Fold(w.all)
		if err != nil || folded.Ending != s.Ending || folded.Seq != s.Seq || len(folded.Flips()) != len(s.Flips()) {
			t.Errorf("seed %d: the fold is elsewhere: %v", seed, err)
		}
		t.Logf("seed %d: %d records, %d kills, closed after %s", seed, len(w.records), w.kills, w.lab.Clock().Now().Sub(start))
	}
}

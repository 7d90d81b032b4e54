package gameday

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// sitting is a person at a day who does as they are told.
type sitting struct {
	t       *testing.T
	playing *Playing
	day     *Day
	machine *steps.Machine
	journal *memory
	store   *actions.Store
	calls   []steps.CallDone
	ctx     context.Context
	leave   context.CancelFunc // killed
}

// sitDown seats a person who leaves the approvals to the gates.
func sitDown(t *testing.T, text string) *sitting {
	t.Helper()
	s := &sitting{t: t, day: parse(t, text), leave: func() {}}
	var err error
	if s.playing, err = s.day.Seat(t.Context(), Options{Seed: 1, Killed: func() { s.leave() }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.playing.Close)
	s.journal = &memory{now: s.playing.Clock().Now, keeps: true}
	s.newProcess()
	if err := s.machine.Begin(s.ctx); err != nil {
		t.Fatal(err)
	}
	s.playing.Sits(s.machine)
	return s
}

// newProcess makes a machine, as a process of the person has one.
func (s *sitting) newProcess() {
	prober, err := s.playing.Prober()
	if err != nil {
		s.t.Fatal(err)
	}
	if s.store, err = s.playing.Store(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.store.Close() })
	doc := s.day.Book
	s.machine = steps.New(steps.Config{
		Doc: doc, Journal: s.journal, Prober: prober, Controls: s.store, Caller: s, Clock: s.playing.Clock(),
		Begun:    steps.Begun{Run: "run", Runbook: doc.Source, Approve: steps.Auto, User: "ana", Lab: true},
		Holder:   actions.Holder{Run: "run", Actor: "ana"},
		OnRecord: func(r audit.Record, body any) { s.playing.Record(r, body) },
	})
	s.ctx, s.leave = context.WithCancel(s.t.Context())
}

// Start makes a call.
func (s *sitting) Start(c steps.CallRequest) {
	s.playing.Call(c, func(done steps.CallDone) { s.calls = append(s.calls, done) })
}

// walks until the run stops or the process is killed.
func (s *sitting) walks() {
	for s.ctx.Err() == nil {
		for _, done := range s.calls {
			if err := s.machine.Called(done); err != nil {
				s.t.Fatal(err)
			}
		}
		s.calls = nil
		move, err := s.machine.Step(s.ctx)
		if s.ctx.Err() != nil {
			return
		}
		if err != nil {
			s.t.Fatal(err)
		}
		switch m := move.(type) {
		case steps.Stop:
			return
		case steps.Wait:
			s.playing.Waits(m.Question)
			if s.playing.Elapsed() >= s.day.Duration {
				return
			}
			_ = s.playing.Clock().Wait(s.ctx, m.Until)
		}
	}
}

// A person who does what the script does gets the figures of the script.
func TestSeatIsWalkedAsTheScript(t *testing.T) {
	text := strings.Replace(short, "62s", "80s", 1) + `
timeline: [{at: 35s, event: prometheus-partial, for: 5s}, {at: 45s, event: edit, control: stale.product-detail, to: 10s}]
expect:
  - {name: drift is seen, eventually: [{records: drifted, at_least: 1}]}
  - {name: protected, finally: [{score: protected, above: 0s}]}
`
	s := sitDown(t, text)
	s.walks()
	r, err := s.playing.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	script := play(t, text, Options{})
	if !r.Passed {
		t.Errorf("%+v", r.Verdicts)
	}
	for i, score := range r.Scores {
		if want := script.Scores[i]; !reflect.DeepEqual(score, want) {
			t.Errorf("%s is %v for the person and %v for the script", score.Name, valueOf(score), valueOf(want))
		}
	}
	if r.Ending != "open" {
		t.Errorf("the run is %s", r.Ending)
	}
}

// The process of a person is killed as that of a script is, and the day goes on meanwhile.
func TestSeatIsKilled(t *testing.T) {
	s := sitDown(t, short+`
timeline: [{at: 40s, event: kill-operator, for: 10s}, {at: 45s, event: edit, control: origin.admission, to: 3000}]
expect:
  - {name: resumed, finally: [{records: event, where: {event: walk, outcome: resumed}, equals: 1}]}
  - {name: edited, finally: [{records: event, where: {event: edit}, equals: 1}]}
`)
	s.walks()
	if now := s.playing.Elapsed().Seconds(); now != 40 {
		t.Errorf("killed after %v s", now)
	}
	if err := s.playing.Clock().Wait(t.Context(), s.playing.Back()); err != nil {
		t.Fatal(err)
	}
	records, _ := s.journal.Reopen()
	s.newProcess()
	if err := s.machine.Resume(s.ctx, records); err != nil {
		t.Fatal(err)
	}
	s.playing.Sits(s.machine)
	s.walks()
	if r, err := s.playing.End(t.Context()); err != nil || !r.Passed {
		t.Errorf("%v %+v", err, r)
	}
}

func valueOf(s Score) any {
	if s.Value == nil {
		return "unknown"
	}
	return *s.Value
}

// Whoever stops the walk, or whom the end of the day stops, has said no word and put on no hold.
func TestStoppingIsNoWord(t *testing.T) {
	s := sitDown(t, short+`
timeline: [{at: 1s, event: prometheus-partial, for: 1s}]
expect: [{name: no word, finally: [{score: words, equals: 0}, {score: holds, equals: 0}]}]
`)
	if err := s.machine.Order(steps.Order{Kind: steps.OrderInterrupt, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	s.walks()
	if r, err := s.playing.End(t.Context()); err != nil || !r.Passed || r.Deeds[len(r.Deeds)-1].By == "" {
		t.Errorf("%v %+v", err, r)
	}
}

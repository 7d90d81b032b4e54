package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// trial plays one scenario on a lab of its own, with a runbook or without, as fast
// as it goes and without a log on disk.
type trial struct {
	doc     *runbook.Document
	lab     *lab.Lab
	began   time.Time
	longest time.Duration // the trial ends after this
	// word is how long a person takes for a word; 0 lets the gates approve.
	word time.Duration
	// each is called once a second of the lab's time.
	each func() error

	before  int // reads that were not served before the trial
	words   int // that the person gave
	answers *labAnswers
}

// errTooLong says that a trial did not come to its end in time.
var errTooLong = errors.New("not recovered in time")

// leftAlone lets a scenario go on without a walk and gives how long it takes to the
// end of the last interval in which the runbook's exit holds.
func (t *trial) leftAlone(ctx context.Context) (time.Duration, error) {
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: t.lab.Transport()}, t.lab.Clock())
	if err != nil {
		return 0, err
	}
	exit := t.doc.Exit
	asks := probes.Asks(t.doc, exit.When, "", "")
	var before probes.Observation
	var since time.Time
	for t.elapsed() < t.longest {
		if err := t.second(ctx); err != nil {
			return 0, err
		}
		seen := poller.Poll(ctx, t.doc, asks, 0)
		verdict := probes.Judge(exit.When, probes.Situation{
			StaleAfter: t.doc.Defaults.StaleAfter, Answer: seen.Answer, Previous: before.Answer, Probe: t.doc.Probe,
		}).Verdict
		before = seen
		now := t.lab.Clock().Now()
		if verdict != probes.Pass {
			since = time.Time{}
			continue
		}
		if since.IsZero() {
			since = now
		}
		if now.Sub(since) >= time.Duration(exit.Intervals)*exit.Interval {
			return t.elapsed(), nil
		}
	}
	return 0, errTooLong
}

// labURL is the address of a lab in this process; its host does not matter.
const labURL = "http://lab"

// unserved is how many reads were refused or failed in the trial.
func (t *trial) unserved() int { return t.lab.Unserved() - t.before }

func (t *trial) elapsed() time.Duration { return t.lab.Clock().Now().Sub(t.began) }

// second lets a second of the lab's time pass.
func (t *trial) second(ctx context.Context) error {
	if err := t.lab.Clock().Wait(ctx, t.lab.Clock().Now().Add(time.Second)); err != nil {
		return err
	}
	if t.each == nil {
		return nil
	}
	return t.each()
}

// walked walks the runbook and gives its state: at the recovery, or at the end of the
// walk when it is to be walked through.
func (t *trial) walked(ctx context.Context, through bool) (*steps.State, error) {
	machine, err := t.machine()
	if err != nil {
		return nil, err
	}
	if err := machine.Begin(ctx); err != nil {
		return nil, err
	}
	var typing typist
	for t.elapsed() < t.longest {
		state := machine.State()
		if state.Recovered != nil && !through {
			return state, nil
		}
		if err := t.answers.deliver(machine); err != nil {
			return state, err
		}
		move, err := machine.Step(ctx)
		if err != nil {
			return state, err
		}
		switch m := move.(type) {
		case steps.Stop:
			return machine.State(), nil
		case steps.Wait:
			if err := t.wait(ctx, machine, m, &typing); err != nil {
				return machine.State(), err
			}
		}
	}
	return machine.State(), errTooLong
}

// wait lets the lab go on until the machine looks again, a word has been typed, or a
// second has passed.
func (t *trial) wait(ctx context.Context, machine *steps.Machine, m steps.Wait, typing *typist) error {
	now := t.lab.Clock().Now()
	if word, due := typing.word(m.Question, now, t.word); due {
		t.words++
		return machine.Order(word)
	}
	until := now.Add(time.Second)
	if m.Until.Before(until) {
		until = m.Until
	}
	if typing.busy() && typing.done.Before(until) {
		until = typing.done
	}
	if err := t.lab.Clock().Wait(ctx, until); err != nil {
		return err
	}
	if t.each != nil {
		return t.each()
	}
	return nil
}

// machine builds a step machine on the lab.
func (t *trial) machine() (*steps.Machine, error) {
	clock := t.lab.Clock()
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: t.lab.Transport()}, clock)
	if err != nil {
		return nil, err
	}
	store, err := actions.Open(actions.Options{URL: "redis://lab:6379", Dial: t.lab.DialRedis, Service: t.doc.Service,
		Clock: clock})
	if err != nil {
		return nil, err
	}
	t.answers = &labAnswers{lab: t.lab}
	approve := steps.Auto
	if t.word > 0 {
		approve = steps.Manual
	}
	const run = "20261129T100800Z-trial-0001"
	return steps.New(steps.Config{
		Doc: t.doc, Journal: &memory{now: clock.Now}, Prober: poller, Controls: store, Caller: t.answers, Clock: clock,
		Begun: steps.Begun{
			Format: steps.FormatV1, Run: run, Service: t.doc.Service, File: t.doc.File,
			Runbook: t.doc.Source, SHA256: t.doc.Sum(), Approve: approve, Version: thisBuild().Version,
			Prometheus: poller.Address(), Redis: store.Target(), Host: "lab", User: "lab", Lab: true,
		},
		Holder:   actions.Holder{Run: run, Actor: "lab", Host: "lab"},
		OnRecord: func(audit.Record, any) {},
	}), nil
}

// typist is a person who reads a question, types the widest word that it offers, and
// leaves questions that answer themselves alone.
type typist struct {
	digest string
	done   time.Time // when the word is typed
}

func (p *typist) busy() bool { return p.digest != "" }

// word gives the order when it has been typed.
func (p *typist) word(q steps.Question, now time.Time, takes time.Duration) (steps.Order, bool) {
	if takes == 0 || len(q.Offers) == 0 {
		p.digest = ""
		return steps.Order{}, false
	}
	offer := q.Offers[len(q.Offers)-1]
	if p.digest != offer.Digest {
		p.digest, p.done = offer.Digest, now.Add(takes)
	}
	if now.Before(p.done) {
		return steps.Order{}, false
	}
	p.digest = ""
	return steps.Order{Kind: steps.OrderApprove, Digest: offer.Digest, Step: q.Step, By: "lab"}, true
}

// labAnswers has the lab answer calls.
type labAnswers struct {
	lab     *lab.Lab
	waiting []steps.CallDone
}

// Start takes a call; its answer is delivered before the machine's next move.
func (c *labAnswers) Start(r steps.CallRequest) {
	words := r.Do.Args
	if len(words) == 0 {
		words = []string{r.Do.Method, r.Do.URL}
	}
	c.waiting = append(c.waiting, steps.CallDone{
		Step: r.Step, Undo: r.Undo, Instead: r.Instead, OK: true, Output: c.lab.Call(words...),
	})
}

func (c *labAnswers) deliver(machine *steps.Machine) error {
	waiting := c.waiting
	c.waiting = nil
	for _, answer := range waiting {
		if err := machine.Called(answer); err != nil {
			return err
		}
	}
	return nil
}

// memory is a journal that nothing outlives.
type memory struct {
	now func() time.Time
	seq uint64
}

func (m *memory) Append(actor, kind string, body any) (audit.Record, error) {
	raw, err := json.Marshal(body)
	m.seq++
	return audit.Record{Seq: m.seq, At: m.now(), Actor: actor, Kind: kind, Body: raw}, err
}

func (m *memory) Commit(actor, kind string, body any) (audit.Record, error) {
	return m.Append(actor, kind, body)
}

package gameday

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// walker is one run with the process that walks it, which may be killed and come back.
type walker struct {
	w       *world
	id      string
	actor   string
	host    string
	person  bool        // somebody from outside walks; the machine is theirs
	over    *steps.Over // the run from which it takes the command
	beginAt time.Time
	journal Journal

	machine  *steps.Machine // nil while no process walks
	prober   *probes.Poller
	store    *actions.Store
	calls    []steps.CallDone
	until    time.Time
	question steps.Question
	typing   typing
	stopped  bool
	process  int    // counts the processes that were killed
	lost     string // why this process could not go on, "" while it can
}

// retryBegin is when a person starts a walk again that could not begin.
const retryBegin = 5 * time.Second

func (r *walker) due() (time.Time, bool) {
	switch {
	case r.stopped || r.person:
		return time.Time{}, false
	case r.machine == nil:
		return r.beginAt, true
	}
	if at, typing := r.typing.due(); typing && at.Before(r.until) {
		return at, true
	}
	return r.until, true
}

// advance performs moves until the run waits or ends.
func (r *walker) advance(ctx context.Context) error {
	now := r.w.clock.Now()
	if r.stopped || r.person || r.machine == nil && now.Before(r.beginAt) {
		return nil
	}
	if r.machine == nil {
		if err := r.start(ctx); err != nil || r.machine == nil {
			return err
		}
	}
	for {
		if err := r.hear(); err != nil {
			return r.fail(err)
		}
		move, err := r.machine.Step(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return r.fail(err)
		}
		switch m := move.(type) {
		case steps.Stop:
			r.stopped, r.question = true, steps.Question{}
			return nil
		case steps.Wait:
			r.until, r.question = m.Until, m.Question
			if r.w.run() == r && r.w.person.speaks(r, now) {
				continue
			}
			return nil
		}
	}
}

// fail ends the process; what it says belongs to the day. Only a log that fails ends the play.
func (r *walker) fail(err error) error {
	r.stopped, r.lost = true, err.Error()
	var commanded *actions.Commanded
	var failure *actions.Failure
	if errors.As(err, &commanded) || errors.As(err, &failure) {
		r.w.tell(Event{Event: "walk", Outcome: "ended", Detail: err.Error()})
		return nil
	}
	return fmt.Errorf("the walk: %w", err)
}

// start begins the run, or resumes it after its process was killed.
func (r *walker) start(ctx context.Context) error {
	resumes := r.journal != nil
	if !resumes {
		journal, err := r.w.newJournal(r.id)
		if err != nil {
			return err
		}
		r.journal = journal
	}
	machine, err := r.newMachine()
	if err != nil {
		return err
	}
	if resumes {
		records, err := r.journal.Reopen()
		if err == nil {
			err = machine.Resume(ctx, records)
		}
		if err != nil {
			return r.fail(err)
		}
		r.w.tell(Event{Event: "walk", Outcome: "resumed"})
	} else if err := machine.Begin(ctx); err != nil {
		return r.notBegun(err)
	}
	r.machine = machine
	return nil
}

// notBegun lets a person try again later, unless another run commands.
func (r *walker) notBegun(err error) error {
	r.w.tell(Event{Event: "walk", Outcome: "refused", Detail: err.Error()})
	r.close()
	journal := r.journal
	r.journal = nil
	r.beginAt = r.w.clock.Now().Add(retryBegin)
	var commanded *actions.Commanded
	r.stopped = errors.As(err, &commanded)
	return journal.Close()
}

// newMachine builds a process that walks through the day's faults.
func (r *walker) newMachine() (*steps.Machine, error) {
	clock, doc := r.w.clock, r.w.day.Book
	var err error
	if r.prober, err = r.w.ground.prober(); err != nil {
		return nil, err
	}
	if r.store, err = r.w.ground.store(); err != nil {
		return nil, err
	}
	approve := steps.Auto
	if r.w.options.Approve != "auto" {
		approve = steps.Manual
	}
	begun := steps.Begun{
		Format: steps.FormatV1, Run: r.id, Service: doc.Service, File: doc.File, Runbook: doc.Source, SHA256: doc.Sum(),
		Parameters: r.w.day.Set, Approve: approve, Version: r.w.options.Version, Prometheus: r.prober.Address(),
		Redis: r.store.Target(), Host: r.host, User: r.actor, Over: r.over,
	}
	r.w.ground.describe(&begun)
	return steps.New(steps.Config{
		Doc: doc, Journal: r.journal, Prober: r.prober, Controls: r.store, Caller: r, Clock: clock,
		Begun:    begun,
		Holder:   actions.Holder{Run: r.id, Actor: r.actor, Host: r.host},
		OnRecord: r.record,
	}), nil
}

func (r *walker) record(record audit.Record, body any) {
	if r.w.run() != r {
		return
	}
	r.w.score.record(record, body)
	r.w.judge.countRecord(record)
	if r.w.options.OnRecord != nil {
		r.w.options.OnRecord(record, body)
	}
}

// kill ends the process at once; the run is resumed later.
func (r *walker) kill(after time.Duration) {
	r.close()
	r.machine, r.calls, r.question, r.typing = nil, nil, steps.Question{}, typing{}
	r.process++
	r.beginAt = r.w.clock.Now().Add(after)
	if r.person && r.w.options.Killed != nil {
		r.w.options.Killed()
	}
}

// leave has the process stop in order, until ctx ends.
func (r *walker) leave(ctx context.Context) error {
	if r.machine == nil || r.stopped {
		return nil
	}
	over := steps.Order{Kind: steps.OrderInterrupt, By: r.actor, Text: "the game day is over"}
	if err := r.machine.Order(over); err != nil {
		return err
	}
	for {
		if err := r.advance(ctx); err != nil || r.stopped {
			return err
		}
		if err := r.w.clock.Wait(ctx, r.w.clock.Now().Add(second/10)); err != nil {
			return fmt.Errorf("the walk did not stop: %w", err)
		}
	}
}

func (r *walker) close() {
	if r.store != nil {
		_ = r.store.Close()
	}
	if r.stopped && r.journal != nil {
		_ = r.journal.Close()
	}
}

// Start makes a call; the answer is handed in before the next move.
func (r *walker) Start(c steps.CallRequest) {
	process := r.process
	r.w.ground.call(c, func(done steps.CallDone) {
		if r.process == process {
			r.calls = append(r.calls, done)
		}
	})
}

func (r *walker) hear() error {
	calls := r.calls
	r.calls = nil
	for _, answer := range calls {
		if err := r.machine.Called(answer); err != nil {
			return err
		}
	}
	return nil
}

// order gives an order of a person, and says what became of it.
func (r *walker) order(o steps.Order) (outcome, detail string) {
	if r.machine == nil || r.stopped {
		return "refused", "nobody walks now"
	}
	o.By = r.actor
	err := r.machine.Order(o)
	var refused *steps.RefusedOrder
	switch {
	case err == nil:
		r.until = r.w.clock.Now()
		r.w.score.words++
		return "done", ""
	case errors.As(err, &refused):
		return "refused", refused.Sentence
	}
	return "failed", err.Error()
}

// newJournal begins the log of a run.
func (w *world) newJournal(run string) (Journal, error) {
	if w.options.Journal != nil {
		return w.options.Journal(run, w.clock)
	}
	return &memory{now: w.clock.Now, keeps: w.kills()}, nil
}

package gameday

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
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
	begun   bool

	machine  machine // nil while no process walks
	process  Process // that moves the machine; nil where a person does
	until    time.Time
	question steps.Question
	typing   typing
	stopped  bool
	lost     string // why this process could not go on, "" while it can
}

// machine is what a run is looked at and given orders through.
type machine interface {
	Order(o steps.Order) error
	State() *steps.State
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
		move, err := r.process.Step(ctx)
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
	if fromRedis(err) {
		r.w.tell(Event{Event: "walk", Outcome: "ended", Detail: err.Error()})
		return nil
	}
	return fmt.Errorf("the walk: %w", err)
}

// fromRedis reports whether Redis has refused something, or did not answer.
func fromRedis(err error) bool {
	var commanded *actions.Commanded
	var failure *actions.Failure
	return errors.As(err, &commanded) || errors.As(err, &failure)
}

// start begins the run, or resumes it after its process was killed.
func (r *walker) start(ctx context.Context) error {
	process, err := r.w.ground.process(r.walk())
	if err != nil {
		return err
	}
	if r.begun {
		if err := process.Resume(ctx); err != nil {
			return r.fail(errors.Join(err, process.Close()))
		}
		r.w.tell(Event{Event: "walk", Outcome: "resumed"})
	} else if err := process.Begin(ctx); err != nil {
		return r.notBegun(err)
	}
	r.machine, r.process, r.begun = process, process, true
	return nil
}

// notBegun lets a person try again later, unless another run commands.
func (r *walker) notBegun(err error) error {
	if !fromRedis(err) {
		return fmt.Errorf("the walk: %w", err)
	}
	r.w.tell(Event{Event: "walk", Outcome: "refused", Detail: err.Error()})
	r.beginAt = r.w.clock.Now().Add(retryBegin)
	var commanded *actions.Commanded
	r.stopped = errors.As(err, &commanded)
	return nil
}

// walk is what a process of the run walks.
func (r *walker) walk() Walk {
	approve := steps.Auto
	if r.w.options.Approve != runbook.ApproveAuto {
		approve = steps.Manual
	}
	return Walk{Run: r.id, Actor: r.actor, Host: r.host, Approve: approve, Over: r.over, OnRecord: r.record}
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
	r.machine, r.process, r.question, r.typing = nil, nil, steps.Question{}, typing{}
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
	if r.process != nil {
		_ = r.process.Close()
	}
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

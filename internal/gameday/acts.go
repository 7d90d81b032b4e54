package gameday

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// act is a happening of the timeline and whether it has come.
type act struct {
	runbook.Happening
	fault lab.Event // of an event of the service
	at    time.Time
	timed bool // at is known
	done  bool
	after func() // what ends it, instead of a happening
}

// script puts the timeline of the day together with those of the mistakes that are made,
// and begins the walk.
func (w *world) script() error {
	timeline := slices.Clone(w.day.Timeline)
	for _, name := range w.options.Mistakes {
		mistake := w.day.Mistake(name)
		if mistake == nil {
			return fmt.Errorf("game day %s describes no mistake %q", w.day.Name, name)
		}
		timeline = append(timeline, mistake.Timeline...)
	}
	for _, h := range timeline {
		if w.options.person && slices.Contains(ofOperator, h.Event) {
			continue
		}
		a := &act{Happening: h}
		if !isTool(h.Event) {
			fault, err := faultOf(w.day.File, &h)
			if err != nil {
				return err
			}
			a.fault = fault
		}
		if h.Event == runbook.RedisFailover {
			w.losing = max(w.losing, h.For)
		}
		if h.When == nil {
			a.at, a.timed = w.began.Add(h.At), true
		}
		w.acts = append(w.acts, a)
	}
	if w.walks() {
		actor, host := w.operator()
		w.runs = append(w.runs, &walker{w: w, id: w.options.Run, actor: actor, host: host, person: w.options.person,
			beginAt: w.began.Add(w.day.Operator.Reacts)})
	}
	return nil
}

// operator is who walks, and where. On real servers the log says that it was a script, on this machine.
func (w *world) operator() (actor, host string) {
	if w.options.Target != nil {
		return "gameday " + w.day.Name, ""
	}
	return "operator", "lab"
}

// ofOperator are the events that the operator does or decides: a person has own ways.
var ofOperator = []string{runbook.GiveOrder, runbook.DeclareModes, runbook.SlowWords, runbook.IgnoreHolds}

func isTool(event string) bool {
	return slices.ContainsFunc(runbook.DayEvents, func(e runbook.DayEvent) bool { return e.Name == event })
}

// kills reports whether a process of a walk is killed on this day.
func (w *world) kills() bool {
	return slices.ContainsFunc(w.acts, func(a *act) bool { return a.Event == runbook.KillOperator })
}

// passed is told that the gate of an act has passed for the first time.
func (a *act) passed(now time.Time) { a.at, a.timed = now.Add(a.At), true }

// act does what is due.
func (w *world) act() {
	now := w.clock.Now()
	for i := 0; i < len(w.acts); i++ {
		a := w.acts[i]
		if a.done || !a.timed || now.Before(a.at) {
			continue
		}
		a.done = true
		if a.after != nil {
			a.after()
			continue
		}
		outcome, detail := w.do(&a.Happening, a.fault)
		w.tell(Event{Event: a.Event, Outcome: outcome, Detail: detail})
	}
}

// later lets something end after a time.
func (w *world) later(d time.Duration, do func()) {
	w.acts = append(w.acts, &act{at: w.clock.Now().Add(d), timed: true, after: do})
}

// do lets one thing happen.
func (w *world) do(h *runbook.Happening, fault lab.Event) (outcome, detail string) {
	switch h.Event {
	case runbook.SlowWords:
		w.person.word = h.For
	case runbook.IgnoreHolds:
		w.person.ignores = true
	case runbook.DeclareModes:
		w.person.modes = h.Modes
	case runbook.SecondRun:
		return w.secondRun()
	case runbook.KillOperator, runbook.TakeOver, runbook.GiveOrder:
		return w.doToRun(h)
	default:
		return w.ground.befall(h, fault)
	}
	return "done", ""
}

// doToRun does what needs a run.
func (w *world) doToRun(h *runbook.Happening) (outcome, detail string) {
	run := w.run()
	if run == nil || run.machine == nil || run.stopped {
		return "refused", "nobody walks now"
	}
	switch h.Event {
	case runbook.KillOperator:
		run.kill(h.For)
	case runbook.TakeOver:
		w.runs = append(w.runs, &walker{w: w, id: fmt.Sprintf("%s-over-%d", run.id, len(w.runs)), actor: secondOperator,
			host: elsewhere,
			over: run.machine.State().Overtake(h.Text), beginAt: w.clock.Now()})
	case runbook.GiveOrder:
		o := steps.Order{Kind: steps.OrderKind(h.Order), Step: h.Step, Text: h.Text}
		if h.Order == "skip" && o.Text == "" {
			o.Text = "told to"
		}
		return run.order(o)
	}
	return "done", ""
}

// Whoever comes beside the operator, and where they sit.
const secondOperator, elsewhere = "second operator", "elsewhere"

// secondRun is somebody who starts a run and obeys when refused.
func (w *world) secondRun() (outcome, detail string) {
	ctx := context.Background()
	store, err := w.ground.store()
	if err != nil {
		return "failed", err.Error()
	}
	defer store.Close()
	lease, err := store.Take(ctx, actions.Holder{Run: w.options.Run + "-second", Actor: secondOperator, Host: elsewhere})
	var commanded *actions.Commanded
	switch {
	case errors.As(err, &commanded):
		return "refused", err.Error()
	case err != nil:
		return "failed", err.Error()
	}
	_ = store.Drop(ctx, lease)
	return "began", "nobody commanded the service"
}

package gameday

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Options say how a day is played.
type Options struct {
	Seed     uint64
	Mistakes []string // that the operator makes; described in the day
	Approve  string   // auto, person or nobody; "" for what the day says
	Version  string   // of rewarm, for the logs
	Run      string   // the id of the first run
	// Date is the day of the logs; zero for a fixed one, so that two plays are equal.
	Date time.Time
	// Pace may put a clock between the day and its time, as one that goes with real time; nil for none.
	Pace func(Clock) Clock
	// Journal begins the log of a run; nil keeps logs in memory.
	Journal func(run string, clock Clock) (Journal, error)
	// OnRecord is told of every record of the walk, OnEvent of everything that the day does,
	// OnSecond once a second; each may be nil.
	OnRecord func(audit.Record, any)
	OnEvent  func(Event)
	OnSecond func(elapsed time.Duration)
	// Ended is called for each run before the lab is closed; it may be nil.
	Ended func(context.Context, Ended) error
	// Killed is called when the process of a person's walk is killed; it may be nil.
	Killed func()

	person bool // the operator sits outside; see Playing
}

// Ended is a run at the end of its day, while what it has asked still answers.
type Ended struct {
	Run    string
	State  *steps.State
	Prober *probes.Poller
	Store  *actions.Store
	Clock  Clock
}

// Event is one thing that a day has done, and what came of it.
type Event struct {
	Seconds float64 `json:"seconds"` // since the start of the day
	Event   string  `json:"event"`
	Outcome string  `json:"outcome"`          // one word: done, ended, refused, began, failed
	Detail  string  `json:"detail,omitempty"` // a sentence
}

// second is how often expectations are judged.
const second = time.Second

// lull is how long a day goes on when everything is over, so that what comes back shows.
const lull = 30 * time.Second

// Play lets a day happen. The error is of the lab, the log or the context; what the day has
// brought is in the result.
func (d *Day) Play(ctx context.Context, o Options) (*Result, error) {
	w, err := d.open(o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.toEnd(ctx)
}

// open makes ready what a day is played on.
func (d *Day) open(o Options) (*world, error) {
	if o.Approve == "" {
		o.Approve = d.Operator.Approve
	}
	if o.Mistakes == nil {
		o.Mistakes = d.Operator.Mistakes
	}
	if o.Run == "" {
		o.Run = d.runID(o)
	}
	return newWorld(d, o)
}

// toEnd lets everything happen that is yet to come, and judges the day.
func (w *world) toEnd(ctx context.Context) (*Result, error) {
	if err := w.play(ctx); err != nil {
		return nil, err
	}
	if err := w.end(ctx); err != nil {
		return nil, err
	}
	return w.result(), nil
}

// runID names the first run of a play by the day, the mistakes and the seed.
func (d *Day) runID(o Options) string {
	parts := slices.Concat([]string{dayOfPlays.Add(d.Story.Start).Format("20060102T150405Z"), d.Name}, o.Mistakes)
	return fmt.Sprintf("%s-%04d", strings.Join(parts, "-"), o.Seed)
}

// play goes from moment to moment until the day is over.
func (w *world) play(ctx context.Context) error {
	for {
		if over, err := w.happen(ctx); over || err != nil {
			return err
		}
		if err := w.wait(ctx, w.next); err != nil {
			return err
		}
	}
}

// happen does what is due at this moment, and reports whether the day is over.
func (w *world) happen(ctx context.Context) (over bool, err error) {
	w.act()
	for _, run := range w.runs {
		if err := run.advance(ctx); err != nil {
			return false, err
		}
	}
	if w.clock.Now().Before(w.next) {
		return false, nil
	}
	w.next = w.next.Add(second)
	w.look(ctx)
	return w.over(), nil
}

// look takes notice of the service, once a second.
func (w *world) look(ctx context.Context) {
	w.score.second()
	w.judge.second(ctx)
	w.ground.second()
	if w.options.OnSecond != nil {
		w.options.OnSecond(w.elapsed())
	}
}

// wait lets the lab go on until a moment or until something is due before it, and books the time.
func (w *world) wait(ctx context.Context, until time.Time) error {
	for _, at := range append(w.dues(), w.next) {
		if at.Before(until) {
			until = at
		}
	}
	now := w.clock.Now()
	if !until.After(now) {
		until = now.Add(second / 20)
	}
	w.score.spend(until.Sub(now))
	return w.clock.Wait(ctx, until)
}

// dues are the moments at which runs and events want to go on.
func (w *world) dues() []time.Time {
	var list []time.Time
	for _, run := range w.runs {
		if at, waits := run.due(); waits {
			list = append(list, at)
		}
	}
	for _, a := range w.acts {
		if a.timed && !a.done {
			list = append(list, a.at)
		}
	}
	return list
}

// over reports whether nothing is to come any more.
func (w *world) over() bool {
	if w.elapsed() >= w.day.Duration {
		return true
	}
	for _, a := range w.acts {
		if a.timed && !a.done {
			return false
		}
	}
	ended, is := w.score.ended()
	return is && w.clock.Now().Sub(ended) >= lull && !w.judge.awaits()
}

// end judges what holds at the end, and lets others have the runs.
func (w *world) end(ctx context.Context) error {
	w.judge.end(ctx)
	for _, run := range w.runs {
		if w.options.Ended == nil || run.machine == nil || run.machine.State() == nil {
			continue
		}
		e := Ended{Run: run.id, State: run.machine.State(), Prober: run.prober, Store: run.store, Clock: w.clock}
		if err := run.journal.Close(); err != nil {
			return err
		}
		if err := w.options.Ended(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// walks reports whether anybody walks a runbook on this day.
func (w *world) walks() bool { return w.day.Runbook != runbook.NoRunbook }

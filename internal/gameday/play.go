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
	// Journal begins the log of a run on the lab; nil keeps logs in memory.
	Journal func(run string, clock Clock) (Journal, error)
	// OnRecord is told of every record of the walk, OnEvent of everything that the day does,
	// OnSecond once a second; each may be nil.
	OnRecord func(audit.Record, any)
	OnEvent  func(Event)
	OnSecond func(elapsed time.Duration)
	// Target is where a day with a target is played.
	Target *Target
	// Ended is called for each run on the lab before that is closed; it may be nil.
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
	err := w.play(ctx)
	if err == nil {
		w.judge.end(ctx)
	}
	w.leave(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.ground.end(ctx); err != nil {
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
	if w.stopping() {
		return false, ErrStopped
	}
	w.act()
	for _, run := range w.runs {
		if err := run.advance(ctx); err != nil {
			return false, err
		}
	}
	now := w.clock.Now()
	if now.Before(w.next) {
		return false, nil
	}
	if w.next = w.next.Add(second); !w.next.After(now) {
		w.next = now.Add(second) // what was slow is not made up for
	}
	if err := w.look(ctx); err != nil {
		return false, err
	}
	return w.over(), nil
}

// look takes notice of the service, once a second.
func (w *world) look(ctx context.Context) error {
	if err := w.ground.second(ctx); err != nil {
		return err
	}
	w.score.second()
	w.judge.second(ctx)
	if w.options.OnSecond != nil {
		w.options.OnSecond(w.elapsed())
	}
	return nil
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
	err := w.sleep(ctx, until)
	w.score.spend(w.clock.Now().Sub(now))
	return err
}

// sleep sleeps until a moment. On real servers it ends sooner when the day is to end, or when something comes for a
// run.
func (w *world) sleep(ctx context.Context, until time.Time) error {
	if w.options.Target == nil {
		return w.clock.Wait(ctx, until)
	}
	sleep, wake := context.WithCancel(ctx)
	defer wake()
	defer context.AfterFunc(w.options.Target.Stop, wake)()
	for _, run := range w.runs {
		if run.process != nil && !run.stopped {
			var deaf context.CancelFunc
			sleep, deaf = run.process.Hears(sleep)
			defer deaf()
		}
	}
	_ = w.clock.Wait(sleep, until) // whoever has woken it is asked next
	return ctx.Err()
}

// stopping reports whether the day is to end early.
func (w *world) stopping() bool {
	return w.options.Target != nil && w.options.Target.Stop.Err() != nil
}

// leaveWithin is how long the walks of a day have to stop in order.
const leaveWithin = 10 * time.Second

// leave has the walks on real servers stop in order: the load that they added goes, and the command
// is given back. On the lab all that ends with the day.
func (w *world) leave(ctx context.Context) {
	if w.options.Target == nil {
		return
	}
	ctx, cancel := w.clock.Deadline(ctx, leaveWithin)
	defer cancel()
	for _, run := range w.runs {
		if err := run.leave(ctx); err != nil {
			w.tell(Event{Event: "walk", Outcome: "ended", Detail: err.Error()})
		}
	}
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

// walks reports whether anybody walks a runbook on this day.
func (w *world) walks() bool { return w.day.Runbook != runbook.NoRunbook }

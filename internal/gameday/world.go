package gameday

import (
	"context"
	"time"
)

// Clock is the time of a day. Waiting moves the lab.
type Clock interface {
	Now() time.Time
	Wait(ctx context.Context, until time.Time) error
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// world is one playing of a day.
type world struct {
	day     *Day
	options Options
	ground  ground
	clock   Clock
	began   time.Time
	next    time.Time // when the service is looked at again
	runs    []*walker // the last one is that of whoever has the command, or is about to take it
	acts    []*act
	losing  time.Duration // the most that a failover of Redis loses
	person  person
	judge   *judge
	score   *scoreboard
	events  []Event
}

func newWorld(day *Day, o Options) (*world, error) {
	w := &world{day: day, options: o, person: newPerson(day, o)}
	var err error
	if w.ground, err = newGround(w); err != nil {
		return nil, err
	}
	if o.Pace != nil {
		w.clock = o.Pace(w.clock)
	}
	w.began = w.clock.Now()
	w.next = w.began
	if err := w.prepare(); err != nil {
		w.ground.close()
		return nil, err
	}
	return w, nil
}

// prepare puts together what happens, what is measured and who judges.
func (w *world) prepare() error {
	if err := w.script(); err != nil {
		return err
	}
	poller, err := w.ground.witness()
	if err != nil {
		return err
	}
	w.score = newScoreboard(w)
	w.judge = newJudge(w, poller)
	return nil
}

func (w *world) close() {
	for _, run := range w.runs {
		run.close()
	}
	w.ground.close()
}

// elapsed is the time since the start of the day.
func (w *world) elapsed() time.Duration { return w.clock.Now().Sub(w.began) }

// run is the walker that counts, nil before the first.
func (w *world) run() *walker {
	if len(w.runs) == 0 {
		return nil
	}
	return w.runs[len(w.runs)-1]
}

// tell keeps what the day has done, and lets it be counted.
func (w *world) tell(e Event) {
	e.Seconds = w.elapsed().Seconds()
	w.events = append(w.events, e)
	w.judge.countEvent(e)
	if w.options.OnEvent != nil {
		w.options.OnEvent(e)
	}
}

package gameday

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
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
	lab     *lab.Lab
	clock   Clock
	began   time.Time
	metrics *prometheus
	line    *redisLine
	runs    []*walker // the last one is that of whoever has the command, or is about to take it
	acts    []*act
	person  person
	judge   *judge
	score   *scoreboard
	copies  []replica // of Redis, oldest first; only while a failover is to come
	keeping time.Duration
	events  []Event
}

// labURL is the address of a lab in this process; its host does not matter.
const labURL = "http://lab"

// dayOfPlays is the day on which plays are, so that two of them are equal.
var dayOfPlays = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func newWorld(day *Day, o Options) (*world, error) {
	l, err := lab.New(lab.Options{Seed: o.Seed, Scenario: day.Story, Start: dayOfPlays.Add(day.Story.Start)})
	if err != nil {
		return nil, fmt.Errorf("the lab: %w", err)
	}
	w := &world{day: day, options: o, lab: l, clock: l.Clock(), began: l.Clock().Now()}
	w.metrics = &prometheus{source: l.Transport(), freeze: l.Frozen, clock: w.clock}
	if past := day.past; past != nil {
		w.metrics.source = past.Transport(w.began, time.Time{}, w.clock.Now)
		w.metrics.freeze = func() http.RoundTripper { return past.Transport(w.began, w.clock.Now(), w.clock.Now) }
	}
	w.line = &redisLine{lab: l, open: map[net.Conn]bool{}}
	w.person = newPerson(day, o)
	if err := w.script(); err != nil {
		l.Close()
		return nil, err
	}
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: w.metrics.source}, w.clock)
	if err != nil {
		l.Close()
		return nil, err
	}
	w.score = newScoreboard(w)
	w.judge = newJudge(w, poller)
	return w, nil
}

func (w *world) close() {
	for _, run := range w.runs {
		run.close()
	}
	w.lab.Close()
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

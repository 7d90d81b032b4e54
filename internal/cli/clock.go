package cli

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"
)

// This file is the only place in rewarm that reads the time or sleeps.

// clock is what everything else is handed.
type clock interface {
	Now() time.Time
	Wait(ctx context.Context, until time.Time) error
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// wallClock is the time of this machine.
type wallClock struct{}

// Now keeps the monotonic reading, so that differences survive a clock step.
func (wallClock) Now() time.Time { return time.Now() }

// Wait sleeps until a moment; it returns at once when the moment has passed, and
// with the context's error when that ends first.
func (wallClock) Wait(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := time.Until(until)
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Deadline bounds one exchange with the outside.
func (wallClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// pacedClock walks a model's clock at a multiple of real time, so that a person
// can follow and take part.
type pacedClock struct {
	model  clock
	real   clock
	speed  float64 // modelled seconds a real second, above 0
	anchor pacing
	brisk  float64      // the speed while no person is to answer in time
	shown  atomic.Value // the speed in words, for whoever draws it beside the walk
}

// pacing ties a moment of the model to a real one.
type pacing struct{ model, real time.Time }

// pace is how often a paced wait looks up, and so the longest that an order of a
// person waits for it.
const pace = 25 * time.Millisecond

// behind is how far the model may lag before the pacing starts afresh: a process
// that was suspended goes on from where it was.
const behind = time.Second

func newPacedClock(model, real clock, speed float64) *pacedClock {
	c := &pacedClock{model: model, real: real, speed: speed, anchor: pacing{model.Now(), real.Now()}, brisk: speed}
	c.shown.Store(speedText(speed))
	return c
}

// speedText is a speed as it is shown, 4x.
func speedText(speed float64) string { return strconv.FormatFloat(speed, 'g', 3, 64) + "x" }

// speedOf gives how fast a clock goes that is not that of the wall, for any goroutine; nil for one that is.
func speedOf(c clock) func() string {
	paced, ok := c.(*pacedClock)
	if !ok {
		return nil
	}
	return func() string { return paced.shown.Load().(string) }
}

// linger lets the model go on no faster than real time while a person has to answer
// before a moment of it: what is short in an incident would be too short in a rehearsal.
func (c *pacedClock) linger(answering bool) {
	speed := c.brisk
	if answering {
		speed = min(speed, 1)
	}
	if speed != c.speed {
		c.speed, c.anchor = speed, pacing{c.model.Now(), c.real.Now()}
		c.shown.Store(speedText(speed))
	}
}

func (c *pacedClock) Now() time.Time { return c.model.Now() }

func (c *pacedClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.model.Deadline(ctx, d)
}

// Wait lets the model go on step by step until a moment of the model. When the
// context ends first, the model stands where it should at that time.
func (c *pacedClock) Wait(ctx context.Context, until time.Time) error {
	for {
		now := c.model.Now()
		if !now.Before(until) {
			return ctx.Err()
		}
		due := c.due(now)
		if due.After(until) {
			due = until
		}
		if due.After(now) {
			if err := c.model.Wait(ctx, due); err != nil {
				return err
			}
		}
		if err := c.real.Wait(ctx, c.real.Now().Add(c.nap(until.Sub(due)))); err != nil {
			return err
		}
	}
}

// asReal is how long a time of the model takes.
func (c *pacedClock) asReal(model time.Duration) time.Duration {
	return time.Duration(float64(model) / c.speed)
}

// nap is how long to sleep with so much of the model's time to go: real time always
// moves, so stepping the model without a sleep between would never leave the processor.
func (c *pacedClock) nap(left time.Duration) time.Duration {
	return min(pace, c.asReal(left))
}

// due is where the model's clock should stand now.
func (c *pacedClock) due(now time.Time) time.Time {
	gone := c.real.Now().Sub(c.anchor.real)
	due := c.anchor.model.Add(time.Duration(float64(gone) * c.speed))
	if due.Sub(now) > time.Duration(float64(behind)*c.speed) {
		c.anchor = pacing{now, c.real.Now()}
		return now
	}
	return due
}

package lab

import (
	"context"
	"sync"
	"time"
)

// Clock is the lab's virtual time. It stands still until somebody waits.
type Clock struct {
	lab *Lab

	mu  sync.Mutex
	now time.Time
	due []deadline
}

type deadline struct {
	at     time.Time
	cancel context.CancelCauseFunc
}

// Now is the virtual time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wait moves the lab on to until, tick by tick, and returns when it is there;
// it takes as long as the model needs. A time that has passed returns at once.
// Waiting moves the one world that there is: only what drives a walk may wait,
// one goroutine at a time.
func (c *Clock) Wait(ctx context.Context, until time.Time) error {
	c.lab.mu.Lock()
	defer c.lab.mu.Unlock()
	for ctx.Err() == nil {
		next := c.lab.nextTick()
		if next.After(until) {
			c.set(until)
			return nil
		}
		c.set(next)
		if err := c.lab.tick(ctx, next); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Deadline is a context that ends when the lab's time has gone on by d. Real
// time never ends it, and it carries no deadline that others could take for
// real.
func (c *Clock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = append(c.due, deadline{c.now.Add(d), cancel})
	return ctx, func() { cancel(context.Canceled) }
}

// set moves the time forward and ends the deadlines that it passes.
func (c *Clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
	kept := c.due[:0]
	for _, d := range c.due {
		if d.at.After(c.now) {
			kept = append(kept, d)
			continue
		}
		d.cancel(context.DeadlineExceeded)
	}
	clear(c.due[len(kept):])
	c.due = kept
}

package probes

import (
	"context"
	"sync"
	"time"
)

// stillClock is a clock that moves only when it is told to, with real deadlines.
type stillClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock(now time.Time) *stillClock { return &stillClock{now: now} }

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func (c *stillClock) Wait(ctx context.Context, until time.Time) error {
	c.Set(until)
	return ctx.Err()
}

func (c *stillClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

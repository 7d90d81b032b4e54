package probes

import (
	"context"
	"time"
)

// Clock is the time that a Poller lives in: the real one, or the virtual one of a lab.
type Clock interface {
	// Now gives the present moment.
	Now() time.Time
	// Wait returns when the moment has come, or with ctx's error before.
	Wait(ctx context.Context, until time.Time) error
	// Deadline is context.WithTimeout on this clock.
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

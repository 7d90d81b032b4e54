package actions

import (
	"context"
	"time"
)

// Clock is the time that deadlines are counted in.
type Clock interface {
	Now() time.Time
	Wait(ctx context.Context, until time.Time) error
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

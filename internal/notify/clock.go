package notify

import (
	"context"
	"time"
)

// Clock is the only time there is.
type Clock interface {
	Now() time.Time
	// Wait returns when the moment has come, or with the context's error before.
	Wait(ctx context.Context, until time.Time) error
	// Deadline bounds one exchange.
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

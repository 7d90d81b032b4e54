package actions

import (
	"context"
	"fmt"
	"log/slog"
)

// clientLog passes the Redis client's messages on, without the secrets that a server may repeat in them.
type clientLog struct{ to *slog.Logger }

// Printf is what the client calls.
func (l clientLog) Printf(ctx context.Context, format string, args ...any) {
	if l.to.Enabled(ctx, slog.LevelDebug) {
		l.to.DebugContext(ctx, "redis client", "message", plain(told.conceal(fmt.Sprintf(format, args...)), false))
	}
}

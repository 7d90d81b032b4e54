package actions

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// mirrorKept is how long a mirrored log outlives its last record.
const mirrorKept = 7 * 24 * time.Hour

// Mirror appends records to the run's stream in Redis, each as it stands in the
// log, in their order. It is sent once; readers tell records apart by their own
// numbers, so lines whose fate is unknown may be sent again.
func (s *Store) Mirror(ctx context.Context, run string, lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	key := s.keys.Log(run)
	var cmds []redis.Cmder
	for _, line := range lines {
		cmds = append(cmds, redis.NewStringCmd(ctx, "xadd", key, "*", "line", line))
	}
	cmds = append(cmds, redis.NewBoolCmd(ctx, "expire", key, int(mirrorKept.Seconds())))
	return s.append(ctx, cmds...)
}

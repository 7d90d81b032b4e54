package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// TakenOver tells which run has taken the command over from another one for good, as take.lua keeps it; nil when none
// has.
func (s *Store) TakenOver(ctx context.Context, from string) (*Commanded, error) {
	kept := redis.NewStringCmd(ctx, "hget", s.keys.Commander, "over:"+from)
	now := redis.NewTimeCmd(ctx, "time")
	err := s.query(ctx, kept, now)
	switch {
	case errors.Is(kept.Err(), redis.Nil) && now.Err() == nil:
		return nil, nil
	case err != nil:
		return nil, s.fail(s.reads, err)
	}
	var by struct{ Run, Actor, Host, Since, Why string }
	if err := json.Unmarshal([]byte(kept.Val()), &by); err != nil || by.Run == "" {
		return nil, fmt.Errorf("who took over from run %s cannot be read in redis key %s", from, s.keys.Commander)
	}
	ms, _ := strconv.ParseInt(by.Since, 10, 64) // a hand wrote nonsense: since long
	return &Commanded{Run: by.Run, Actor: by.Actor, Host: by.Host, Since: time.UnixMilli(ms), Now: now.Val(),
		Why: by.Why}, nil
}

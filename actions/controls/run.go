package controls

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Clock is the time that Run lives in.
type Clock interface {
	Now() time.Time
	// Wait returns at that time, or with the context's error when it ends before.
	Wait(ctx context.Context, until time.Time) error
	// Deadline is context.WithTimeout on this clock.
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

const (
	pollEvery    = time.Second     // a hand edit is obeyed this soon
	refreshLimit = 3 * time.Second // for one round trip, with one retry
)

// Run keeps the values fresh until ctx ends, and returns its error. It waits at
// the stream of changes, so that a flip is obeyed within a round trip, and reads
// the hash once a second whatever the stream says, because a hand edit leaves no
// entry there. When Redis is gone, it goes on trying every second.
func (r *Reader) Run(ctx context.Context, clock Clock) error {
	last := "0-0"
	if id, ok := r.lastChange(ctx, clock); ok {
		last = id
	}
	for ctx.Err() == nil {
		next := clock.Now().Add(pollEvery)
		err := r.refreshOnce(ctx, clock)
		if err == nil {
			last, err = r.awaitChange(ctx, clock, last)
		}
		if err != nil {
			_ = clock.Wait(ctx, next)
		}
	}
	return ctx.Err()
}

func (r *Reader) refreshOnce(ctx context.Context, clock Clock) error {
	ctx, cancel := clock.Deadline(ctx, refreshLimit)
	defer cancel()
	return r.Refresh(ctx)
}

// lastChange is where the stream ends before the first refresh.
func (r *Reader) lastChange(ctx context.Context, clock Clock) (string, bool) {
	ctx, cancel := clock.Deadline(ctx, refreshLimit)
	defer cancel()
	newest := redis.NewXMessageSliceCmd(ctx, "xrevrange", r.keys.Changes, "+", "-", "count", 1)
	if err := r.server.Do(ctx, newest); err != nil || len(newest.Val()) == 0 {
		return "", false
	}
	return newest.Val()[0].ID, true
}

// awaitChange returns when the stream has an entry after last, or after the
// time in which a hand edit must be noticed.
func (r *Reader) awaitChange(ctx context.Context, clock Clock, last string) (string, error) {
	ctx, cancel := clock.Deadline(ctx, refreshLimit)
	defer cancel()
	entries := redis.NewXStreamSliceCmd(ctx, "xread", "count", 1000, "block", pollEvery.Milliseconds(), "streams", r.keys.Changes, last)
	err := r.server.Do(ctx, entries)
	if errors.Is(err, redis.Nil) {
		return last, nil
	}
	if err != nil {
		return last, err
	}
	for _, stream := range entries.Val() {
		for _, entry := range stream.Messages {
			last = entry.ID
		}
	}
	return last, nil
}

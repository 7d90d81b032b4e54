package actions

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Change is one flip as the stream of changes tells of it.
type Change struct {
	ID      string // in the stream; ids sort by time
	At      time.Time
	Control string
	Before  *string // raw values; nil for a missing field
	After   *string
	Version int64
	Run     string
	Fence   int64
	Step    string
	Actor   string
	Digest  string
	Reason  string // of a flip by hand
}

// changesWait is how long AwaitChanges stays when nothing comes.
const changesWait = time.Second

// Changes gives the latest changes, oldest first, at most so many.
func (s *Store) Changes(ctx context.Context, most int) ([]Change, error) {
	latest := redis.NewXMessageSliceCmd(ctx, "xrevrange", s.keys.Changes, "+", "-", "count", most)
	if err := s.query(ctx, latest); err != nil {
		return nil, s.fail(s.reads, err)
	}
	list := changesOf(latest.Val())
	slices.Reverse(list)
	return list, nil
}

// AwaitChanges gives the changes after that id, oldest first; it returns with none after a
// second. The id of nothing is "0-0".
func (s *Store) AwaitChanges(ctx context.Context, after string) ([]Change, error) {
	next := redis.NewXStreamSliceCmd(ctx, "xread", "count", 1000, "block", changesWait.Milliseconds(), "streams", s.keys.Changes, after)
	err := s.query(ctx, next)
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fail(s.reads, err)
	}
	var list []Change
	for _, stream := range next.Val() {
		list = append(list, changesOf(stream.Messages)...)
	}
	return list, nil
}

func changesOf(entries []redis.XMessage) []Change {
	var list []Change
	for _, entry := range entries {
		word := func(field string) string { return pointed(text(entry.Values[field])) }
		number := func(field string) int64 {
			n, _ := strconv.ParseInt(word(field), 10, 64) // 0 where a hand wrote nonsense
			return n
		}
		list = append(list, Change{
			ID: entry.ID, At: entryMoment(entry.ID), Control: word("control"),
			Before: text(entry.Values["before"]), After: text(entry.Values["after"]),
			Version: number("version"), Run: word("run"), Fence: number("fence"),
			Step: word("step"), Actor: word("actor"), Digest: word("digest"), Reason: word("reason"),
		})
	}
	return list
}

func pointed(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// entryMoment is the server time in a stream's id.
func entryMoment(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, _ := strconv.ParseInt(ms, 10, 64) // ids are the server's own
	return time.UnixMilli(n)
}

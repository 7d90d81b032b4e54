package actions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// ControlsKey is the key of the hash that holds a service's controls, for sentences.
func ControlsKey(service string) string { return controls.Keys(service).Controls }

// Read gives the controls as Redis holds them now, by name. A value that cannot
// be decoded is in the answer, as Invalid; what cannot be answered at all, as a
// key of another type, is a *Failure.
func (s *Store) Read(ctx context.Context, cs []*runbook.Control) (map[string]Live, error) {
	if len(cs) == 0 {
		return map[string]Live{}, nil
	}
	fields := make([]string, len(cs))
	for i, c := range cs {
		fields[i] = c.Name
	}
	raw := hashFields(ctx, s.keys.Controls, fields)
	meta := hashFields(ctx, s.keys.Meta, fields)
	ttl := redis.NewDurationCmd(ctx, time.Millisecond, "pttl", s.keys.Controls)
	now := redis.NewTimeCmd(ctx, "time")
	if err := s.query(ctx, raw, meta, ttl, now); err != nil {
		return nil, s.explainRead(ctx, err, raw, meta)
	}
	lives := make(map[string]Live, len(cs))
	for i, c := range cs {
		live := newLive(c, text(raw.Val()[i]), text(meta.Val()[i]), now.Val())
		live.Expires = max(0, ttl.Val())
		lives[c.Name] = live
	}
	return lives, nil
}

func hashFields(ctx context.Context, key string, fields []string) *redis.SliceCmd {
	words := []any{"hmget", key}
	for _, f := range fields {
		words = append(words, f)
	}
	return redis.NewSliceCmd(ctx, words...)
}

func text(v any) *string {
	if t, ok := v.(string); ok {
		return &t
	}
	return nil
}

func newLive(c *runbook.Control, raw, rawMeta *string, now time.Time) Live {
	live := Live{Control: c.Name, Raw: raw, Value: c.Absent}
	if rawMeta != nil {
		if m, err := controls.ParseMeta(*rawMeta); err == nil {
			live.Meta = &m
			live.Edited = !same(raw, m.After)
		}
	}
	if m := live.Meta; c.DeadMan != nil && m != nil && m.Lapsed(raw, now) {
		live.Lapsed, live.Value = true, *c.DeadMan
		return live
	}
	if raw != nil {
		v, err := Decode(c, *raw)
		if err != nil {
			live.Value, live.Invalid = runbook.Value{}, err.Error()
			return live
		}
		live.Value = v
	}
	return live
}

func same(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// explainRead finds the key that is not a hash; the server's error names none.
func (s *Store) explainRead(ctx context.Context, err error, cmds ...*redis.SliceCmd) error {
	f := s.fail(s.reads, err)
	if f.Cause != WrongType {
		return f
	}
	for _, c := range cmds {
		var answer redis.Error
		if key, ok := c.Args()[1].(string); ok && errors.As(c.Err(), &answer) && strings.HasPrefix(answer.Error(), "WRONGTYPE") {
			kind := redis.NewStatusCmd(ctx, "type", key)
			_ = s.query(ctx, kind) // the answer only makes the sentence better
			return wrongType(f, key, kind.Val(), "hash")
		}
	}
	return f
}

func wrongType(f *Failure, key, is, want string) *Failure {
	if is == "" {
		is = "something else"
	}
	f.Cause = WrongType
	f.Sentence = fmt.Sprintf("redis key %s is a %s and not a %s", key, plain(is, false), want)
	f.Hint = fmt.Sprintf("see who wrote it, then move it away: RENAME %s %s:moved", key, key)
	return f
}

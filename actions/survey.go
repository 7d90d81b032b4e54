package actions

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

// Survey is everything that Redis knows about a service's controls, at one moment and
// without a runbook.
type Survey struct {
	Now       time.Time     // server time of the answer
	Commander *Commanded    // nil when nobody commands; its lease may be over, see Commanded.Lapsed
	Controls  []Surveyed    // by name
	Expires   time.Duration // when Redis will forget all of them; 0 never
}

// Surveyed is one control: its value, and what its last flip through rewarm says.
type Surveyed struct {
	Control string
	Raw     *string // nil when the field is missing
	Meta    *Meta   // nil when nobody flipped it through rewarm
	Lapsed  bool    // its run no longer renews it: readers obey the dead man's value
}

// Edited reports whether the value is not what the last flip wrote: a hand changed it.
func (s Surveyed) Edited() bool { return s.Meta == nil || !same(s.Raw, s.Meta.After) }

// Away reports whether readers are known to obey another value than the steady one.
func (s Surveyed) Away() bool { return s.Meta != nil && s.Meta.Away(s.Raw) }

// Since is when it left its steady value, by the server's clock; zero when it has not,
// or when a hand took it there, which leaves no time.
func (s Surveyed) Since() time.Time {
	if !s.Away() || s.Meta.Since == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.Meta.Since)
}

// ReviewAt is when somebody was to look at it again; zero when it has no review.
func (s Surveyed) ReviewAt() time.Time {
	if s.Meta == nil || s.Meta.ReviewAt == 0 {
		return time.Time{}
	}
	return time.UnixMilli(s.Meta.ReviewAt)
}

// Overdue reports whether it is away from its steady value past its review.
func (s Surveyed) Overdue(now time.Time) bool {
	at := s.ReviewAt()
	return s.Away() && !at.IsZero() && now.After(at)
}

// Survey reads all controls of the service, their meta and who commands, in one round trip.
func (s *Store) Survey(ctx context.Context) (Survey, error) {
	raw := redis.NewMapStringStringCmd(ctx, "hgetall", s.keys.Controls)
	meta := redis.NewMapStringStringCmd(ctx, "hgetall", s.keys.Meta)
	commander := redis.NewMapStringStringCmd(ctx, "hgetall", s.keys.Commander)
	ttl := redis.NewDurationCmd(ctx, time.Millisecond, "pttl", s.keys.Controls)
	now := redis.NewTimeCmd(ctx, "time")
	if err := s.query(ctx, raw, meta, commander, ttl, now); err != nil {
		return Survey{}, s.fail(s.reads, err)
	}
	survey := Survey{Now: now.Val(), Commander: commanderOf(commander.Val(), now.Val()), Expires: max(0, ttl.Val())}
	names := map[string]bool{}
	for _, fields := range []map[string]string{raw.Val(), meta.Val()} {
		for name := range fields {
			names[name] = true
		}
	}
	for name := range names {
		survey.Controls = append(survey.Controls, surveyed(name, raw.Val(), meta.Val(), now.Val()))
	}
	slices.SortFunc(survey.Controls, func(a, b Surveyed) int { return strings.Compare(a.Control, b.Control) })
	return survey, nil
}

func surveyed(name string, raws, metas map[string]string, now time.Time) Surveyed {
	c := Surveyed{Control: name}
	if raw, ok := raws[name]; ok {
		c.Raw = &raw
	}
	if m, err := controls.ParseMeta(metas[name]); err == nil {
		c.Meta = &m
		c.Lapsed = m.Lapsed(c.Raw, now)
	}
	return c
}

func commanderOf(fields map[string]string, now time.Time) *Commanded {
	if fields["run"] == "" {
		return nil
	}
	at := func(field string) time.Time {
		ms, _ := strconv.ParseInt(fields[field], 10, 64) // 0 where a hand wrote nonsense: over since long
		return time.UnixMilli(ms)
	}
	return &Commanded{Run: fields["run"], Actor: fields["actor"], Host: fields["host"], Since: at("since"), Until: at("until"), Now: now}
}

// Lapsed reports whether the lease is over, so that others may take the command.
func (c *Commanded) Lapsed() bool { return c.Until.Before(c.Now) }

// Begun gives the first record of a run as its mirror in Redis has it, without a newline;
// nil when it has none (any more).
func (s *Store) Begun(ctx context.Context, run string) ([]byte, error) {
	first := redis.NewXMessageSliceCmd(ctx, "xrange", s.keys.Log(run), "-", "+", "count", 1)
	if err := s.query(ctx, first); err != nil {
		return nil, s.fail(s.reads, err)
	}
	for _, entry := range first.Val() {
		if line, ok := entry.Values["line"].(string); ok {
			return []byte(line), nil
		}
	}
	return nil, nil
}

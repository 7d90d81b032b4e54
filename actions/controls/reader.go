package controls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// ReaderOptions is what a service compiles in. The maps go from a control's
// name to a raw value.
type ReaderOptions struct {
	Service string
	URL     string
	Dial    DialFunc // nil for the network

	// Fallback are the protecting values with which a process starts while it
	// has never reached Redis.
	Fallback map[string]string
	// Absent is what the service does when Redis is there and the field is not;
	// Unlimited is allowed here.
	Absent map[string]string
	// DeadMan are the values to fall back to when the run that flipped a control
	// no longer renews it, or when Redis has been out of sight for so long that
	// the renewals cannot be seen.
	DeadMan map[string]string

	// Now is the time, used for the dead man's values and for the ages of
	// overrides. It must go on while Redis is gone.
	Now func() time.Time
}

// Reader holds the controls of one service as one of its processes obeys them.
// Methods may be called from several goroutines.
type Reader struct {
	opts   ReaderOptions
	keys   KeyNames
	server *Server
	// secrets are what the server is told and may repeat.
	secrets Secrets

	mu   sync.RWMutex
	seen seen
	good map[goodKey]string // the last raw value of a control that could be read as this type
}

// seen is what Redis answered last.
type seen struct {
	reached bool // at least once
	raw     map[string]string
	rawMeta map[string]string
	meta    map[string]Meta
	version int64
	lease   lease
	server  time.Time // the server's time at the answer
	local   time.Time // our time at the answer
}

// lease is the right of a run to flip; its run is "" when nobody has it.
type lease struct {
	run   string
	until time.Time // server time
}

func leaseOf(commander map[string]string) lease {
	ms, err := strconv.ParseInt(commander["until"], 10, 64)
	if err != nil {
		return lease{}
	}
	return lease{commander["run"], time.UnixMilli(ms)}
}

type goodKey struct{ control, kind string }

// ErrLost is returned by Refresh when Redis answers, but everything about the
// service's controls is gone: it came back empty. The reader keeps what it had.
var ErrLost = errors.New("the controls are gone from redis, it has come back empty")

// NewReader makes a reader that has not reached Redis yet. An error names what
// is wrong with the options and repeats no part of the URL.
func NewReader(o ReaderOptions) (*Reader, error) {
	if err := CheckService(o.Service); err != nil {
		return nil, err
	}
	if o.Now == nil {
		return nil, errors.New("a reader needs Now")
	}
	target, err := ParseURL(o.URL)
	if err != nil {
		return nil, err
	}
	return &Reader{
		opts:    o,
		keys:    Keys(o.Service),
		secrets: target.Secrets(),
		server:  NewServer(target, ServerOptions{Dial: o.Dial, Retries: 1}),
		good:    map[goodKey]string{},
	}, nil
}

// Close drops the connections; the values stay.
func (r *Reader) Close() error { return r.server.Close() }

// Refresh asks Redis once, in one round trip. When it fails, the values stay as
// they were, and the error says why without secrets.
func (r *Reader) Refresh(ctx context.Context) error {
	version := redis.NewStringCmd(ctx, "get", r.keys.Version)
	raw := redis.NewMapStringStringCmd(ctx, "hgetall", r.keys.Controls)
	meta := redis.NewMapStringStringCmd(ctx, "hgetall", r.keys.Meta)
	commander := redis.NewMapStringStringCmd(ctx, "hgetall", r.keys.Commander)
	clock := redis.NewTimeCmd(ctx, "time")
	// The version is asked for first: a flip that lands in between is then
	// obeyed before it is reported, never the other way round.
	err := r.server.Do(ctx, version, raw, meta, commander, clock)
	if err == nil || errors.Is(err, redis.Nil) { // which is the version's own word for missing
		err = errors.Join(raw.Err(), meta.Err(), commander.Err(), clock.Err())
	}
	if err != nil {
		return &readError{r.opts.Service, err, r.secrets}
	}
	n, err := parseVersion(version)
	if err != nil {
		return fmt.Errorf("%s: %w", r.keys.Version, err)
	}
	return r.take(seen{raw: raw.Val(), rawMeta: meta.Val(), version: n, lease: leaseOf(commander.Val()), server: clock.Val()})
}

// readError is why Redis did not answer. Its words may be a server's, so they
// are made printable, without the secrets that it was told.
type readError struct {
	service string
	err     error
	secrets Secrets
}

func (e *readError) Error() string {
	return fmt.Sprintf("controls of %s: %s", e.service, quote(e.secrets.Conceal(e.err.Error())))
}

func (e *readError) Unwrap() error { return e.err }

func parseVersion(c *redis.StringCmd) (int64, error) {
	if errors.Is(c.Err(), redis.Nil) {
		return 0, nil
	}
	n, err := strconv.ParseInt(c.Val(), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is not a version", quote(c.Val()))
	}
	return n, nil
}

// take makes an answer of Redis the values to obey.
func (r *Reader) take(now seen) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.version == 0 && len(now.raw) == 0 && r.seen.version > 0 {
		return fmt.Errorf("controls of %s: %w", r.opts.Service, ErrLost)
	}
	now.meta = make(map[string]Meta, len(now.rawMeta))
	for control, text := range now.rawMeta {
		if old, ok := r.seen.meta[control]; ok && r.seen.rawMeta[control] == text {
			now.meta[control] = old
		} else if m, err := ParseMeta(text); err == nil {
			now.meta[control] = m
		}
	}
	now.reached, now.local = true, r.opts.Now()
	r.seen = now
	return nil
}

// Get gives the raw value to obey now; ok is false when neither Redis nor the
// options have one.
func (r *Reader) Get(control string) (raw string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.get(control)
}

func (r *Reader) get(control string) (string, bool) {
	if !r.seen.reached {
		raw, ok := r.opts.Fallback[control]
		if !ok {
			raw, ok = r.opts.Absent[control]
		}
		return raw, ok
	}
	if raw, ok := r.seen.raw[control]; ok {
		dead, mortal := r.opts.DeadMan[control]
		if mortal && r.seen.meta[control].Lapsed(&raw, r.serverNow()) {
			return dead, true
		}
		return raw, true
	}
	raw, ok := r.opts.Absent[control]
	return raw, ok
}

// serverNow is Redis' time now, as far as it can be told from the last answer.
func (r *Reader) serverNow() time.Time {
	return r.seen.server.Add(r.opts.Now().Sub(r.seen.local))
}

// Number gives a rate, a count, a percent (0 to 100) or a duration in seconds;
// without a limit it is +Inf. A value that is no number, such as a slip in a
// hand edit, does not count: the last one that Number could read stays, at
// first the fallback. ok is false when there never was one.
func (r *Reader) Number(control string) (n float64, ok bool) {
	ok = r.typed(control, "number", func(raw string) (err error) {
		if _, held := r.seen.raw[control]; raw == Unlimited && !held {
			n = math.Inf(1)
			return nil
		}
		n, err = ParseNumber(raw)
		return err
	})
	return n, ok
}

// Duration is Number for a control that is counted in seconds; without a limit
// it is the longest duration there is.
func (r *Reader) Duration(control string) (time.Duration, bool) {
	n, ok := r.Number(control)
	if d := n * float64(time.Second); d < math.MaxInt64 {
		return time.Duration(math.Round(d)), ok
	}
	return math.MaxInt64, ok
}

// Switch gives a switch, with Number's care for values that are none.
func (r *Reader) Switch(control string) (on, ok bool) {
	ok = r.typed(control, "switch", func(raw string) (err error) {
		on, err = ParseSwitch(raw)
		return err
	})
	return on, ok
}

// Choice gives a choice, with Number's care for values that are none of them.
func (r *Reader) Choice(control string, choices ...string) (name string, ok bool) {
	ok = r.typed(control, "choice", func(raw string) (err error) {
		name, err = ParseChoice(raw, choices)
		return err
	})
	return name, ok
}

// List gives a list, with Number's care for values that are none.
func (r *Reader) List(control string) (items []string, ok bool) {
	ok = r.typed(control, "list", func(raw string) (err error) {
		items, err = ParseList(raw)
		return err
	})
	return items, ok
}

// typed parses the value to obey, or else the last that could be parsed, or
// else the fallback.
func (r *Reader) typed(control, kind string, parse func(raw string) error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := goodKey{control, kind}
	raw, ok := r.get(control)
	if ok && parse(raw) == nil {
		r.good[key] = raw
		return true
	}
	for _, known := range []map[string]string{{control: r.good[key]}, r.opts.Fallback, r.opts.Absent} {
		if raw, ok := known[control]; ok && parse(raw) == nil {
			return true
		}
	}
	return false
}

// Version is the highest version that the reader obeys, 0 before any.
func (r *Reader) Version() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.seen.version
}

// Reached reports whether Redis ever answered.
func (r *Reader) Reached() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.seen.reached
}

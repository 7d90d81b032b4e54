package simulation

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// store is what Redis holds for a service. It does what the scripts of package actions
// do; TestTheModelOfRedis holds it against the real ones.
type store struct {
	values    map[string]string
	meta      map[string]controls.Meta
	commander commander
	fence     int64
	version   int64
	changes   []change
	owner     *process             // that has the command
	over      map[string]commander // who has taken over from a run, by that run
}

type commander struct {
	run, actor, host string
	process          string
	fence            int64
	since, until     int64 // server ms
	why              string
}

// change is one entry of the stream of changes.
type change struct {
	control, run, digest string
	fence, version       int64
}

func newStore() store {
	return store{values: map[string]string{}, meta: map[string]controls.Meta{}, over: map[string]commander{}}
}

func (s store) clone() store {
	s.values, s.meta, s.changes, s.over = maps.Clone(s.values), maps.Clone(s.meta), slices.Clone(s.changes), maps.Clone(s.over)
	return s
}

func (s *store) raw(control string) *string {
	if v, ok := s.values[control]; ok {
		return &v
	}
	return nil
}

func (s *store) set(control string, raw *string) {
	if raw == nil {
		delete(s.values, control)
		return
	}
	s.values[control] = *raw
}

// commanded answers that another run commands.
func (s *store) commanded(now time.Time) *actions.Commanded {
	c := s.commander
	other := &actions.Commanded{Run: c.run, Actor: c.actor, Host: c.host, Since: time.UnixMilli(c.since), Until: time.UnixMilli(c.until), Now: now}
	if c.run == "" {
		other.Since, other.Until = time.Time{}, time.Time{}
	}
	return other
}

func (s *store) take(h actions.Holder, now time.Time) (actions.Lease, *actions.Commanded) {
	c := s.commander
	if o, gone := s.over[h.Run]; gone {
		return actions.Lease{}, &actions.Commanded{Run: o.run, Actor: o.actor, Host: o.host, Since: time.UnixMilli(o.since), Now: now, Why: o.why}
	}
	old := c.fence < h.Fence && !h.Since.IsZero() && c.since < h.Since.UnixMilli()
	if c.run != "" && c.run != h.Run && c.run != h.Over && c.until > now.UnixMilli() && !old {
		return actions.Lease{}, s.commanded(now)
	}
	last := max(c.fence, h.Fence)
	for _, m := range s.meta {
		last = max(last, m.Fence)
	}
	s.fence = max(s.fence+1, last+1)
	since := now.UnixMilli()
	if c.run == h.Run {
		since = c.since
	}
	until := now.Add(actions.LeaseTime).UnixMilli()
	s.commander = commander{run: h.Run, actor: h.Actor, host: h.Host, process: h.Process, fence: s.fence, since: since, until: until}
	if _, known := s.over[h.Over]; h.Over != "" && h.Over != h.Run && !known {
		s.over[h.Over] = commander{run: h.Run, actor: h.Actor, host: h.Host, since: now.UnixMilli(), why: h.Why}
	}
	return actions.Lease{Run: h.Run, Process: h.Process, Fence: s.fence, Since: time.UnixMilli(since), Until: time.UnixMilli(until)}, nil
}

func (s *store) commands(l actions.Lease) bool {
	return s.commander.run == l.Run && s.commander.run != "" && s.commander.fence == l.Fence && s.commander.process == l.Process
}

func (s *store) renew(l actions.Lease, deadMan []string, now time.Time) (lapsed []string, other *actions.Commanded) {
	if !s.commands(l) {
		return nil, s.commanded(now)
	}
	until := now.Add(actions.LeaseTime).UnixMilli()
	s.commander.until = until
	for _, name := range deadMan {
		m, ok := s.meta[name]
		switch {
		case !ok || m.Run != l.Run || m.Until == 0:
		case m.Until >= now.UnixMilli():
			m.Until = until
			s.meta[name] = m
		default:
			lapsed = append(lapsed, name)
		}
	}
	return lapsed, nil
}

func (s *store) drop(l actions.Lease) {
	if s.commands(l) {
		s.commander = commander{}
	}
}

// apply is the script that flips.
func (s *store) apply(l actions.Lease, p actions.Plan, st actions.Stamp, now time.Time) actions.Outcome {
	last, known := s.meta[p.Control]
	if known && last.Digest == p.Digest() {
		return actions.Outcome{Result: actions.Applied, Version: last.Version, Found: s.raw(p.Control), Seen: true}
	}
	if !s.commands(l) {
		return commandLost(s.commanded(now))
	}
	if !sameRaw(s.raw(p.Control), p.Before) {
		return actions.Outcome{Result: actions.Refused, Cause: actions.Moved, Version: last.Version, Found: s.raw(p.Control), Seen: true, Sentence: "nothing was changed: it has moved"}
	}
	s.version = max(s.version+1, last.Version+1, l.Version+1)
	s.set(p.Control, p.After)
	m := controls.Meta{Version: s.version, Digest: p.Digest(), Run: p.Run, Fence: l.Fence, Step: p.Step, At: now.UnixMilli(),
		Before: p.Before, After: p.After, Steady: st.Steady, Absent: st.Absent, Actor: st.Actor, Owner: st.Owner, Protects: st.Protects}
	if m.Away(p.After) {
		m.Since = now.UnixMilli()
		if last.Since > 0 {
			m.Since = last.Since
		}
	}
	if st.DeadMan {
		m.Until = now.Add(actions.LeaseTime).UnixMilli()
	}
	if !st.ReviewAt.IsZero() {
		m.ReviewAt = st.ReviewAt.UnixMilli()
	}
	s.meta[p.Control] = m
	s.changes = append(s.changes, change{p.Control, p.Run, m.Digest, l.Fence, s.version})
	return actions.Outcome{Result: actions.Applied, Version: s.version, Found: p.After, Seen: true}
}

func commandLost(other *actions.Commanded) actions.Outcome {
	return actions.Outcome{Result: actions.Refused, Cause: actions.CommandLost, Commander: other, Sentence: "nothing was changed, this run does not command: " + other.Error()}
}

// settle is the script that finds out whether a plan was applied.
func (s *store) settle(l actions.Lease, p actions.Plan, now time.Time) actions.Outcome {
	if m, ok := s.meta[p.Control]; ok && m.Digest == p.Digest() {
		return actions.Outcome{Result: actions.Applied, Version: m.Version, Found: s.raw(p.Control), Seen: true}
	}
	if !s.commands(l) {
		return commandLost(s.commanded(now))
	}
	s.fence = max(s.fence+1, s.commander.fence+1)
	s.commander.fence, s.commander.until = s.fence, now.Add(actions.LeaseTime).UnixMilli()
	lease := actions.Lease{Run: l.Run, Process: l.Process, Fence: s.fence, Since: time.UnixMilli(s.commander.since), Until: time.UnixMilli(s.commander.until)}
	return actions.Outcome{Result: actions.Refused, Cause: actions.NotApplied, Found: s.raw(p.Control), Seen: true, Version: p.Version, Lease: &lease,
		Sentence: p.Control + " was not flipped and will not be"}
}

func (s *store) read(cs []*runbook.Control, now time.Time) map[string]actions.Live {
	lives := map[string]actions.Live{}
	for _, c := range cs {
		lives[c.Name] = s.live(c, now)
	}
	return lives
}

func (s *store) live(c *runbook.Control, now time.Time) actions.Live {
	live := actions.Live{Control: c.Name, Raw: s.raw(c.Name), Value: c.Absent}
	if m, ok := s.meta[c.Name]; ok {
		live.Meta, live.Edited = &m, !sameRaw(live.Raw, m.After)
		if c.DeadMan != nil && m.Lapsed(live.Raw, now) {
			live.Lapsed, live.Value = true, *c.DeadMan
			return live
		}
	}
	if live.Raw != nil {
		v, err := actions.Decode(c, *live.Raw)
		if live.Value = v; err != nil {
			live.Value, live.Invalid = runbook.Value{}, err.Error()
		}
	}
	return live
}

func sameRaw(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// redis is a store behind a line that breaks, on a server that falls over.
type redis struct {
	store
	w       *world
	skew    time.Duration // of its clock against the true time
	fault   string        // that lasts: away, full, snapshots
	until   time.Time     // of the fault
	once    string        // what becomes of the next write: lost, unanswered, delayed
	replica []store       // what it held after each of the latest writes, oldest first
	late    []lateWrite   // writes that were not answered and are still on their way
	healthy time.Time     // since when every exchange was answered
}

type lateWrite struct {
	at int // the boundary at which it arrives
	do func(*store, time.Time)
}

func (r *redis) now() time.Time { return r.w.now.Add(r.skew) }

func (r *redis) faulty(kind string) bool { return r.fault == kind && r.w.now.Before(r.until) }

var (
	unreachable = &actions.Failure{Cause: actions.Unreachable, Sentence: "redis cannot be reached, nothing was sent", Retry: time.Second}
	noAnswer    = &actions.Failure{Cause: actions.NoAnswer, Sentence: "redis gave no answer", Retry: time.Second}
	outOfMemory = &actions.Failure{Cause: actions.OutOfMemory, Sentence: "redis is out of memory and refuses writes", Retry: 2 * time.Second}
	noSnapshots = &actions.Failure{Cause: actions.Misconf, Sentence: "redis refuses writes because it cannot save its snapshots"}
)

// trouble is what keeps an exchange from being answered, nil when nothing does.
func (r *redis) trouble(write bool) *actions.Failure {
	switch {
	case r.faulty("away"):
		r.healthy = r.until
		return unreachable
	case write && r.faulty("full"):
		r.healthy = r.until
		return outOfMemory
	case write && r.faulty("snapshots"):
		r.healthy = r.until
		return noSnapshots
	}
	return nil
}

// write sends one script: do is what it does to the store, once.
func (r *redis) write(do func(*store, time.Time)) *actions.Failure {
	r.w.boundary()
	if f := r.trouble(true); f != nil {
		return f
	}
	once := r.once
	r.once = ""
	if once == "lost" || once == "delayed" {
		r.healthy = r.w.now
	}
	switch once {
	case "lost":
		return noAnswer
	case "delayed":
		r.late = append(r.late, lateWrite{r.w.at + 12, do})
		return noAnswer
	}
	r.replica = append(r.replica, r.store.clone())
	if len(r.replica) > 8 {
		r.replica = r.replica[1:]
	}
	do(&r.store, r.now())
	r.w.boundary()
	if once == "unanswered" {
		r.healthy = r.w.now
		return noAnswer
	}
	return nil
}

// arrive lets the writes in that were on their way for long.
func (r *redis) arrive() {
	for len(r.late) > 0 && r.late[0].at <= r.w.at {
		do := r.late[0].do
		r.late = r.late[1:]
		do(&r.store, r.now())
	}
}

// fallOver loses the latest acknowledged writes, with whatever they said of command and
// fence.
func (r *redis) fallOver(writes int) {
	if n := len(r.replica); n > 0 {
		r.store = r.replica[max(0, n-writes)].clone()
		r.replica, r.late = nil, nil
		r.w.edited()
	}
}

func (r *redis) Read(_ context.Context, cs []*runbook.Control) (map[string]actions.Live, error) {
	r.w.boundary()
	if f := r.trouble(false); f != nil {
		return nil, f
	}
	lives := r.read(cs, r.now())
	for _, c := range cs {
		r.w.process.saw[c.Name] = lives[c.Name].Raw
	}
	r.w.process.lastRead = r.w.at
	if r.w.warp.read != nil {
		r.w.warp.read(lives)
	}
	r.w.boundary()
	return lives, nil
}

func (r *redis) Take(_ context.Context, h actions.Holder) (lease actions.Lease, err error) {
	var other *actions.Commanded
	p := r.w.process
	failure := r.write(func(s *store, now time.Time) {
		if lease, other = s.take(h, now); other == nil {
			s.owner = p
		}
	})
	switch {
	case failure != nil:
		return actions.Lease{}, failure
	case other != nil:
		return actions.Lease{}, other
	}
	return lease, nil
}

func (r *redis) Renew(_ context.Context, l actions.Lease, deadMan []string) (lapsed []string, err error) {
	var other *actions.Commanded
	failure := r.write(func(s *store, now time.Time) { lapsed, other = s.renew(l, deadMan, now) })
	switch {
	case failure != nil:
		return nil, failure
	case other != nil:
		return nil, other
	}
	return lapsed, nil
}

func (r *redis) Drop(_ context.Context, l actions.Lease) error {
	if failure := r.write(func(s *store, _ time.Time) { s.drop(l) }); failure != nil {
		return failure
	}
	return nil
}

func (r *redis) Apply(_ context.Context, l actions.Lease, p actions.Plan, st actions.Stamp) actions.Outcome {
	from := r.w.process
	r.w.checker.applying(l, p)
	if r.w.warp.slow {
		return outcomeOf(unreachable)
	}
	var o actions.Outcome
	failure := r.write(func(s *store, now time.Time) {
		before := s.version
		if r.w.warp.apply != nil {
			o = r.w.warp.apply(s, l, p, st, now)
		} else {
			o = s.apply(l, p, st, now)
		}
		if s.version != before {
			r.w.checker.applied(from, p)
		}
	})
	if failure != nil {
		return outcomeOf(failure)
	}
	return r.seen(p, o)
}

// seen notes what an outcome tells of a control.
func (r *redis) seen(p actions.Plan, o actions.Outcome) actions.Outcome {
	if o.Result != actions.Applied {
		r.healthy = r.w.now // it is tried again shortly
	}
	if o.Seen {
		r.w.process.saw[p.Control] = o.Found
	}
	return o
}

func (r *redis) Settle(_ context.Context, l actions.Lease, p actions.Plan) actions.Outcome {
	var o actions.Outcome
	failure := r.write(func(s *store, now time.Time) { o = s.settle(l, p, now) })
	if failure == nil {
		return r.seen(p, o)
	}
	o = outcomeOf(failure)
	o.Result = actions.Unknown
	if r.trouble(false) == nil && r.meta[p.Control].Digest == p.Digest() { // it can be read and not written
		return actions.Outcome{Result: actions.Applied, Version: r.meta[p.Control].Version, Found: r.raw(p.Control), Seen: true}
	}
	return o
}

// outcomeOf is what package actions makes of a failure.
func outcomeOf(f *actions.Failure) actions.Outcome {
	o := actions.Outcome{Result: actions.Refused, Cause: f.Cause, Sentence: f.Sentence, Retry: f.Retry}
	switch f.Cause {
	case actions.NoAnswer:
		o.Result = actions.Unknown
	case actions.Unreachable:
		o.Result = actions.NotSent
	}
	return o
}

// numbers gives the live numbers of the controls, in their own units.
func (r *redis) numbers() map[string]float64 {
	numbers := map[string]float64{}
	for i := range r.w.doc.Controls {
		c := &r.w.doc.Controls[i]
		if live := r.live(c, r.now()); c.Kind.Numeric() && live.Invalid == "" && !live.Value.Unlimited {
			numbers[c.Name] = live.Value.Number
		}
	}
	return numbers
}

// number reads what stands for a rung; nothing is 0.
func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}

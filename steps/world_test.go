package steps

import (
	"context"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// start is when every test begins: the minute of the case study.
var start = time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)

// virtualClock moves only when it is told to.
type virtualClock struct {
	now  time.Time
	tick func(time.Time)
}

func (c *virtualClock) Now() time.Time { return c.now }

func (c *virtualClock) Wait(ctx context.Context, until time.Time) error {
	c.moveTo(until)
	return ctx.Err()
}

func (c *virtualClock) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (c *virtualClock) moveTo(t time.Time) {
	if t.After(c.now) {
		c.now = t
	}
	if c.tick != nil {
		c.tick(c.now)
	}
}

// world is everything outside of the machine: a service with its signals, a Prometheus
// that scrapes it every second, and a Redis.
type world struct {
	t       tester
	clock   *virtualClock
	redis   *redisServer
	signals map[string]*signal
	service service
	react   []reaction
	skew    time.Duration      // of Prometheus' clock against ours
	down    probes.Reason      // why Prometheus answers nothing at all
	windows map[string]seconds // of each probe's query, by query
}

// tester is a test, or one try of a property.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Error(args ...any)
	Cleanup(func())
}

type seconds = time.Duration

// service is how the processes obey their controls.
type service struct {
	silent    bool // exports no version
	processes int
	stuck     int           // of the processes, how many never obey
	lag       time.Duration // from the flip to obeying it
}

// reaction moves a signal some time after a control got a value.
type reaction struct {
	control, raw, probe string
	after               time.Duration
	values              []float64
}

func newWorld(t tester) *world {
	w := &world{t: t, clock: &virtualClock{now: start}, signals: map[string]*signal{},
		service: service{processes: 3}, windows: map[string]seconds{}}
	w.redis = newRedis(t, w)
	w.clock.tick = w.redis.server.SetTime
	w.clock.moveTo(start)
	return w
}

// signal is one probe's values over time.
type signal struct {
	points []point
	frozen time.Time // no sample after this, zero when there are
}

type point struct {
	at     time.Time
	values []float64 // one for each series; NaN and infinities as they are
	reason probes.Reason
}

// scrapes happen every second, half a second after the full one.
const scrapePhase = 500 * time.Millisecond

func lastScrape(at time.Time) time.Time {
	return at.Add(-scrapePhase).Truncate(time.Second).Add(scrapePhase)
}

func (s *signal) set(p point) {
	s.points = append(s.points, p)
	sort.SliceStable(s.points, func(i, j int) bool { return s.points[i].at.Before(s.points[j].at) })
}

func (s *signal) at(t time.Time) point {
	now := point{reason: probes.NoData}
	for _, p := range s.points {
		if !p.at.After(t) {
			now = p
		}
	}
	return now
}

func (w *world) signal(probe string) *signal {
	s := w.signals[probe]
	if s == nil {
		s = &signal{}
		w.signals[probe] = s
	}
	return s
}

var rangeOf = regexp.MustCompile(`\[(\d+)s([\]:])`)

// window is the range that a query looks back over, 0 for an instant one.
func (w *world) window(query string) time.Duration {
	if known, ok := w.windows[query]; ok {
		return known
	}
	var longest [2]time.Duration // of ranges, and of the subqueries around them
	for _, m := range rangeOf.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			w.t.Fatal(err)
		}
		i := strings.Count(m[2], ":")
		longest[i] = max(longest[i], time.Duration(n)*time.Second)
	}
	w.windows[query] = longest[0] + longest[1]
	return w.windows[query]
}

// Poll answers as a Prometheus that scrapes every second would.
func (w *world) Poll(_ context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	at := w.clock.now.Add(w.skew)
	o := probes.Observation{At: at, Offset: w.skew}
	for _, ask := range asks {
		o.Answers = append(o.Answers, w.answer(doc, ask, at))
	}
	if version > 0 {
		o.Propagation = w.propagation(version, at)
	}
	return o
}

func (w *world) answer(doc *runbook.Document, ask probes.Ask, at time.Time) probes.Answer {
	a := probes.Answer{Ask: ask, At: at}
	probe := doc.Probe(ask.Probe)
	query, err := probe.Expand(ask.From, ask.To)
	a.Query = query
	switch {
	case w.down != "":
		a.Reason, a.Detail = w.down, "prometheus is not there"
		return a
	case err != nil:
		a.Reason, a.Detail = probes.Rejected, err.Error()
		return a
	}
	s := w.signal(ask.Probe)
	sample := lastScrape(at)
	if !s.frozen.IsZero() && s.frozen.Before(sample) {
		sample = lastScrape(s.frozen)
	}
	p := s.at(sample.Add(-w.skew))
	if p.reason != "" {
		a.Reason = p.reason
		return a
	}
	if window := w.window(query); window > 0 {
		a.WindowStart = at.Add(-window)
	} else {
		a.Oldest = sample
	}
	a.Newest, a.Stalest = []time.Time{sample}, sample
	a.SetReadings(readings(p.values))
	return a
}

func readings(values []float64) []probes.Reading {
	var list []probes.Reading
	for i, v := range values {
		name := "{}"
		if len(values) > 1 {
			name = fmt.Sprintf(`{shard="%c"}`, 'a'+i)
		}
		list = append(list, probes.NewReading(name, v))
	}
	return list
}

// propagation counts the processes that obeyed a version at the last scrape.
func (w *world) propagation(version int64, at time.Time) *probes.Propagation {
	p := &probes.Propagation{Version: version}
	switch {
	case w.down != "":
		p.Reason = w.down
		return p
	case w.service.silent:
		p.Reason = probes.NoData
		return p
	}
	sample := lastScrape(at)
	p.Reported, p.Processes = true, w.service.processes
	if w.redis.versionAt(sample.Add(-w.skew-w.service.lag)) >= version {
		p.Obeying = w.service.processes - w.service.stuck
		p.Oldest = sample
	}
	return p
}

// changed lets the signals follow a control.
func (w *world) changed(control, raw string) {
	for _, r := range w.react {
		if r.control == control && r.raw == raw {
			w.signal(r.probe).set(point{at: w.clock.now.Add(r.after), values: r.values})
		}
	}
}

// redisServer is the real store over an in-process Redis, behind a line that can break
// in every way that matters.
type redisServer struct {
	*actions.Store
	w        *world
	server   *miniredis.Miniredis
	down     bool
	fault    string // of the next write: lost, unanswered, refused
	versions []versionAt
	replica  *miniredis.Miniredis       // what a replica has; nil before the first replication
	intended func(p actions.Plan) error // is this plan's intent on disk?
	writes   []actions.Plan             // that were applied
}

type versionAt struct {
	version int64
	at      time.Time
}

const serviceName = "catalog"

func newRedis(t tester, w *world) *redisServer {
	server := miniredis.NewMiniRedis()
	store, err := actions.Open(actions.Options{URL: "redis://fake:6379", Service: serviceName, Clock: w.clock,
		Dial: func(context.Context, string, string) (net.Conn, error) { return server.Dial() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return &redisServer{Store: store, w: w, server: server}
}

func (r *redisServer) versionAt(at time.Time) int64 {
	var version int64
	for _, v := range r.versions {
		if !v.at.After(at) {
			version = max(version, v.version)
		}
	}
	return version
}

var errDown = &actions.Failure{Cause: actions.Unreachable, Sentence: "redis fake:6379 cannot be reached, nothing was sent", Retry: time.Second}

func (r *redisServer) Read(ctx context.Context, cs []*runbook.Control) (map[string]actions.Live, error) {
	if r.down {
		return nil, errDown
	}
	return r.Store.Read(ctx, cs)
}

func (r *redisServer) Take(ctx context.Context, h actions.Holder) (actions.Lease, error) {
	if r.down {
		return actions.Lease{}, errDown
	}
	return r.Store.Take(ctx, h)
}

func (r *redisServer) Renew(ctx context.Context, l actions.Lease, deadMan []string) ([]string, error) {
	if r.down {
		return nil, errDown
	}
	return r.Store.Renew(ctx, l, deadMan)
}

func (r *redisServer) Drop(ctx context.Context, l actions.Lease) error {
	if r.down {
		return errDown
	}
	return r.Store.Drop(ctx, l)
}

// commander names the run that commands, and with which fence.
func (r *redisServer) commander() string {
	key := controls.Keys(serviceName).Commander
	if run := r.server.HGet(key, "run"); run != "" {
		return run + " with fence " + r.server.HGet(key, "fence")
	}
	return "nobody"
}

// Apply insists that the intent is on disk, as nothing else could prove it later.
func (r *redisServer) Apply(ctx context.Context, l actions.Lease, p actions.Plan, s actions.Stamp) actions.Outcome {
	if err := r.intended(p); err != nil {
		r.w.t.Fatalf("flip of %s without its intent: %v", p.Control, err)
	}
	fault := r.fault
	if fault != "full" {
		r.fault = ""
	}
	unknown := actions.Outcome{Result: actions.Unknown, Cause: actions.NoAnswer, Sentence: "redis gave no answer: the time for it is over"}
	switch {
	case r.down:
		return actions.Outcome{Result: actions.NotSent, Cause: actions.Unreachable, Sentence: errDown.Sentence}
	case fault == "lost":
		return unknown
	case fault == "refused", fault == "full":
		return actions.Outcome{Result: actions.Refused, Cause: actions.OutOfMemory, Sentence: "redis is out of memory and refuses writes"}
	}
	o := r.Store.Apply(ctx, l, p, s)
	if o.Result == actions.Applied {
		r.applied(p, o.Version)
	}
	if fault == "unanswered" {
		return unknown
	}
	return o
}

func (r *redisServer) applied(p actions.Plan, version int64) {
	r.writes = append(r.writes, p)
	r.versions = append(r.versions, versionAt{version, r.w.clock.now})
	raw := "absent"
	if p.After != nil {
		raw = *p.After
	}
	r.w.changed(p.Control, raw)
}

func (r *redisServer) Settle(ctx context.Context, l actions.Lease, p actions.Plan) actions.Outcome {
	if r.down {
		return actions.Outcome{Result: actions.Unknown, Cause: actions.Unreachable, Sentence: errDown.Sentence}
	}
	return r.Store.Settle(ctx, l, p)
}

// replicate brings a replica up to date, and failOver promotes it: what was written since
// is lost, although it was acknowledged.
func (r *redisServer) replicate() {
	r.replica = miniredis.NewMiniRedis()
	copyKeys(r.server, r.replica)
}

func (r *redisServer) failOver() {
	if r.replica == nil {
		return
	}
	before := r.values()
	r.server.FlushAll()
	copyKeys(r.replica, r.server)
	version, _ := strconv.ParseInt(stringAt(r.server, controls.Keys(serviceName).Version), 10, 64)
	r.versions = slices.DeleteFunc(r.versions, func(v versionAt) bool { return v.version > version })
	for _, field := range strings.Fields(before + r.values()) {
		control, _, _ := strings.Cut(field, "=")
		raw := r.server.HGet(controls.Keys(serviceName).Controls, control)
		if raw == "" {
			raw = "absent"
		}
		r.w.changed(control, raw)
	}
}

// copyKeys copies what a service has in Redis, but for its streams.
func copyKeys(from, to *miniredis.Miniredis) {
	keys := controls.Keys(serviceName)
	for _, key := range []string{keys.Controls, keys.Meta, keys.Commander} {
		fields, _ := from.HKeys(key) // an error means that there are none
		for _, field := range fields {
			to.HSet(key, field, from.HGet(key, field))
		}
	}
	for _, key := range []string{keys.Fence, keys.Version} {
		if value := stringAt(from, key); value != "" {
			if err := to.Set(key, value); err != nil {
				panic(err) // it holds nothing else
			}
		}
	}
}

func stringAt(server *miniredis.Miniredis, key string) string {
	value, _ := server.Get(key) // an error means that there is none
	return value
}

// edit is a hand with redis-cli.
func (r *redisServer) edit(control, raw string) {
	key := controls.Keys(serviceName).Controls
	if raw == "absent" {
		r.server.HDel(key, control)
	} else {
		r.server.HSet(key, control, raw)
	}
	r.w.changed(control, raw)
}

// values shows the whole hash, sorted.
func (r *redisServer) values() string {
	key := controls.Keys(serviceName).Controls
	fields, err := r.server.HKeys(key)
	if err != nil {
		return "nothing"
	}
	slices.Sort(fields)
	text := ""
	for _, f := range fields {
		text += fmt.Sprintf("%s=%s ", f, r.server.HGet(key, f))
	}
	return text
}

func number(text string) float64 {
	switch text {
	case "NaN":
		return math.NaN()
	case "+Inf":
		return math.Inf(1)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

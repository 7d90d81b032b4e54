package simulation

import (
	"slices"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// faultKind says what can be drawn for one kind of fault, and what it does.
type faultKind struct {
	what   string
	names  func(Book) []string
	values []string
	lasts  []time.Duration
	do     func(*world, Fault)
}

var (
	seconds = []time.Duration{time.Second, 3 * time.Second, 7 * time.Second, 20 * time.Second}
	pauses  = []time.Duration{time.Second, 4 * time.Second, 20 * time.Second, 10 * time.Minute, 3 * time.Hour}
	skews   = []string{"-10m", "-20s", "-2s", "2s", "20s", "10m"}
)

func controlNames(Book) []string {
	return []string{"admission", "routing", "jobs", "stale", "prewarm", "bucket"}
}

func brakeNames(Book) []string { return []string{"admit", "around", "pause", "keep"} }

func stepNames(Book) []string {
	return []string{"admit", "around", "pause", "keep", "warm", "steady", "back", "lift", "declare", "tell", "freeze"}
}

// handValues are what hands write: tighter, looser, of another kind, unreadable, nothing.
var handValues = []string{"absent", "0", "5", "50", "800", "4000", "120", "on", "off", "all", "garbage", "\xff"}

// faults is everything that a plan can draw, at the boundary where it strikes. Kinds that
// matter more stand in it more than once.
var faults []faultKind

// It is filled by a function because the kinds name functions that look it up.
func init() {
	kill := faultKind{"kill", nil, []string{"0s", "0s", "-10m", "30s"}, pauses, (*world).kill}
	person := faultKind{"order", stepNames, orderValues, nil, (*world).order}
	once := faultKind{"write", nil, []string{"lost", "unanswered", "delayed"}, nil, func(w *world, f Fault) { w.redis.once = f.Value }}
	hand := faultKind{"hand", controlNames, handValues, nil, (*world).hand}
	measured := faultKind{"prometheus", nil, []string{"absent", "away", "partial", "histogram", "page", "rejected", "nan", "infinite", "low", "high", "late", "frozen"}, seconds,
		func(w *world, f Fault) {
			w.prometheus.fault, w.prometheus.until = f.Value, w.now.Add(f.For)
			w.trouble(f.For)
		}}
	faults = []faultKind{
		measured, measured, measured, measured, once, once, hand, hand, kill, kill, person, person, person,
		{"redis", nil, []string{"away", "full", "snapshots"}, seconds, func(w *world, f Fault) { w.redis.fault, w.redis.until = f.Value, w.now.Add(f.For) }},
		{"failover", nil, []string{"1", "1", "2", "5"}, nil, func(w *world, f Fault) { w.redis.fallOver(whole(f.Value)) }},
		{"forget", nil, []string{"values", "meta", "command", "everything"}, nil, (*world).forget},
		{"redis-clock", nil, skews, nil, func(w *world, f Fault) { w.redis.skew += span(f.Value) }},
		{"prometheus-clock", nil, skews, nil, (*world).setPrometheus},
		{"disk", nil, []string{"full", "sync", "full alone", "sync alone"}, seconds, (*world).breakDisk},
		{"power", nil, []string{"0", "0", "1", "3"}, pauses, (*world).losePower},
		{"pause", nil, nil, pauses, (*world).pause},
		{"elsewhere", nil, nil, seconds, (*world).elsewhere},
		{"takeover", nil, nil, seconds, (*world).takeover},
		{"letter", stepNames, letterValues, []time.Duration{0, 0, time.Second, 20 * time.Second}, (*world).order},
		{"letter", stepNames, letterValues, []time.Duration{0, 0, time.Second, 20 * time.Second}, (*world).order},
		{"blind", nil, []string{"two low", "two low", "two high", "one low", "one high"}, []time.Duration{20 * time.Second, time.Minute}, (*world).blind},
		{"done", brakeNames, []string{"away", "full", "snapshots"}, seconds, (*world).doneByHand},
		{"rival", controlNames, handValues[1:5], seconds, (*world).startRival},
		{"call", nil, []string{"fails", "hangs", "slow"}, nil, func(w *world, f Fault) { w.callFault = f.Value }},
		{"service", nil, []string{"surge", "defect", "lag", "stuck", "silent"}, seconds, (*world).disturb},
	}
}

func whole(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func (w *world) strike(f Fault) {
	i := slices.IndexFunc(faults, func(k faultKind) bool { return k.what == f.What })
	if i < 0 {
		panic("unknown fault " + f.What)
	}
	faults[i].do(w, f)
}

// kill ends the process at this very boundary; somebody resumes the run later, on a
// machine whose clock may have been set meanwhile.
func (w *world) kill(f Fault) {
	w.startAt, w.shift = w.now.Add(f.For), span(f.Value)
	if w.process != nil {
		panic(killed{})
	}
}

// losePower is a kill that also loses what the disk has not taken. Of a machine that has just
// woken, after the run went on elsewhere, only the process is lost.
func (w *world) losePower(f Fault) {
	if w.process != nil && w.process.replaced {
		panic(killed{})
	}
	w.disk.lose(whole(f.Value))
	w.startAt = w.now.Add(f.For)
	if w.process != nil {
		panic(killed{})
	}
}

// setPrometheus sets the clock of Prometheus.
func (w *world) setPrometheus(f Fault) {
	w.prometheus.skew += span(f.Value)
	w.prometheus.ahead = max(w.prometheus.ahead, w.prometheus.skew)
	w.trouble(span(f.Value).Abs())
}

// pause stops the process for a while, wherever it is, and it goes on as if nothing was.
func (w *world) pause(f Fault) {
	w.advance(w.now.Add(f.For))
	w.redis.healthy, w.patience = w.now, w.now
}

// hand is somebody with redis-cli.
func (w *world) hand(f Fault) {
	raw := &f.Value
	if f.Value == "absent" {
		raw = nil
	}
	if sameRaw(w.redis.raw(f.Name), raw) {
		return
	}
	w.redis.set(f.Name, raw)
	w.edited()
}

// forget loses keys of Redis.
func (w *world) forget(f Fault) {
	empty := newStore()
	s := &w.redis.store
	switch f.Value {
	case "values":
		s.values = empty.values
	case "meta":
		s.meta, s.changes = empty.meta, nil
	case "command":
		s.commander, s.fence, s.over = commander{}, 0, empty.over
	default:
		w.redis.store, w.letters = empty, nil
	}
	w.edited()
}

// breakDisk breaks the disk for a while, with another one to go on with or without.
func (w *world) breakDisk(f Fault) {
	d := w.disk
	d.emergency = f.Value == "full" || f.Value == "sync"
	d.full, d.failing = f.Value[:4] == "full", f.Value[:4] == "sync"
	w.after(f.For, func() { d.full, d.failing, d.emergency = false, false, true })
}

// elsewhere puts the process to sleep, as a laptop whose lid is closed, and resumes the
// run on another machine from what has reached the mirror: what is surely on disk.
func (w *world) elsewhere(f Fault) {
	p := w.process
	if p == nil || w.sleeper != nil || p.replaced || len(w.disk.lines) == 0 {
		return
	}
	mirror := &disk{lines: slices.Clone(w.disk.lines), emergency: true}
	mirror.lose(0)
	if len(mirror.lines) == 0 {
		return
	}
	w.sleeper, w.wakesAt, p.replaced = p, w.now.Add(f.For), true
	w.disk, w.process, w.startAt = mirror, nil, w.now.Add(time.Second)
	w.host = "ops-" + strconv.Itoa(whole(w.host[4:])+1)
	panic(asleep{})
}

// asleep unwinds a process that is only away: it wakes in a new move.
type asleep struct{}

func (w *world) disturb(f Fault) {
	s := &w.service
	calm := func() {}
	switch f.Value {
	case "surge":
		s.surge, calm = 1.3, func() { s.surge = 1 }
	case "defect":
		s.defect, calm = true, func() { s.defect = false }
	case "lag":
		s.lag, calm = 3*time.Second, func() { s.lag = 0 }
	case "stuck":
		s.stuck, calm = true, func() { s.stuck = false }
	case "silent":
		s.silent, calm = true, func() { s.silent = false }
	}
	w.after(f.For, calm)
	if f.Value != "defect" { // that one is to be seen
		w.trouble(f.For)
	}
}

// trouble notes for how long nobody can expect to see what is.
func (w *world) trouble(d time.Duration) { w.troubled = later(w.troubled, w.now.Add(d)) }

// heal ends the plan's faults when all have struck and have had some time: from then on
// nothing goes wrong any more, and persons do what the walk asks of them.
func (w *world) heal() {
	if w.quietAt.IsZero() && w.struck >= len(w.plan.Faults) {
		w.after(25*time.Second, w.quiet)
		w.quietAt = w.now.Add(25 * time.Second)
	}
}

func (w *world) quiet() {
	w.quietAt, w.patience, w.struck = w.now, w.now, len(w.plan.Faults)
	w.service.surge, w.service.defect, w.service.lag, w.service.stuck, w.service.silent = 1, false, 0, false, false
	w.prometheus.fault, w.redis.fault, w.redis.once, w.callFault = "", "", "", ""
	w.disk.full, w.disk.failing, w.disk.emergency = false, false, true
	w.prometheus.skew, w.redis.skew = w.prometheus.ahead, 0 // it refuses samples until its clock is where it has been
	w.redis.healthy = later(w.redis.healthy, w.now)
	if v, ok := w.redis.values["admission"]; ok && number(v) < 1600 { // whoever tightened it by hand takes that back
		w.redis.set("admission", pointer("3200"))
		w.edited()
	}
	if v, ok := w.redis.values["prewarm"]; ok && number(v) > w.doc.Control("prewarm").Max { // and so does whoever prewarms with more than anybody may
		w.redis.set("prewarm", nil)
		w.edited()
	}
}

func (w *world) isQuiet() bool { return !w.quietAt.IsZero() && !w.now.Before(w.quietAt) }

// orderValues are the orders that persons give unasked: too early, too late, twice, or
// against each other.
var orderValues = []string{
	string(steps.OrderHold), string(steps.OrderRelease), string(steps.OrderSkip), string(steps.OrderTake), string(steps.OrderAnswer),
	string(steps.OrderNote), string(steps.OrderAdopt), string(steps.OrderPutBack), string(steps.OrderInterrupt), string(steps.OrderAbort),
	string(steps.OrderUndo), "undo control", string(steps.OrderKeep), string(steps.OrderDone),
	"approve first", "approve last", "approve old", "approve twice",
}

// letterValues are the orders that are sent from elsewhere.
var letterValues = []string{
	"hold", "hold twice", "release", "release twice", "skip", "take twice", "answer", "note twice", "adopt", "put-back", "put-back twice",
	"abort", "undo", "undo control", "undo twice", "keep twice", "done", "approve first", "approve last", "approve old", "approve twice",
}

// order hands an order to the walk before its next move.
func (w *world) order(f Fault) { w.unasked(f) }

package simulation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// world is one incident under way.
type world struct {
	plan    Plan
	doc     *runbook.Document
	now     time.Time // the true time
	at      int       // boundaries that were crossed
	struck  int       // faults of the plan that have struck
	quietAt time.Time // when the faults are over and the world heals; zero before

	troubled time.Time // until when the service or Prometheus was disturbed
	patience time.Time // since when the walk has had the chance to end

	service    service
	prometheus prometheus
	redis      redis
	disk       *disk
	process    *process
	processes  int      // that there have been
	sleeper    *process // another process of the same run that does not know that it was replaced
	wakesAt    time.Time
	startAt    time.Time     // when somebody resumes a run that has no process
	shift      time.Duration // of the wall clock of the next process
	host       string        // where the next process runs
	run        string        // that is walked now
	over       *steps.Over   // from whom it has taken the command, nil for nobody
	letters    []letter      // in the inbox of the run
	sent       int           // letters so far
	rival      rival
	callFault  string // of the next call
	oldDigest  string // of an approval that was given before
	timers     []timer
	tickAt     time.Time
	editedAt   int // the boundary of the latest change of Redis by anybody but the walk
	acts       obeys
	served     bool // the service has seen its controls

	checker checker
	warp    warp
	stats   Stats
}

// Stats counts what an incident came to.
type Stats struct {
	Moves, Records, Kills int
	Ending                steps.Ending
	Took                  time.Duration
}

type timer struct {
	at time.Time
	do func()
}

// warp is how a world misbehaves in ways that no fault may: it shows that an invariant
// is alive. The zero warp is an honest world.
type warp struct {
	deep     bool                // every incident is folded anew; no misbehaviour
	text     func(string) string // of the runbook that the machine walks
	observe  func(*probes.Observation)
	apply    func(*store, actions.Lease, actions.Plan, actions.Stamp, time.Time) actions.Outcome
	read     func(map[string]actions.Live)
	body     func(any) any // what is written instead of a body
	unsynced bool          // a commit does not wait for the disk
	forked   bool          // a record names another before it
	renamed  bool          // an order that comes twice has two ids
	odd      bool          // the log fails for no reason that is known
	slow     bool          // a Redis that is well cannot be reached for flips
	mute     bool          // persons say nothing
	stuck    bool          // the clock stands
}

// killed unwinds a process that dies in the middle of something.
type killed struct{}

// violation is a broken invariant.
type violation struct{ name, text string }

func (v *violation) Error() string { return v.name + ": " + v.text }

func newWorld(p Plan, warp warp) (*world, error) {
	doc, err := p.Book.Document()
	if err != nil {
		return nil, err
	}
	w := &world{plan: p, doc: doc, now: start, tickAt: start, startAt: start, host: "ops-1", run: testRun, disk: &disk{emergency: true}, warp: warp}
	w.service = service{warm: 0.05, surge: 1, obeyedAt: map[int64]time.Time{}}
	w.prometheus = prometheus{w: w}
	w.redis = redis{store: newStore(), w: w, healthy: start}
	w.checker = newChecker(w)
	for range 6 { // it has been scraped before anybody starts a walk
		w.tick()
	}
	w.tickAt = start
	w.prometheus.samples = nil
	return w, nil
}

// boundary is crossed before and after everything that reaches outside.
func (w *world) boundary() {
	w.at++
	w.redis.arrive()
	for w.struck < len(w.plan.Faults) && w.plan.Faults[w.struck].At <= w.at {
		f := w.plan.Faults[w.struck]
		w.struck++
		w.strike(f)
	}
}

// edited notes that somebody else has changed what Redis holds.
func (w *world) edited() { w.editedAt, w.redis.healthy = w.at, w.now }

// after does something when so much time has passed.
func (w *world) after(d time.Duration, do func()) {
	w.timers = append(w.timers, timer{w.now.Add(d), do})
}

// longestTicking is for how long the service changes when nobody looks.
const longestTicking = time.Minute

// advance moves the clock, and with it everything that lives by itself.
func (w *world) advance(to time.Time) {
	if away := to.Add(-longestTicking); w.tickAt.Before(away) {
		w.tickAt = away
	}
	for !w.tickAt.After(to) {
		w.now = later(w.now, w.tickAt)
		w.ring()
		w.tick()
		w.tickAt = w.tickAt.Add(time.Second)
	}
	w.now = later(w.now, to)
	w.ring()
}

// ring does what was put off until now.
func (w *world) ring() {
	if len(w.timers) == 0 {
		return
	}
	due := w.timers
	w.timers = nil
	for _, t := range due {
		if t.at.After(w.now) {
			w.timers = append(w.timers, t)
			continue
		}
		t.do()
	}
}

func (w *world) tick() {
	m := w.service.tick(w.obeyed())
	if m.obeyed = w.redis.version; m.obeyed == 0 {
		m.obeyed = w.service.version // it has lost its counter, and its readers go on
	}
	w.service.version = m.obeyed
	if last := w.service.obeyedAt[m.obeyed]; last.IsZero() {
		w.service.obeyedAt[m.obeyed] = w.now.Add(w.service.lag)
	}
	if w.now.Before(w.service.obeyedAt[m.obeyed]) {
		m.obeyed--
	}
	w.prometheus.scrape(m)
}

// obeyed gives what the service acts by: a Redis that has lost everything changes nothing.
func (w *world) obeyed() obeys {
	if w.served && w.redis.version == 0 && len(w.redis.values) == 0 {
		return w.acts
	}
	w.served = w.served || w.redis.version > 0
	w.acts = w.reads()
	return w.acts
}

// reads gives what the controls in Redis say.
func (w *world) reads() obeys {
	value := func(name string) runbook.Value {
		c := w.doc.Control(name)
		live := w.redis.live(c, w.redis.now())
		if live.Invalid != "" {
			return c.Absent
		}
		return live.Value
	}
	o := obeys{admission: value("admission").Number, routing: value("routing").Number, stale: value("stale").Number,
		prewarm: value("prewarm").Number, jobs: value("jobs").Text == "on", ranked: value("bucket").Text != "none"}
	if value("admission").Unlimited {
		o.admission = knee
	}
	return o
}

// process is one process that walks a run.
type process struct {
	w        *world
	machine  *steps.Machine
	log      *log
	host     string
	shift    time.Duration
	saw      map[string]*string // what Redis said last
	lastRead int                // the boundary of the latest reading
	readAt   int                // and of the latest that the log has
	calls    []pendingCall
	unasked  []Fault // orders that nobody asked for
	replaced bool    // the run goes on in another process
	begunAt  time.Time
	asked    string    // the question that the person is thinking about
	answers  time.Time // when the person has thought
	still    int       // moves since the clock moved
	moves    int
}

const testRun = "20261129T100800Z-simulated-7f3a"

type processClock struct {
	w     *world
	shift time.Duration
}

func (p *process) clock() processClock { return processClock{p.w, p.shift} }

func (c processClock) Now() time.Time { return c.w.now.Add(c.shift).UTC() }

func (c processClock) Wait(context.Context, time.Time) error {
	return errors.New("the machine never sleeps")
}

func (c processClock) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (w *world) newProcess() *process {
	w.processes++
	p := &process{w: w, host: w.host, shift: w.shift, saw: map[string]*string{}, begunAt: w.now}
	p.log = &log{p: p, disk: w.disk}
	approve := steps.Auto
	if w.plan.Manual {
		approve = steps.Manual
	}
	p.machine = steps.New(steps.Config{Doc: w.walked(), Journal: p.log, Prober: &w.prometheus, Controls: &w.redis, Caller: p, Clock: p.clock(),
		Begun:    steps.Begun{Run: w.run, Over: w.over, File: "simulated.yaml", Approve: approve, Through: w.plan.Book.Stop, Version: "simulated", Host: p.host, PID: 1, User: "ana"},
		Holder:   actions.Holder{Run: w.run, Actor: "ana", Host: p.host, Process: strconv.Itoa(w.processes)},
		OnRecord: func(r audit.Record, body any) { w.checker.record(p, r, body) }})
	return p
}

// walked is the runbook that the machine gets: the one that the checker has, unless the
// world is warped.
func (w *world) walked() *runbook.Document {
	if w.warp.text == nil {
		return w.doc
	}
	doc, problems := runbook.Parse("simulated.yaml", []byte(w.warp.text(string(w.doc.Source))), nil)
	if len(problems) > 0 {
		panic(problems.Error())
	}
	return doc
}

// The end of patience: a walk that has not ended then never will.
const (
	longestQuiet = 15 * time.Minute
	mostMoves    = 12000
)

// Run plays a plan in an honest world.
func Run(p Plan) (Stats, error) { return run(p, warp{}) }

func run(p Plan, warp warp) (Stats, error) {
	w, err := newWorld(p, warp)
	if err != nil {
		return Stats{}, err
	}
	err = w.play()
	w.stats.Took, w.stats.Records = w.now.Sub(start), len(w.disk.lines)
	return w.stats, err
}

// play goes on until the walk has ended or an invariant is broken.
func (w *world) play() (err error) {
	defer func() {
		switch broken := recover().(type) {
		case nil:
		case *violation:
			err = broken
		default:
			panic(broken)
		}
	}()
	for w.stats.Ending == "" {
		w.turn()
	}
	if w.sleeper != nil {
		w.wake()
	}
	w.checker.end()
	return nil
}

// turn lets one process make one move, or time pass until there is one.
func (w *world) turn() {
	w.heal()
	w.rival.live(w)
	if w.sleeper != nil && !w.now.Before(w.wakesAt) {
		w.wake()
	}
	if w.process == nil {
		w.advance(later(w.startAt, w.now))
		w.begin()
		return
	}
	w.guarded(w.process, w.process.step)
	if w.stats.Moves > mostMoves || w.isQuiet() && w.now.Sub(w.patience) > longestQuiet {
		w.checker.broken(toTheEnd, "%s after %d moves: %s", w.now.Sub(start), w.stats.Moves, w.standing())
	}
}

func (w *world) standing() string {
	if w.process == nil {
		return "no process can be started"
	}
	s := w.process.machine.State()
	text := fmt.Sprintf("stage %s, blocked by %q, next %#v", s.Stage, s.Blocking(w.process.clock().Now()), steps.Next(s, w.process.clock().Now()))
	for _, h := range s.Holds() {
		text += "; held: " + h.Cause + ": " + h.Sentence
	}
	return text
}

// guarded lets a process do something in which it may be killed.
func (w *world) guarded(p *process, do func()) {
	defer func() {
		switch dead := recover().(type) {
		case nil:
		case asleep:
		case killed:
			w.stats.Kills++
			if w.process == p {
				w.process = nil
			}
		default:
			panic(dead)
		}
	}()
	do()
}

// begin starts a process: the first one begins the run, the others resume it. One that
// cannot is tried again.
func (w *world) begin() {
	p := w.newProcess()
	w.process, w.shift = p, 0
	w.guarded(p, func() {
		err := p.start()
		if err == nil {
			w.patience = w.now
			return
		}
		w.process, w.startAt = nil, w.now.Add(2*time.Second)
		w.checker.left(err)
		if !w.quietAt.IsZero() {
			w.disk.full, w.disk.failing = false, false
		}
	})
	if w.process == nil {
		w.startAt = later(w.startAt, w.now.Add(time.Second))
		if w.quietAt.IsZero() && w.struck >= len(w.plan.Faults) || w.now.Sub(start) > time.Hour {
			w.quiet()
		}
		if w.isQuiet() && w.now.Sub(w.quietAt) > 24*time.Hour {
			w.checker.broken(toTheEnd, "%s: no process can be started", w.now.Sub(start))
		}
	}
}

func (p *process) start() error {
	if len(p.w.disk.lines) == 0 {
		return p.machine.Begin(context.Background())
	}
	p.w.checker.resumed()
	if last := p.w.disk.lines[len(p.w.disk.lines)-1].record.Kind; last == steps.KindClosed || last == steps.KindAborted {
		p.w.process, p.w.stats.Ending = nil, steps.Ending(last) // killed behind its last record
		return nil
	}
	return p.machine.Resume(context.Background(), p.w.disk.records())
}

// step lets persons and calls have their word, and makes one move.
func (p *process) step() {
	w := p.w
	p.hear()
	if p.stepped() != nil {
		return
	}
	w.stats.Moves++
}

func (p *process) stepped() error {
	w := p.w
	move, err := p.machine.Step(context.Background())
	if err != nil {
		w.leave(p, err)
		return err
	}
	p.moves++
	if p.still++; p.still > 300 {
		w.checker.broken(rests, "%d moves and the clock stands at %s; the last is %#v", p.still, w.now.Sub(start), move)
	}
	w.checker.moved(p, move)
	switch m := move.(type) {
	case steps.Stop:
		w.stop(p, m)
	case steps.Wait:
		p.wait(m)
	}
	return nil
}

// leave ends a process whose walk cannot go on in it.
func (w *world) leave(p *process, err error) {
	w.checker.left(err)
	if w.process == p {
		w.process, w.startAt = nil, w.now.Add(3*time.Second)
	}
}

func (w *world) stop(p *process, m steps.Stop) {
	switch m.Ending {
	case steps.EndedInterrupted:
		w.leave(p, nil)
	default:
		if !p.replaced {
			w.stats.Ending = m.Ending
		}
	}
}

// wait sleeps until the machine wants to go on or somebody has something to say.
func (p *process) wait(m steps.Wait) {
	w := p.w
	until := m.Until.Add(-p.shift)
	if !until.After(w.now) {
		w.checker.broken(rests, "it waits until %s, which is not later", m.Until)
	}
	p.think(m.Question)
	for _, c := range p.calls {
		if c.ends.After(w.now) && c.ends.Before(until) {
			until = c.ends
		}
	}
	if p.answers.After(w.now) && p.answers.Before(until) {
		until = p.answers
	}
	w.boundary()
	if !w.warp.stuck {
		p.still = 0
		w.advance(until)
	}
	w.boundary()
}

// wake lets the process that slept go on for a moment.
func (w *world) wake() {
	p, now := w.sleeper, w.process
	w.sleeper = nil
	if p == now {
		return
	}
	w.process = p
	w.guarded(p, func() {
		for range 12 {
			if p.stepped() != nil {
				break
			}
		}
	})
	w.process = now
}

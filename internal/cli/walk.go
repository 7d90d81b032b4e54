package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/notify"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// targets is what a walk acts on: the real servers or the lab.
type targets struct {
	prober     steps.Prober
	store      *actions.Store
	caller     steps.Caller
	clock      clock
	lingers    func(answering bool) // slows the lab down for a person, nil at a speed that was given
	prometheus string               // without secrets
	redis      string               // without secrets
	lab        bool
	past       bool            // on the lab, the metrics are those of an incident that was
	again      string          // the command that starts the lab again, "" for real servers
	logged     string          // the same as the log may tell it; "" for rewarm demo
	unserved   func() int      // reads that the lab has refused or failed since it began; nil for real servers
	scenario   *steps.Scenario // of the lab; nil for real servers and where it is hidden
}

// walk is one process of a run: the log, the machine and who drives it.
type walk struct {
	p          *program
	doc        *runbook.Document
	on         targets
	folder     runFolder
	approve    steps.ApproveMode
	actor      string // who walks
	host       string
	hand       *steps.Hand // of a log that is of one flip by hand; nil for a walk
	over       *steps.Over // from whom the command is taken over, nil for none
	mail       *mailbox
	found      []string // what was found in the mirror before it was gone on with
	fromMirror bool     // the last records came from the mirror, which lacks nothing then
	person     person   // nil when nobody can be asked
	printer    recordPrinter

	log     *audit.Log
	journal *journal
	machine *steps.Machine
	closers []func() error
	signed  *audit.Head // a head that is to be shown behind its record
	trouble error       // the first failure of printing

	receivers []notify.Receiver // who is told
	notifier  *notifier         // nil when nobody is
	meter     *meter            // nil when they are not asked for
	watchers  []watcher
	asks      func(steps.Question) // is told too of what the walk waits for; may be nil
	hurried   bool                 // somebody has asked twice to stop
}

func (w *walk) closeLater(shut func() error) { w.closers = append(w.closers, shut) }

// close gives everything back, the last opened first.
func (w *walk) close() error {
	var errs []error
	for i := len(w.closers) - 1; i >= 0; i-- {
		errs = append(errs, w.closers[i]())
	}
	w.closers = nil
	return errors.Join(errs...)
}

// watcher is told of every record of a run, as soon as it is in the log: it must not make the walk wait.
type watcher interface {
	// shown is told of a record of this process.
	shown(record audit.Record, body any)
	// replayed is told of a record from before this process.
	replayed(record audit.Record, body any)
}

// beginNew starts a run of the runbook that gets a name of its own.
func (w *walk) beginNew(ctx context.Context, through string) error {
	run, err := w.p.newRun(w.doc.Name)
	if err != nil {
		return err
	}
	return w.begin(ctx, run, through)
}

// begin starts a new run: its folder, its log, the command over the service.
func (w *walk) begin(ctx context.Context, run, through string) error {
	if err := w.create(run, through); err != nil {
		return err
	}
	if err := w.machine.Begin(ctx); err != nil {
		return errors.Join(commandError(err), w.forget())
	}
	return nil
}

// create makes the folder and the log of a new run, and the machine that writes it.
func (w *walk) create(run, through string) error {
	var err error
	if w.receivers, err = w.p.receivers(); err != nil {
		return err
	}
	if w.folder, err = w.p.newRunFolder(run); err != nil {
		return err
	}
	options, err := w.auditOptions(run, nil)
	if err != nil {
		return err
	}
	if w.log, err = audit.Create(w.folder.logPath(), w.on.clock, options); err != nil {
		return fail(exitError, err, "make the state directory writable, or give another --state-dir")
	}
	w.closeLater(w.log.Close)
	return w.ready(w.begun(run, through))
}

// forget removes the folder of a run that never began.
func (w *walk) forget() error {
	if _, begun := w.log.Head(); begun {
		return nil
	}
	return os.RemoveAll(w.folder.dir)
}

// resume goes on with a run from its log.
func (w *walk) resume(ctx context.Context, state *steps.State, log *runLog) error {
	if err := w.reopen(state, log); err != nil {
		return err
	}
	if err := w.machine.Resume(ctx, w.replay()); err != nil {
		return commandError(err)
	}
	return nil
}

// reopen opens the log of a run, and makes the machine that goes on with it.
func (w *walk) reopen(state *steps.State, log *runLog) error {
	w.folder, w.found, w.fromMirror = log.folder, log.found, len(log.mirrored) > 0
	var err error
	if w.receivers, err = w.p.receivers(); err != nil {
		return err
	}
	if err := log.keep(); err != nil {
		return err
	}
	options := func(earlier []string) (audit.Options, error) { return w.auditOptions(log.folder.run, earlier) }
	if w.log, err = log.open(w.on.clock, state.Seq, options); err != nil {
		return openError(err, w.folder)
	}
	w.closeLater(w.log.Close)
	return w.ready(w.begun(state.Begun.Run, state.Begun.Through))
}

// replay gives the records of the log. The transcript needs them too, so that the
// lines that come know the stage and what is owed.
func (w *walk) replay() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for record, err := range w.log.Records() {
			if err == nil {
				w.replayed(record)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// replayer is a printer that wants to know of the records from before this process.
type replayer interface {
	replayed(record audit.Record, body any) error
}

func (w *walk) replayed(record audit.Record) {
	printer, ok := w.printer.(replayer)
	if !ok && len(w.watchers) == 0 {
		return
	}
	body, err := steps.DecodeBody(record.Kind, record.Body)
	if err != nil {
		return
	}
	if ok && w.trouble == nil {
		w.trouble = printer.replayed(record, body)
	}
	for _, watcher := range w.watchers {
		watcher.replayed(record, body)
	}
}

// ready builds what stands between the machine and the world.
func (w *walk) ready(begun steps.Begun) error {
	process, err := newProcessName(w.p.where.random)
	if err != nil {
		return err
	}
	w.journal = &journal{log: w.log, mirror: w.mirror(begun.Run), key: w.p.headKey(), logger: w.p.log,
		publish: w.published}
	begun.RedisUser = w.on.store.User()
	w.notifies(begun.Run)
	w.measured(begun.Run)
	w.machine = steps.New(steps.Config{
		Doc: w.doc, Journal: w.journal, Prober: w.prober(), Controls: w.on.store, Caller: w.on.caller, Clock: w.on.clock,
		Begun:    begun,
		Found:    w.found,
		Holder:   actions.Holder{Run: begun.Run, Actor: w.actor, Host: w.host, Process: process},
		OnRecord: w.show,
	})
	return nil
}

// published takes a head that was signed.
func (w *walk) published(head audit.Head, signed []byte) {
	w.signed = &head
	if w.notifier != nil {
		w.notifier.signed = string(signed)
	}
	if w.meter != nil {
		w.meter.metrics.Signed(head)
	}
}

// prober asks the probes, and takes the time where somebody wants to know it.
func (w *walk) prober() steps.Prober {
	if w.meter == nil || w.on.prober == nil {
		return w.on.prober
	}
	return measuredProber{w.on.prober, w.on.clock, w.meter.metrics.Polled}
}

// waits is told of what the walk waits for a person to say.
func (w *walk) waits(q steps.Question) {
	if w.meter != nil {
		w.meter.metrics.Waits(q)
	}
	if w.asks != nil {
		w.asks(q)
	}
}

// mirror copies lines to Redis behind the walk's back. The lab's Redis ends with this
// process, so nobody could read a mirror there.
func (w *walk) mirror(run string) func(lines ...[]byte) {
	if w.on.lab {
		return func(...[]byte) {}
	}
	put := func(ctx context.Context, lines [][]byte) error { return w.on.store.Mirror(ctx, run, lines) }
	m := newMirror(put, w.p.clock, w.p.log)
	m.again = w.lines
	if !w.fromMirror {
		m.catchesUpFrom(func(ctx context.Context) ([]byte, error) { return w.mirrorEnd(ctx, run) })
	}
	m.start()
	screen := w.p.err
	w.closeLater(func() error {
		if unsent := m.close(); unsent > 0 {
			sayWarning(screen, countOf(unsent, "line")+" of the log did not reach its mirror in redis: "+
				"whoever looks from elsewhere does not know them; the log here is whole")
		}
		return nil
	})
	return m.send
}

// mirrorEnd is the newest record that the mirror has, nil when it has none.
func (w *walk) mirrorEnd(ctx context.Context, run string) ([]byte, error) {
	lines, err := w.on.store.Newest(ctx, run, mirrorLooked)
	for _, line := range lines {
		if !audit.IsSignedHead([]byte(line)) {
			return []byte(line), err
		}
	}
	return nil, err
}

// lines gives every line of the log, as far as it can be read.
func (w *walk) lines(yield func(line []byte) bool) {
	for record, err := range w.log.Records() {
		if err != nil || !yield(record.Line()) {
			return
		}
	}
}

// headKey opens the key that signs heads. A walk goes on without one.
func (p *program) headKey() *audit.Key {
	dir, err := p.keysHome()
	if err == nil {
		var key *audit.Key
		if key, err = audit.OpenKey(dir, keyName(p.where.host)); err == nil {
			return key
		}
	}
	sayWarning(p.err, "heads are not signed: "+err.Error())
	return nil
}

// keyName makes a host's name fit for a key: no spaces, no plus signs.
func keyName(host string) string {
	name := []byte("rewarm-" + host)
	for i, c := range name {
		if c <= ' ' || c == '+' || c >= 0x7f {
			name[i] = '-'
		}
	}
	return string(name)
}

// auditOptions gives the log its way out for when its disk fails: the file that was
// named for it, else the mirror in Redis.
func (w *walk) auditOptions(run string, earlier []string) (audit.Options, error) {
	options := audit.Options{Run: run, Earlier: earlier, Wrap: w.p.where.logFile, Emergency: func(line []byte) error {
		return w.on.store.Mirror(context.Background(), run, [][]byte{line})
	}}
	name := w.p.settings.emergencyLog
	if name == "" || len(earlier) > 0 {
		return options, nil
	}
	if info, err := os.Stat(name); err == nil && info.Size() > 0 {
		return options, usage(fmt.Errorf("--emergency-log %s holds something already that is not of this run", name),
			"give a file that is new or empty")
	}
	file := audit.NewEmergencyFile(name)
	w.closeLater(file.Close)
	options.Emergency = file.Put
	return options, nil
}

func (w *walk) begun(run, through string) steps.Begun {
	where := w.p.where
	return steps.Begun{
		Format: steps.FormatV1, Run: run, Service: w.doc.Service, File: w.doc.File,
		Runbook: w.doc.Source, SHA256: w.doc.Sum(), Parameters: parameterValues(w.doc),
		Prometheus: w.on.prometheus, Redis: w.on.redis, Approve: w.approve, Through: through,
		Version: where.version, Host: where.host, PID: where.pid, User: where.user, Lab: w.on.lab, Past: w.on.past,
		Hand: w.hand, Over: w.over,
		Again: w.on.logged, Scenario: w.on.scenario,
	}
}

// parameterValues gives every parameter with the value that it has in this walk.
func parameterValues(doc *runbook.Document) map[string]string {
	if len(doc.Parameters) == 0 {
		return nil
	}
	values := map[string]string{}
	for _, parameter := range doc.Parameters {
		values[parameter.Name] = parameter.Value
	}
	return values
}

// show prints a record and tells whoever watches. A screen that is gone must not stop a walk.
func (w *walk) show(record audit.Record, body any) {
	for _, watcher := range w.watchers {
		watcher.shown(record, body)
	}
	if w.trouble != nil {
		return
	}
	w.trouble = w.printer.print(record, body)
	if t, ok := w.printer.(headPrinter); ok && w.trouble == nil && w.signed != nil {
		w.trouble, w.signed = t.head(*w.signed), nil
	}
	if w.trouble != nil {
		sayWarning(w.p.err, "the output cannot be written any more; the walk goes on, its log is "+w.log.Path())
	}
}

// commandError gives the answer of another commander, or of a Redis that a walk cannot
// begin with, its way out.
func commandError(err error) error {
	var other *actions.Commanded
	if errors.As(err, &other) {
		if other.Why != "" {
			return fail(exitCommanded, err, "this run has ended and its log is whole; rewarm watch "+other.Run+
				" follows the other")
		}
		return fail(exitCommanded, err, "agree with whoever walks it; its lease ends "+actions.LeaseTime.String()+
			" after its process; rewarm takeover "+other.Run+" REASON takes the command now")
	}
	var unusable *actions.Failure
	if errors.As(err, &unusable) && unusable.Hint != "" {
		return fail(exitError, err, unusable.Hint)
	}
	return err
}

// openError tells a log that is in use from one that does not verify.
func openError(err error, folder runFolder) error {
	var locked *audit.LockedError
	if errors.As(err, &locked) {
		return fail(exitCommanded, err, "run "+folder.run+" is being walked by another process of this machine")
	}
	return unverified(err, folder)
}

// leave is how long a second signal waits for what is under way.
const leave = 2 * time.Second

// drive walks until an end, or until somebody asks twice to stop. Then an intent that is under way
// stays open in the log, and resuming settles it.
func (w *walk) drive(ctx context.Context, person person) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Signals are watched until the process ends: one that comes while the log and the
	// mirror are being closed must not cut that short.
	signals, stop := w.p.where.interrupts()
	w.p.closeLater(func() error { stop(); return nil })
	var keys <-chan string
	if person != nil {
		defer person.leave()
		defer w.p.sayTo(person.out())()
		keys = person.interrupts()
		go person.listen(w.mail.post)
	}
	d := w.newDriver(person)
	done := make(chan error, 1)
	go func() { done <- d.walk(ctx) }()
	if left, err := w.untilLeft(done, signals, keys); !left {
		return err
	}
	return w.leaveNow(cancel, done)
}

// newDriver makes what drives the machine, and lets orders from elsewhere come to it.
func (w *walk) newDriver(person person) *driver {
	d := &driver{machine: w.machine, clock: w.on.clock, mail: w.mail, person: person, say: w.p.err, actor: w.actor,
		stepped: w.log.ClockStep, lingers: w.on.lingers, resume: w.p.command("resume", w.folder.run), waits: w.waits,
		looking: looking{look: looksAt(w.doc, w.on.prober)}}
	if person != nil && person.answers() != nil {
		d.say = person.answers()
	}
	w.hearOrders(d)
	return d
}

// untilLeft waits for the walk's end. The first who asks for it lets the walk stop; left
// says that somebody does not wait for that.
func (w *walk) untilLeft(done <-chan error, signals, keys <-chan string) (left bool, err error) {
	var asked stopsAsked
	for {
		stop, err := awaitStop(done, signals, keys)
		if stop == "" {
			return false, err
		}
		switch asked.take(stop, w.p.clock.Now()) {
		case stopFirst:
			sayWarning(w.p.err, stop+": the walk stops when nothing adds load any more; "+onceMore(stop)+" to leave at once")
			w.mail.post(interruption{stop})
		case stopNow:
			return true, nil
		}
	}
}

// outcome is how a person learns what became of what was under way.
func (w *walk) outcome() string {
	if w.on.lab {
		return "the lab ended with this process; " + w.on.again + " starts again"
	}
	return w.p.command("resume", w.folder.run) + " finds out how it ended"
}

// errLeft says that a walk was left with its driver still at work: nothing of it may
// be touched any more.
var errLeft = errors.New("left while something was under way")

func (w *walk) leaveNow(cancel context.CancelFunc, done <-chan error) error {
	cancel()
	w.hurried = true
	last, stop := w.p.clock.Deadline(context.Background(), leave)
	defer stop()
	select {
	case <-done:
		return quiet(exitInterrupted, errors.New("interrupted"))
	case <-last.Done():
		return fail(exitInterrupted, errLeft, w.outcome())
	}
}

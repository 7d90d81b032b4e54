package steps

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Journal is where the walk's records go. Append need not wait for the disk;
// Commit does, and takes everything before it along.
type Journal interface {
	Append(actor, kind string, body any) (audit.Record, error)
	Commit(actor, kind string, body any) (audit.Record, error)
}

// Prober asks the probes. It answers always; what it could not learn is a reason.
type Prober interface {
	Poll(ctx context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation
}

// Controls reads and flips the controls of the service.
type Controls interface {
	Read(ctx context.Context, controls []*runbook.Control) (map[string]actions.Live, error)
	Take(ctx context.Context, holder actions.Holder) (actions.Lease, error)
	Renew(ctx context.Context, lease actions.Lease, deadMan []string) (lapsed []string, err error)
	Apply(ctx context.Context, lease actions.Lease, plan actions.Plan, stamp actions.Stamp) actions.Outcome
	Settle(ctx context.Context, lease actions.Lease, plan actions.Plan) actions.Outcome
	Drop(ctx context.Context, lease actions.Lease) error
}

// CallRequest is a call to start. The driver hands its outcome to Machine.Called.
type CallRequest struct {
	Step          string
	Undo, Instead bool
	Do            runbook.Invocation
	Check         *runbook.Invocation // decides whether Do had its effect; nil when its exit code does
	Timeout       time.Duration
}

// Caller starts calls and returns at once.
type Caller interface {
	Start(r CallRequest)
}

// Clock is the only time there is. Deadline bounds one exchange with the outside.
type Clock interface {
	Now() time.Time
	Wait(ctx context.Context, until time.Time) error
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Config is what a machine works with.
type Config struct {
	Doc      *runbook.Document
	Journal  Journal
	Prober   Prober
	Controls Controls
	Caller   Caller
	Clock    Clock
	Begun    Begun // of this process: for a resume only its host, pid, user, version and approve mode are used
	Holder   actions.Holder
	Found    []string                // what a resume found before it came here, such as records that came from a mirror
	OnRecord func(audit.Record, any) // told of every record, in order; may be nil
}

// Machine performs the moves that Next decides, and writes down what happened. It
// starts no goroutine; whoever drives it calls Step, Order and Called in turn.
type Machine struct {
	c          Config
	state      *State
	lease      actions.Lease
	unanswered int64 // exchanges since the lease was given that may have raised its number
	renewAt    time.Time
	latest     *Settled // the last outcome of a flip, nil before one
}

// renewEvery is how often the commander's lease and the dead man's values are renewed.
const renewEvery = actions.RenewEvery

const (
	exchangeLimit = 2 * time.Second         // of one exchange with Redis
	dropLimit     = 1500 * time.Millisecond // of giving the command back, which whoever leaves waits for
)

// New gives a machine that is yet to begin or to resume.
func New(c Config) *Machine { return &Machine{c: c} }

// State is the fold of the run so far: nil before Begin or Resume.
func (m *Machine) State() *State { return m.state }

// Lease is the commander's lease of this run.
func (m *Machine) Lease() actions.Lease { return m.lease }

// Begin takes command of the service and writes the first record. It fails with
// *actions.Commanded when another run commands, and with *actions.Failure when Redis
// answers what only a person can mend; nothing is written then. A Redis that is away
// keeps nobody from beginning: brakes have other ways, and the command is taken as
// soon as it can be. Only who takes over from another run begins with that done.
func (m *Machine) Begin(ctx context.Context) error {
	begun := m.c.Begun
	if err := m.take(ctx); err != nil && (!passes(err) || begun.Over != nil) {
		return err
	}
	begun.Format, begun.Fence = FormatV1, m.lease.Fence
	begun.Runbook, begun.SHA256, begun.Service = m.c.Doc.Source, m.c.Doc.Sum(), m.c.Doc.Service
	state, err := newState(&begun)
	if err != nil {
		return err
	}
	m.state = state
	return m.write(KindBegun, &begun, true)
}

// Resume folds the records of a run and goes on with it under a new fence.
func (m *Machine) Resume(ctx context.Context, records iter.Seq2[audit.Record, error]) error {
	state, err := Fold(records)
	if err != nil {
		return err
	}
	if state.Ending != "" {
		return fmt.Errorf("run %s is %s and cannot be resumed; start a new run", state.Begun.Run, state.Ending)
	}
	m.state, m.c.Doc = state, state.Doc
	if err := m.take(ctx); err != nil && !passes(err) {
		return err
	}
	b := m.c.Begun
	body := &Resumed{Version: b.Version, Host: b.Host, PID: b.PID, User: b.User, Fence: m.lease.Fence,
		Approve: b.Approve, Found: append(slices.Clone(m.c.Found), state.found(m.c.Clock.Now(), b.Approve)...), RedisUser: b.RedisUser}
	if err := m.write(KindResumed, body, true); err != nil {
		return err
	}
	return m.orphans()
}

// orphans asks the checks of the calls whose process is gone what became of them. Of a
// call without one nobody knows that, and a person has to look.
func (m *Machine) orphans() error {
	for _, c := range m.state.openCalls() {
		if r, ok := m.checkOf(c); ok {
			m.c.Caller.Start(r)
			continue
		}
		body := &Called{Step: c.Step, Undo: c.Undo, Instead: c.Instead, Finished: true,
			Error: "the process that made this call is gone; its outcome is not known"}
		if err := m.write(KindCalled, body, true); err != nil {
			return err
		}
	}
	return nil
}

// checkOf gives the request that asks a call's check alone; undoing a call has none.
func (m *Machine) checkOf(c *CallState) (CallRequest, bool) {
	call := m.state.callDeclared(c)
	if call == nil || call.Check == nil || c.Undo {
		return CallRequest{}, false
	}
	return CallRequest{Step: c.Step, Instead: c.Instead, Do: *call.Check, Timeout: timeoutOf(call)}, true
}

func timeoutOf(call *runbook.Call) time.Duration {
	if call.Timeout > 0 {
		return call.Timeout
	}
	return defaultCallTimeout
}

// found says in plain words what a resume finds that approves releases in this way.
func (s *State) found(now time.Time, approve ApproveMode) []string {
	var list []string
	for _, open := range s.open {
		list = append(list, fmt.Sprintf("the outcome of %s is open: it is settled by its digest first", open.Target))
	}
	for _, c := range s.openCalls() {
		text := "the call of %s was started and its outcome is not known"
		if call := s.callDeclared(c); call != nil && call.Check != nil && !c.Undo {
			text += ": its check is asked"
		}
		list = append(list, fmt.Sprintf(text, c.Step))
	}
	for _, h := range s.holds {
		if aPersonLifts(h.Cause) {
			list = append(list, h.Sentence+"; only a person lifts that, with "+releaseWord)
		}
	}
	for _, l := range s.Lifts() {
		list = append(list, "the undo of "+l.String()+": "+l.Awaits(approve))
	}
	for _, r := range s.Readings(now) {
		list = append(list, fmt.Sprintf("the reading of %s by hand was given to a process that is gone: it counts when it is given again", r.Ask.Probe))
	}
	for i := range s.Doc.Controls {
		if c := &s.Doc.Controls[i]; c.DeadMan != nil && s.raisedByUs(c) {
			list = append(list, fmt.Sprintf("%s adds load: it is idled and gated again", c.Name))
		}
	}
	return list
}

// passes reports whether a failure of Redis may pass by itself.
func passes(err error) bool {
	var failure *actions.Failure
	return errors.As(err, &failure) && failure.Retry > 0
}

func (m *Machine) take(ctx context.Context) error {
	ctx, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	holder := m.c.Holder
	holder.Fence, holder.Since = m.lease.Fence, m.lease.Since
	over := m.c.Begun.Over
	if m.state != nil {
		holder.Fence, over = max(holder.Fence, m.state.fence), m.state.Begun.Over
	}
	if over != nil { // also later: a failover may have lost who was taken over from
		holder.Over, holder.Why = over.Run, over.Reason
	}
	lease, err := m.c.Controls.Take(ctx, holder)
	if err != nil {
		m.unsure(err)
		return err
	}
	others := m.lease.Fence != 0 && lease.Fence > m.lease.Fence+1+m.unanswered
	m.lead(lease)
	m.renewAt = m.c.Clock.Now().Add(renewEvery)
	if others {
		m.drop(ctx)
		return errOvertaken
	}
	return nil
}

// lead goes on with a lease that was given.
func (m *Machine) lead(lease actions.Lease) { m.lease, m.unanswered = lease, 0 }

// unsure notes an exchange that was not answered and may have raised the fence.
func (m *Machine) unsure(err error) {
	var failure *actions.Failure
	if errors.As(err, &failure) && failure.Cause == actions.NoAnswer {
		m.unanswered++
	}
}

// errOvertaken ends a process that slept while another one commanded, of this run on
// another machine or of another run: what it knows is old.
var errOvertaken = fmt.Errorf("another process has commanded while this one was away, and has given the command back: %w", new(actions.Commanded))

// renew keeps the lease and the dead man's values alive. When the lease was lost
// because Redis was away, the run takes it again; when another run commands now, that
// ends this walk.
func (m *Machine) renew(ctx context.Context) error {
	if !due(m.c.Clock.Now(), m.renewAt) || m.state.Ending != "" || m.state.stopping {
		return nil
	}
	last := m.renewAt.Add(-renewEvery)
	m.renewAt = m.c.Clock.Now().Add(renewEvery)
	if m.lease.Fence == 0 {
		return m.retake(ctx, nil)
	}
	exchange, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	lapsed, err := m.c.Controls.Renew(exchange, m.lease, m.state.raised())
	cancel()
	if err != nil {
		return m.retake(ctx, err)
	}
	if err := m.slept(m.c.Clock.Now().Round(0).Sub(last.Round(0))); err != nil {
		return err
	}
	return m.lapsed(lapsed)
}

// slept writes down that a lease had ended before it was renewed: anybody could have taken the
// command in that time, and Redis says that nobody has.
func (m *Machine) slept(unrenewed time.Duration) error {
	if unrenewed <= actions.LeaseTime {
		return nil
	}
	return m.write(KindNoted, &Noted{About: AboutCommand, Fence: m.lease.Fence,
		Text: fmt.Sprintf("the command was not renewed for %s, longer than its lease: this machine slept, or its clock was set; nobody else has commanded meanwhile",
			Lasts(unrenewed))}, true)
}

// due reports whether a time has come by the monotonic clock or by the wall's: the first stands
// still while a machine sleeps, in which others may have taken the command.
func due(now, at time.Time) bool {
	return !now.Before(at) || !now.Round(0).Before(at.Round(0))
}

// retake takes the command again after it was lost, as when Redis forgot it. When
// another run commands now, or this run does from another machine, that is written down
// and ends the walk of this process.
func (m *Machine) retake(ctx context.Context, lost error) error {
	var commanded *actions.Commanded
	if errors.As(lost, &commanded) && commanded.Run == m.c.Holder.Run && commanded.Host != m.c.Holder.Host {
		return m.commandedBy(commanded)
	}
	switch err := m.take(ctx); {
	case errors.As(err, &commanded):
		return m.commandedBy(err)
	case err != nil:
		return nil // it is tried again at the next renewal
	}
	return m.write(KindNoted, &Noted{About: AboutCommand, Fence: m.lease.Fence,
		Text: fmt.Sprintf("this run was without the command, as when redis forgets it; it has it now, with number %d", m.lease.Fence)}, true)
}

func (m *Machine) commandedBy(other error) error {
	body := &Held{Cause: causeCommander, Sentence: other.Error(), Can: "once that run has ended: " + m.state.goOn()}
	var commanded *actions.Commanded
	if errors.As(other, &commanded) && commanded.Why != "" {
		body.Can = "this run has ended; what it left is that run's: rewarm watch " + commanded.Run
		body.TakenBy = commanded.Run
	}
	if m.state.hold(causeCommander) == nil {
		if err := m.hold(body); err != nil {
			return err
		}
	}
	return other
}

// lapsed: readers have fallen back to the dead man's value of these controls, so their
// load has ended; they are idled and gated again.
func (m *Machine) lapsed(names []string) error {
	for _, name := range names {
		raw := m.state.Control(name).Raw
		body := &Drifted{Control: name, Expected: raw, Found: raw, Direction: runbook.Protecting, Decision: DriftLapsed}
		if err := m.write(KindDrifted, body, true); err != nil {
			return err
		}
	}
	return nil
}

// raised lists the controls with a dead man's value that this run has raised.
func (s *State) raised() []string {
	var list []string
	for i := range s.Doc.Controls {
		if c := &s.Doc.Controls[i]; c.DeadMan != nil && s.raisedByUs(c) && len(s.toIdle) == 0 {
			list = append(list, c.Name)
		}
	}
	return list
}

// Step decides the next move and performs it. On Wait the driver sleeps; on Stop it
// leaves, and the command has been given back. An error means that the walk cannot go on
// in this process. Once ctx has ended nothing new is begun.
func (m *Machine) Step(ctx context.Context) (Move, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.renew(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	move := Next(m.state, m.c.Clock.Now())
	return move, m.perform(ctx, move)
}

func (m *Machine) perform(ctx context.Context, move Move) error {
	switch v := move.(type) {
	case Write:
		if v.Kind == KindClosed {
			return m.close(ctx, v)
		}
		return m.write(v.Kind, v.Body, v.Durable)
	case Poll:
		return m.poll(ctx, v)
	case MakePlan:
		return m.plan(ctx, v)
	case ApplyFlip:
		return m.apply(ctx, v)
	case SettleIntent:
		return m.settle(ctx, v.Intended)
	case StartCall:
		return m.startCall(v)
	case Stop:
		m.drop(ctx)
	}
	return nil
}

// close ends the run when Redis holds, at this moment, what the run knows. What has moved
// since the last poll is written down first, and the run goes on from that.
func (m *Machine) close(ctx context.Context, closed Write) error {
	body := &Observed{At: m.serverNow(), OffsetMS: m.state.offset.Milliseconds()}
	changed := m.readControls(ctx, body)
	if body.Redis == "" && len(changed) == 0 && len(body.Lost) == 0 && len(body.Left) == 0 {
		return m.write(closed.Kind, closed.Body, closed.Durable)
	}
	return m.writeSeen(body, changed)
}

// drop gives the command back after the last record, so that the next run need not wait
// until the lease has ended. It ends by itself where that fails. What adds load is idle
// by then, or left to its dead man's value.
func (m *Machine) drop(ctx context.Context) {
	if m.lease.Fence == 0 {
		return
	}
	ctx, cancel := m.c.Clock.Deadline(ctx, dropLimit)
	defer cancel()
	_ = m.c.Controls.Drop(ctx, m.lease)
	m.lease = actions.Lease{}
}

// write appends one record and folds it.
func (m *Machine) write(kind Kind, body any, durable bool) error {
	return m.writeAs(m.actor(), kind, body, durable)
}

func (m *Machine) writeAs(actor string, kind Kind, body any, durable bool) error {
	record, err := m.append(actor, kind, body, durable)
	if err != nil {
		return err
	}
	if err := m.state.apply(record, body); err != nil {
		return err
	}
	m.tell(record, body)
	return nil
}

func (m *Machine) append(actor string, kind Kind, body any, durable bool) (audit.Record, error) {
	shorten(body)
	put := m.c.Journal.Append
	if durable {
		put = m.c.Journal.Commit
	}
	record, err := put(actor, kind, body)
	if err != nil {
		return record, fmt.Errorf("the log takes no more records: %w", err)
	}
	return record, nil
}

func (m *Machine) tell(record audit.Record, body any) {
	if settled, ok := body.(*Settled); ok {
		m.latest = settled
	}
	if m.c.OnRecord != nil {
		m.c.OnRecord(record, body)
	}
}

func (m *Machine) actor() string { return m.c.Holder.Actor }

func (m *Machine) startCall(v StartCall) error {
	inv := v.Call.Do
	r := CallRequest{Step: v.Step, Undo: v.Undo, Instead: v.Instead, Check: v.Call.Check, Timeout: timeoutOf(v.Call)}
	if v.Undo {
		inv, r.Check = v.Call.Undo, nil
	}
	r.Do = *inv
	body := &Called{Step: v.Step, Undo: v.Undo, Instead: v.Instead, Command: describeArgs(inv)}
	if err := m.write(KindCalled, body, true); err != nil {
		return err
	}
	m.c.Caller.Start(r)
	return nil
}

func describeArgs(inv *runbook.Invocation) []string {
	if len(inv.Args) > 0 {
		return inv.Args
	}
	return []string{inv.Method, inv.URL}
}

// CallDone is how a call ended; Output is printable.
type CallDone struct {
	Step          string
	Undo, Instead bool
	OK            bool
	Output, Error string
}

// Called writes down how a call ended.
func (m *Machine) Called(d CallDone) error {
	return m.write(KindCalled, &Called{Step: d.Step, Undo: d.Undo, Instead: d.Instead, Finished: true,
		OK: d.OK, Output: audit.Cut(d.Output, 4096), Error: audit.Cut(d.Error, 1024)}, true)
}

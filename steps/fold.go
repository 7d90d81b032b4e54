package steps

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// keptPolls bounds the memory of a long run: no gate counts back further than its
// passes, and none asks for nearly as many.
const keptPolls = 64

// Fold builds the state of a run from its records, the first of which is begun.
func Fold(records iter.Seq2[audit.Record, error]) (*State, error) {
	var s *State
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		body, err := DecodeBody(record.Kind, record.Body)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", record.Seq, err)
		}
		if begun, ok := body.(*Begun); ok && s == nil {
			if s, err = newState(begun); err != nil {
				return nil, err
			}
		}
		if s == nil {
			return nil, fmt.Errorf("record %d: the log does not start with a begun record", record.Seq)
		}
		if err := s.apply(record, body); err != nil {
			return nil, fmt.Errorf("record %d: %w", record.Seq, err)
		}
	}
	if s == nil {
		return nil, fmt.Errorf("the log has no records")
	}
	return s, nil
}

// newState parses the runbook that the run began with: the bytes in the log decide,
// not a file that may have changed since.
func newState(begun *Begun) (*State, error) {
	if begun.Format != FormatV1 {
		return nil, fmt.Errorf("the log has format %q, this rewarm reads %q", begun.Format, FormatV1)
	}
	doc, problems := runbook.Parse(begun.File, begun.Runbook, begun.Parameters)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the runbook in the log: %w", problems)
	}
	s := &State{
		Doc: doc, Begun: *begun, Approve: begun.Approve,
		steps: map[string]*StepState{}, controls: map[string]*ControlState{},
		plans:  map[Target]*Planned{},
		guards: map[string]bool{}, guardGates: map[string]runbook.Gate{}, confirms: map[string]*ConfirmState{},
		baselines: map[string]float64{}, drifts: map[string]*Drifted{}, putBack: map[string]bool{},
		retries: map[Target]retry{}, tracks: map[string]*track{},
	}
	for _, g := range doc.Guards {
		s.guardGates[g.Name] = runbook.Gate{{g.Bound}}
	}
	for step := range doc.Steps() {
		if step.Confirm != nil && step.Confirm.Modes && step.Stage.Protects() {
			s.Undecided = true
		}
	}
	return s, nil
}

// apply takes one record into the state.
func (s *State) apply(record audit.Record, body any) error {
	s.Seq, s.LastAt = record.Seq, record.At
	if record.Emergency {
		s.Broken = true
	}
	switch b := body.(type) {
	case *Begun:
		s.BegunAt = record.At
	case *Resumed:
		s.resumed(b)
	case *StageBody:
		stage, ok := runbook.ParseStage(b.Stage)
		if !ok {
			return fmt.Errorf("unknown stage %q", b.Stage)
		}
		s.Stage = stage
	case *StepBody:
		s.stepped(b)
	case *Observed:
		s.observed(b)
	case *Planned:
		s.plans[b.Target.key()] = b
		s.noticed(b.Plan.Control, b.Plan.Before)
		s.away = retry{}
	case *Approved:
		s.approvals = append(s.approvals, &ApprovalState{Approved: *b, At: record.At})
	case *Intended:
		s.open = append(s.open, b)
	case *Settled:
		return s.settled(b)
	case *Judged:
		s.judged(b)
	case *OwedBody:
		s.Step(b.Step).Owed = true
	case *Guarded:
		s.guards[b.Guard] = b.Breached
	case *Drifted:
		s.drifted(b)
	case *Held:
		s.held(b)
	case *Skipped:
		s.skipped(b)
	case *OrderedBody:
		s.ordered(b)
	case *Called:
		s.called(b)
	case *ConfirmedBody:
		s.confirmed(b)
	case *Recovered:
		s.Recovered = b
	case *Ended:
		s.Ending = EndedClosed
		if record.Kind == KindAborted {
			s.Ending = EndedAborted
		}
	}
	return nil
}

// resumed: the process that kept the dead man's values alive was gone, so whatever
// adds load is idled and gated again before anything else is released.
func (s *State) resumed(b *Resumed) {
	s.Approve = b.Approve
	s.stopping = false
	s.idle()
	s.Begun.Through = ""
	s.holds = slices.DeleteFunc(s.holds, func(h *HoldState) bool { return slices.Contains(endsWithProcess, h.Cause) })
	s.retries, s.away, s.refusing, s.refusal = map[Target]retry{}, retry{}, retry{}, nil
	s.forgetPolls()
}

// forgetPolls lets every gate start anew: nobody looked while the run stood still.
func (s *State) forgetPolls() {
	s.pollBase += len(s.polls)
	s.polls, s.partial, s.lastPoll = nil, nil, time.Time{}
	s.tracks = map[string]*track{}
	s.exit.before, s.exit.since, s.exit.passesNow = nil, time.Time{}, false
}

func (s *State) stepped(b *StepBody) {
	st := s.Step(b.Step)
	st.Phase, st.Outcome = b.State, b.Outcome
	if b.State == StepEntered {
		st.EnteredAt, st.TargetAt = s.LastAt, s.LastAt
	}
	if b.State == StepDone {
		s.doneAt = s.LastAt
	}
}

func (s *State) observed(b *Observed) {
	if s.partial == nil {
		s.partial = &poll{at: b.At, answers: map[probes.Ask]*probes.Answer{}}
	}
	for i := range b.Answers {
		s.partial.answers[b.Answers[i].Ask] = &b.Answers[i]
		s.baseline(&b.Answers[i])
	}
	s.offset = time.Duration(b.OffsetMS) * time.Millisecond
	s.RedisDown, s.lost = b.Redis, b.Lost
	if b.Redis == "" {
		s.away = retry{}
	}
	for name, raw := range b.Controls {
		s.noticed(name, raw)
	}
	for name, raw := range b.ControlsBase64 {
		text := string(raw)
		s.noticed(name, &text)
	}
	if b.Propagation != nil {
		s.propagated(b.Propagation)
	}
	if b.More {
		return
	}
	if s.compared == nil {
		s.compared = s.liveNumbers()
	}
	p := s.partial
	p.seenAt, p.numbers, p.baselines = s.LastAt, s.compared, s.baselines
	s.polls = append(s.polls, p)
	s.partial, s.lastPoll = nil, s.LastAt
	if len(s.polls) > keptPolls {
		s.polls = slices.Delete(s.polls, 0, 1)
		s.pollBase++
	}
	s.judgeAll()
}

// judgeAll lets every gate that watches judge the latest poll. The counts then follow
// from the records alone, whoever folds them and whenever they are looked at.
func (s *State) judgeAll() {
	for _, w := range s.watches() {
		if w.ID != exitID {
			s.track(w)
		}
	}
	s.followExit()
}

func (s *State) baseline(a *probes.Answer) {
	p := s.Doc.Probe(a.Ask.Probe)
	if _, fixed := s.baselines[a.Ask.Probe]; fixed || p == nil || !p.Baseline {
		return
	}
	if a.Reason != "" || a.Count != 1 || math.IsNaN(a.Max.Value) || math.IsInf(a.Max.Value, 0) {
		return
	}
	s.baselines = maps.Clone(s.baselines) // earlier polls keep what they were judged by
	s.baselines[a.Ask.Probe] = a.Max.Value
	for _, t := range s.tracks {
		t.asks = slices.DeleteFunc(t.asks, s.isFixed)
	}
	s.exit.asks = nil
}

// obeyed is the share of processes that must obey a version before what is
// measured counts as after the flip (contracts of the controls).
const obeyed = 0.99

func (s *State) propagated(p *probes.Propagation) {
	if p.Reason != "" && p.Reason != probes.NoData {
		return
	}
	for _, f := range s.flips {
		switch {
		case !f.Mark.IsZero() || f.Version > p.Version:
		case !p.Reported:
			f.Mark = f.ServerAt.Add(f.Settle)
		case p.Processes > 0 && float64(p.Obeying) >= obeyed*float64(p.Processes):
			f.Mark = p.Oldest
		}
	}
}

func (s *State) see(control string, raw *string) {
	c := s.Control(control)
	if !c.Known || !equalRaw(c.Raw, raw) {
		s.compared = nil
	}
	c.Known, c.Raw = true, raw
}

// noticed takes in a value that was read. When it moved and the run did not move it, no
// approval that covers the control stands any more.
func (s *State) noticed(control string, raw *string) {
	if c := s.Control(control); c.Known && !equalRaw(c.Raw, raw) {
		s.voidControl(control)
	}
	s.see(control, raw)
}

func (s *State) voidControl(control string) {
	for _, a := range s.approvals {
		if a.covers(control) {
			a.Void = true
		}
	}
}

func (s *State) settled(b *Settled) error {
	if b.Result == ResultUnknown {
		s.backOff(b)
		s.away = s.away.again(s.LastAt)
		return nil // the intent stays open
	}
	if b.Result != ResultUnreached {
		s.away = retry{}
	}
	s.open = slices.DeleteFunc(s.open, func(i *Intended) bool { return i.Digest == b.Digest })
	delete(s.plans, b.Target.key())
	switch b.Result {
	case ResultRefused:
		if b.Seen {
			s.noticed(b.Plan.Control, b.Found)
		}
		if b.Cause == string(actions.NotApplied) {
			delete(s.retries, b.Target.key()) // it is certain now, and can be made anew at once
			return nil
		}
		s.backOff(b)
		if refusesAll(b) {
			s.refusing, s.refusal = s.refusing.again(s.LastAt), b
		}
		return nil
	case ResultUnreached:
		s.backOff(b)
		s.away = s.away.again(s.LastAt)
		return nil
	case ResultApplied, ResultNothing:
	default:
		return fmt.Errorf("unknown result %q of a flip", b.Result)
	}
	delete(s.retries, b.Target.key())
	if b.Result == ResultApplied {
		s.refusing, s.refusal = retry{}, nil
	}
	s.flipped(b)
	return nil
}

// backOff spaces the tries of one flip.
func (s *State) backOff(b *Settled) {
	r := s.retries[b.Target.key()].again(s.LastAt)
	r.unreachable = away(b)
	s.retries[b.Target.key()] = r
}

// again is when to try the next time: almost at once, then after one second, then every
// two. A brake must not miss the moment at which Redis comes back.
func (r retry) again(now time.Time) retry {
	waits := []time.Duration{200 * time.Millisecond, time.Second, 2 * time.Second}
	return retry{at: now.Add(waits[min(r.tries, len(waits)-1)]), tries: r.tries + 1}
}

// away reports whether a flip failed because Redis could not be reached or took no
// writes, rather than because the value had moved.
func away(b *Settled) bool {
	return b.Cause != string(actions.Moved) && b.Cause != string(actions.NotApplied)
}

// refusesAll reports whether a refusal is Redis' own, so that it meets every flip: no
// memory, no disk, no rights. One flip then finds out for all.
func refusesAll(b *Settled) bool {
	switch b.Cause {
	case string(actions.CommandLost), causeTooLong, causeLog:
		return false
	}
	return away(b)
}

func (s *State) flipped(b *Settled) {
	flip := &FlipState{Target: b.Target, Plan: b.Plan, Digest: b.Digest, Version: b.Version,
		At: s.LastAt, ServerAt: b.ServerAt, Settle: s.settleOf(b.Target), Nothing: b.Result == ResultNothing}
	if flip.Nothing {
		flip.Mark = b.ServerAt
	}
	if !flip.Nothing {
		s.own(flip)
	}
	s.flips = append(s.flips, flip)
	if flip.Target.Purpose == PurposeGuard {
		s.supersede(flip.Plan.Control, true)
	}
	s.afterFlip(flip)
}

// supersede ends the waiting for a release whose control was tightened by a guard's brake
// or by somebody else: what it was to bring about can no longer be seen. After a guard
// the next try goes half way.
func (s *State) supersede(control string, failed bool) {
	for step := range s.Doc.Steps() {
		st := s.Step(step.Name)
		if st.Awaiting == nil || st.Awaiting.Plan.Control != control || st.Awaiting.Target.Purpose == PurposeCall {
			continue
		}
		if failed {
			st.UndoneFor = "the brake of a guard on " + control
			st.Undoing = st.Awaiting
			s.failed(st, st.Awaiting.Target)
			st.Undoing = nil
			s.voidStep(step.Name)
		}
		st.Awaiting.Undone = true
		st.Awaiting, st.TargetAt = nil, s.LastAt
	}
}

// own notes that the run has flipped a control and what it left there.
func (s *State) own(flip *FlipState) {
	c := s.Control(flip.Plan.Control)
	if !c.Ours {
		c.Ours, c.Original, c.Order = true, flip.Plan.Before, len(s.flips)
	}
	c.Since, c.By = s.LastAt, s.Begun.Run
	if control := s.Doc.Control(flip.Plan.Control); control != nil && control.Review > 0 {
		c.ReviewAt = s.LastAt.Add(control.Review)
	}
	s.see(flip.Plan.Control, flip.Plan.After)
	c.Expected = flip.Plan.After
}

func (s *State) settleOf(t Target) time.Duration {
	if step := s.Doc.Step(t.Step); step != nil {
		return step.Settle
	}
	return defaultSettle
}

// defaultSettle is used for flips that belong to no step: a guard's brake.
const defaultSettle = 5 * time.Second

// afterFlip moves the step on that the flip was made for.
func (s *State) afterFlip(flip *FlipState) {
	st := s.Step(flip.Target.Step)
	step := s.Doc.Step(flip.Target.Step)
	switch flip.Target.Purpose {
	case PurposeFlip:
		if step != nil && !step.Stage.Protects() {
			st.Awaiting = flip
		}
	case PurposeRestore:
		st.Awaiting = flip
	case PurposeUndo:
		if st.Undoing != nil {
			st.Undoing.Undone = true
			st.Undoing = nil
		}
		st.Awaiting, st.Undone = nil, true
	case PurposeHarder:
		st.Harder = true
	case PurposeIdle:
		s.idled(flip.Plan.Control)
	case PurposePutBack:
		delete(s.putBack, flip.Plan.Control)
		delete(s.drifts, flip.Plan.Control)
	}
}

// idle lists the controls that add load and that this run has raised.
func (s *State) idle() {
	s.toIdle = nil
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		if c.DeadMan != nil && (s.raisedByUs(c) || s.openIntent(c.Name) != nil) {
			s.toIdle = append(s.toIdle, c.Name)
		}
	}
}

// raisedByUs reports whether the run flipped a control and it is not at its dead man's
// value, as far as is known.
func (s *State) raisedByUs(c *runbook.Control) bool {
	live, ok := s.live(c)
	return s.Control(c.Name).Ours && !(ok && live.Equal(*c.DeadMan))
}

// idled sends the steps that had flipped this control back to their start, so that
// they are gated and approved again.
func (s *State) idled(control string) {
	s.toIdle = slices.DeleteFunc(s.toIdle, func(name string) bool { return name == control })
	for _, f := range s.flips {
		if f.Plan.Control != control || f.Target.Purpose != PurposeFlip || s.Stage >= runbook.Restore {
			continue
		}
		f.Idled = true
		if step := s.Doc.Step(f.Target.Step); step != nil && !step.Stage.Protects() {
			s.steps[step.Name] = &StepState{}
			s.voidStep(step.Name)
		}
	}
}

func (s *State) judged(b *Judged) {
	st := s.Step(b.Step)
	switch b.Decision {
	case DecisionGo:
		st.Judged = true
	case DecisionBlind:
		st.Judged, st.Blind = true, true
	case DecisionMet, DecisionContinue:
		s.expectationEnded(st)
	case DecisionHarder:
		st.Unmet = true
	case DecisionUndo:
		s.voidStep(b.Step)
		st.UndoneFor = b.Gate + ": " + sentences(probes.Judgement{Findings: b.Findings})
		st.Undoing = s.lastFlipOf(b.Target)
		if st.Owed {
			st.Owed = false
			s.cleared()
		}
		s.failed(st, b.Target)
	}
}

// failed remembers what a release failed at: the next try goes half way.
func (s *State) failed(st *StepState, t Target) {
	st.Failures++
	switch {
	case t.Purpose == PurposeCall:
		st.UndoCall = true
	case st.Undoing == nil || st.Awaiting != st.Undoing:
	case t.Purpose == PurposeFlip:
		st.Failed = st.Undoing.Plan.After
	case t.Purpose == PurposeRestore:
		s.Control(t.Control).Failed = st.Undoing.Plan.After
	}
}

func (s *State) expectationEnded(st *StepState) {
	if st.Owed {
		st.Owed = false
		s.cleared()
	}
	if st.Awaiting != nil {
		switch t := st.Awaiting.Target; t.Purpose {
		case PurposeFlip:
			st.passRung(s.Doc, st.Awaiting)
		case PurposeRestore:
			s.Control(t.Control).Failed = nil
		}
		st.Awaiting = nil
	}
	st.TargetAt = s.LastAt
}

func (s *State) lastFlipOf(t Target) *FlipState {
	for i := len(s.flips) - 1; i >= 0; i-- {
		if s.flips[i].Target == t {
			return s.flips[i]
		}
	}
	return nil
}

// voidStep voids the approvals that cover a flip of this step: it failed, stepped
// down or has to start again.
func (s *State) voidStep(name string) {
	step := s.Doc.Step(name)
	for _, a := range s.approvals {
		flips := step != nil && step.Flip != nil && a.covers(step.Flip.Control)
		if a.Step == name || flips {
			a.Void = true
		}
	}
}

func (s *State) drifted(b *Drifted) {
	s.voidControl(b.Control)
	s.see(b.Control, b.Found)
	switch b.Decision {
	case DriftHolds:
		s.drifts[b.Control] = b
	case DriftPutBack, DriftLost:
		s.putBack[b.Control] = true
	case DriftEnded:
		delete(s.drifts, b.Control)
		delete(s.putBack, b.Control)
	case DriftLapsed:
		s.idle()
	case DriftDeadMan:
		s.toIdle = slices.DeleteFunc(s.toIdle, func(name string) bool { return name == b.Control })
	default:
		s.Control(b.Control).Expected = b.Found
		if b.Direction != runbook.Releasing {
			s.supersede(b.Control, false)
		}
		delete(s.drifts, b.Control)
		delete(s.putBack, b.Control)
	}
}

func (s *State) held(b *Held) {
	if step, ok := strings.CutPrefix(b.Cause, causeUndone("")); ok {
		s.Step(step).Undone = false
	}
	if step, ok := strings.CutPrefix(b.Cause, causeCall("")); ok && b.Lifted {
		s.doneByHand(step)
	}
	if step, ok := strings.CutPrefix(b.Cause, causeFailing("")); ok && b.Lifted {
		s.Step(step).Failures = 0
	}
	if b.Cause == causeThrough && !b.Lifted {
		s.stopping = true
		s.idle()
	}
	s.holds = slices.DeleteFunc(s.holds, func(h *HoldState) bool { return h.Cause == b.Cause })
	if !b.Lifted {
		s.holds = append(s.holds, &HoldState{Held: *b, Since: s.LastAt})
	}
}

// doneByHand: a person released the hold of a call that failed, having done it.
func (s *State) doneByHand(step string) {
	for _, c := range s.calls {
		if c.Step == step && c.Finished && !c.OK {
			c.ByHand = true
		}
	}
}

func (s *State) skipped(b *Skipped) {
	st := s.Step(b.Step)
	st.Phase, st.Outcome, st.Skipped = StepDone, "skipped: "+b.Reason, true
	s.doneAt = s.LastAt
	st.Awaiting = nil
	if st.Owed {
		st.Owed = false
		s.cleared()
	}
	s.decideModes(b.Step, nil)
}

// cleared notes when nothing is owed any more: from then on a release's when counts.
func (s *State) cleared() {
	if len(s.Owed()) == 0 {
		s.clearAt = s.LastAt
		s.clearPoll = s.pollBase + max(len(s.polls)-1, 0)
	}
}

func (s *State) ordered(b *OrderedBody) {
	switch b.Order {
	case OrderAbort:
		s.aborting = b
		s.idle()
	case OrderInterrupt:
		s.stopping = true
		s.idle()
	case OrderTake:
		st := s.Step(b.Step)
		st.Phase, st.Skipped, st.Judged, st.Blind, st.Taken = StepEntered, false, true, false, true
	}
}

func (s *State) called(b *Called) {
	if !b.Finished {
		s.calls = append(s.calls, &CallState{Called: *b, StartedAt: s.LastAt})
		if b.Instead {
			s.Step(b.Step).Instead = true
		}
		return
	}
	for _, c := range s.calls {
		if c.Step == b.Step && c.Undo == b.Undo && c.Instead == b.Instead && !c.Finished {
			c.Finished, c.OK, c.Output, c.Error = true, b.OK, b.Output, b.Error
		}
	}
	if step := s.Doc.Step(b.Step); step != nil && !b.Instead {
		s.callEnded(step, b)
	}
}

// callEnded: from when a call ended well, its step's expectation is judged; a call that
// was taken back because that failed holds.
func (s *State) callEnded(step *runbook.Step, b *Called) {
	st := s.Step(step.Name)
	if b.Undo {
		if st.UndoCall {
			st.UndoCall, st.Undone, st.Awaiting = false, true, nil
		}
		return
	}
	if !b.OK || len(step.Expect) == 0 {
		return
	}
	at := s.LastAt.Add(s.offset)
	st.Acted = &FlipState{Target: Target{Step: step.Name, Purpose: PurposeCall}, Nothing: true,
		At: s.LastAt, ServerAt: at, Mark: at.Add(step.Settle), Settle: step.Settle}
	if !step.Stage.Protects() {
		st.Awaiting = st.Acted
	}
}

func (s *State) confirmed(b *ConfirmedBody) {
	if !b.Answered {
		s.confirms[b.Step] = &ConfirmState{AskedAt: s.LastAt}
		return
	}
	c := s.confirms[b.Step]
	if c == nil {
		c = &ConfirmState{AskedAt: s.LastAt}
		s.confirms[b.Step] = c
	}
	c.Answered, c.Answer, c.By = true, b.Answer, b.By
	s.decideModes(b.Step, b.Modes)
}

// decideModes ends the question after the modes, whoever answered it and how.
func (s *State) decideModes(step string, modes []runbook.Mode) {
	if d := s.Doc.Step(step); d != nil && d.Confirm != nil && d.Confirm.Modes {
		s.Undecided, s.Modes = false, modes
	}
}

package steps

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Fold builds the state of a run from its records, the first of which is begun.
func Fold(records iter.Seq2[audit.Record, error]) (*State, error) {
	var s *State
	decoder := NewDecoder()
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		body, err := decoder.Body(record.Kind, record.Body)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", record.Seq, err)
		}
		if s, err = Follow(s, record, body); err != nil {
			return nil, err
		}
	}
	if s == nil {
		return nil, fmt.Errorf("the log has no records")
	}
	return s, nil
}

// Follow takes the next record into a fold, for whoever looks on while a run is walked. The state
// is nil before the first record. The body is what DecodeBody makes of the record; the state keeps it.
func Follow(s *State, record audit.Record, body any) (*State, error) {
	begun, ok := body.(*Begun)
	switch {
	case s == nil && !ok:
		return nil, fmt.Errorf("record %d: the log does not start with a begun record", record.Seq)
	case s == nil:
		var err error
		if s, err = newState(begun); err != nil {
			return nil, fmt.Errorf("record %d: %w", record.Seq, err)
		}
	}
	if err := s.apply(record, body); err != nil {
		return nil, fmt.Errorf("record %d: %w", record.Seq, err)
	}
	return s, nil
}

func newState(begun *Begun) (*State, error) {
	if begun.Format != FormatV1 {
		return nil, fmt.Errorf("the log has format %q, this rewarm reads %q", begun.Format, FormatV1)
	}
	doc, err := documents.of(begun)
	if err != nil {
		return nil, err
	}
	s := &State{
		Doc: doc, Begun: *begun, Approve: begun.Approve,
		steps: map[string]*StepState{}, controls: map[string]*ControlState{},
		plans:  map[Target]*Planned{},
		guards: map[string]bool{}, guardGates: map[string]runbook.Gate{}, confirms: map[string]*ConfirmState{},
		baselines: map[string]float64{}, drifts: map[string]*Drifted{}, putBack: map[string]bool{},
		readings: map[probes.Ask]*HandReading{},
		retries:  map[Target]retry{}, tracks: map[string]*track{}, received: map[string]Receipt{},
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
	s.receive(body)
	if record.Emergency {
		s.Broken = true
	}
	return s.take(record, body)
}

// take is what each kind of record means.
func (s *State) take(record audit.Record, body any) error {
	switch b := body.(type) {
	case *Begun:
		s.began(b)
	case *Resumed:
		s.Broken = record.Emergency // it has a log of its own
		s.resumed(b)
	case *StageBody:
		return s.entered(b)
	case *StepBody:
		s.stepped(b)
	case *Observed:
		s.observed(b)
	case *Planned:
		s.planned(b)
	case *Approved:
		s.approvals = append(s.approvals, &ApprovalState{Approved: *b, At: record.At, polls: s.polled()})
	case *Intended:
		s.intended(b)
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
	case *Noted:
		s.noted(b)
	case *ManualBody:
		return s.manual(b)
	case *OrderedBody:
		s.ordered(b)
	case *Called:
		s.called(b)
	case *ConfirmedBody:
		s.confirmed(b)
	case *Recovered:
		s.Recovered = b
	case *Ended:
		s.ended(record.Kind, b)
	}
	return nil
}

func (s *State) began(b *Begun) {
	s.BegunAt, s.fence = s.LastAt, b.Fence
	s.walkers = append(s.walkers, b.User, b.RedisUser)
}

func (s *State) entered(b *StageBody) error {
	stage, ok := runbook.ParseStage(b.Stage)
	if !ok {
		return fmt.Errorf("unknown stage %q", b.Stage)
	}
	s.Stage = stage
	return nil
}

func (s *State) planned(b *Planned) {
	s.plans[b.Target.key()] = b
	s.noticed(b.Plan.Control, b.Plan.Before)
	s.Control(b.Plan.Control).Unread = false
	s.away = retry{}
}

func (s *State) intended(b *Intended) {
	s.open = append(s.open, b)
	s.fence = max(s.fence, b.Fence)
}

func (s *State) noted(b *Noted) {
	s.warned, s.fence = s.warned || b.About == AboutExpiry, max(s.fence, b.Fence)
	if b.Diagnosis != nil {
		s.diagnosed = b
	}
}

func (s *State) ended(kind Kind, b *Ended) {
	s.Ending, s.End = EndedClosed, b
	if kind == KindAborted {
		s.Ending = EndedAborted
	}
}

// resumed: the process that kept the dead man's values alive was gone, so whatever
// adds load is idled and gated again before anything else is released. Nobody watched
// meanwhile, so every gate has its whole time again.
func (s *State) resumed(b *Resumed) {
	s.Approve, s.resumedAt = b.Approve, s.LastAt
	s.fence = max(s.fence, b.Fence)
	s.walkers = append(s.walkers, b.User, b.RedisUser)
	s.stopping = false
	s.readings = map[probes.Ask]*HandReading{} // their time was told by the clock of another process
	s.idle()
	s.Begun.Through = ""
	s.holds = slices.DeleteFunc(s.holds, func(h *HoldState) bool { return slices.Contains(endsWithProcess, h.Cause) })
	s.retries, s.away, s.refusing, s.refusal = map[Target]retry{}, retry{}, retry{}, nil
	s.forgetPolls()
	s.measured, s.early = false, nil
}

func (s *State) stepped(b *StepBody) {
	st := s.Step(b.Step)
	st.Phase, st.Outcome = b.State, b.Outcome
	if b.State == StepEntered {
		st.EnteredAt, st.TargetAt, st.Skipped, st.Tighter = s.LastAt, s.LastAt, false, false
	}
	if b.State == StepDone {
		s.doneAt = s.LastAt
	}
}

func (s *State) drifted(b *Drifted) {
	s.voidControl(b.Control)
	s.see(b.Control, b.Found)
	switch b.Decision {
	case DriftHolds:
		s.drifts[b.Control] = b
		s.Control(b.Control).DriftedAt = s.LastAt
	case DriftPutBack:
		s.putBack[b.Control] = true
	case DriftLost:
		s.putBack[b.Control] = true
		s.lostFlip(b.Control, time.Time{}) // what it is for is judged from when it is back
	case DriftEnded:
		delete(s.drifts, b.Control)
		delete(s.putBack, b.Control)
	case DriftReverted:
		s.reverted(b)
	case DriftReturned:
		s.cameBack(b)
	case DriftLapsed:
		s.Control(b.Control).Lapsed = true
		s.idle()
	case DriftDeadMan:
		s.toIdle = slices.DeleteFunc(s.toIdle, func(name string) bool { return name == b.Control })
	default:
		c := s.Control(b.Control)
		c.Expected, c.Version, c.Since, c.By, c.Reverted = b.Found, 0, s.LastAt, byHand, false
		if b.Direction != runbook.Releasing {
			s.supersede(b.Control, false)
		}
		delete(s.drifts, b.Control)
		delete(s.putBack, b.Control)
	}
}

func (s *State) held(b *Held) {
	for _, cause := range b.Also {
		one := *b
		one.Cause, one.Also = cause, nil
		s.held(&one)
	}
	if step, ok := strings.CutPrefix(b.Cause, causeUndone("")); ok {
		s.Step(step).Undone = false
	}
	if step, ok := strings.CutPrefix(b.Cause, causeCall("")); ok && b.Lifted {
		s.doneByHand(step)
	}
	if step, ok := strings.CutPrefix(b.Cause, causeByHand("")); ok && b.Lifted && s.Step(step).ByHand != nil {
		s.Step(step).ByHand.TakenBack = true
	}
	if step, ok := strings.CutPrefix(b.Cause, causeFailing("")); ok && b.Lifted {
		s.Step(step).Failures = 0
	}
	s.carried = s.carried || b.From != ""
	if b.Cause == causeShift && b.Lifted && b.By != "" {
		s.Shift = nil
	}
	if slices.Contains(stopsWalk, b.Cause) && !b.Lifted {
		s.stopping = true
		s.idle()
	}
	s.setHold(b)
}

func (s *State) setHold(b *Held) {
	s.holds = slices.DeleteFunc(s.holds, func(h *HoldState) bool { return h.Cause == b.Cause })
	if !b.Lifted {
		s.holds = append(s.holds, &HoldState{Held: *b, Since: s.LastAt})
	}
}

func (s *State) skipped(b *Skipped) {
	st := s.Step(b.Step)
	st.Phase, st.Outcome, st.Skipped, st.Tighter = StepDone, "skipped: "+b.Reason, true, b.Tighter
	s.doneAt = s.LastAt
	st.Awaiting, st.Undone = nil, false
	if st.Owed {
		st.Owed = false
		s.cleared()
	}
	s.decideModes(b.Step, nil)
}

func (s *State) ordered(b *OrderedBody) {
	switch {
	case b.Refused != "":
		return
	case b.Moot != "":
		s.undoMoot(b)
		return
	}
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
	case OrderDone:
		s.byHandDone(b)
	case OrderUndo:
		s.undoOrdered(b)
	case OrderKeep:
		s.keepOrdered(b)
	case OrderHandover:
		s.Shift = &Shift{To: b.To, Until: b.Until, By: b.By, Since: s.LastAt, Reason: b.Reason}
	}
}

package steps

import (
	"slices"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// UndoWord is the word of a person who wants a step put back.
type UndoWord struct {
	By     string
	Reason string // "" when none was given
	At     time.Time
}

// Lift is an undo that was ordered and lifts a protection by it. It is owed to a person: once
// the exit holds and nothing blocks, its plan is shown and approved as that of any release.
// Until then the step is in force, and OrderKeep drops it.
type Lift struct {
	UndoWord
	Step     string
	Control  string // "" for a call
	Back     string // what there will be, for people
	Approval runbook.Approval
	PutOn    time.Time // the brake, on our clock; zero for a call
}

// String says what is to be put back, by whom and why.
func (l Lift) String() string {
	back := l.Control + " to " + l.Back
	if l.Control == "" {
		back = l.Back
	}
	return l.Step + ": " + back + ", " + l.Ordered()
}

// Ordered says who wants it and why.
func (l Lift) Ordered() string {
	if l.Reason == "" {
		return "ordered by " + l.By
	}
	return "ordered by " + l.By + ": " + l.Reason
}

// Awaits says what it waits for, what comes then where releases are approved in this way, and the word that drops it.
func (l Lift) Awaits(approve ApproveMode) string {
	then := "asks then"
	switch {
	case l.Approval == runbook.ApprovalNone:
		then = "is made then, as its step needs no word"
	case l.Approval == runbook.ApprovalTwo:
		then = "asks two persons then"
	case approve == Auto:
		then = "is made then without asking, as releases are approved by their gates"
	}
	return "it waits for the exit and " + then + "; " + l.Drop() + " drops it"
}

// Drop is the word with which a person leaves it as it is.
func (l Lift) Drop() string { return string(OrderKeep) + " " + l.Step }

// Lifts gives what persons want put back and what waits for the exit, in walk order; none
// once the run has ended or another one has taken over.
func (s *State) Lifts() []Lift {
	if s.Ending != "" || s.TakenBy() != "" {
		return nil
	}
	return s.owedLifts()
}

// owedLifts gives every undo that was ordered and lifts, and that was neither made nor dropped.
func (s *State) owedLifts() []Lift {
	var list []Lift
	for step := range s.Doc.Steps() {
		if st := s.steps[step.Name]; st != nil && st.undoWaits(step) {
			list = append(list, s.liftOf(step, st))
		}
	}
	return list
}

func (s *State) liftOf(step *runbook.Step, st *StepState) Lift {
	l := Lift{UndoWord: *st.Ordered, Step: step.Name, Approval: step.Timing.Release}
	if st.Undoing == nil {
		l.Back = "its call taken back"
		return l
	}
	l.Control, l.PutOn = st.Undoing.Plan.Control, st.Undoing.At
	l.Back = readableAfter(s.Doc.Control(l.Control), st.Undoing.Plan.Before)
	return l
}

// undoWaits reports whether a person wants a step put back that lifts a protection by it:
// then it waits for the exit, and until it is done the step is in force.
func (st *StepState) undoWaits(step *runbook.Step) bool {
	switch {
	case st.Ordered == nil:
		return false
	case st.Undoing != nil:
		return st.Undoing.Plan.Direction == runbook.Protecting
	}
	return st.UndoCall && step.Stage.Protects()
}

func (st *StepState) dropUndo() {
	st.Undoing, st.Ordered, st.UndoCall = nil, nil, false
}

// keep leaves in force what a person wanted put back and what still waits.
func (m *Machine) keep(o Order) error {
	step, refused := m.state.kept(o.Step)
	if refused != nil {
		return refused
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: OrderKeep, Step: step.Name, By: o.By, Reason: o.Text})
}

// kept finds the step whose undo is to be dropped, by its name or that of the control, or
// says why there is nothing to drop.
func (s *State) kept(name string) (*runbook.Step, *RefusedOrder) {
	lifts := s.Lifts()
	i := slices.IndexFunc(lifts, func(l Lift) bool { return name == l.Step || name == l.Control })
	if i < 0 {
		return nil, &RefusedOrder{Sentence: "no undo of " + name + " waits", Hint: "status lists those that do"}
	}
	step := s.Doc.Step(lifts[i].Step)
	if call := s.callOf(step.Name, true, false); s.openStep(step.Name) || call != nil && !call.Finished {
		return nil, &RefusedOrder{Sentence: step.Name + " is being undone at this moment", Hint: "wait for its outcome"}
	}
	return step, nil
}

func (s *State) keepOrdered(b *OrderedBody) {
	if step := s.Doc.Step(b.Step); step != nil && s.Step(step.Name).undoWaits(step) {
		s.Step(step.Name).dropUndo()
		s.voidStep(step.Name)
	}
}

// orderedLifts takes protections off on a person's word: as any release behind everything
// that blocks, gated by the exit and approved. That it waits is said when nothing else blocks.
func (n *next) orderedLifts() Move {
	if n.s.aborting != nil || n.s.stopping {
		return nil
	}
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		if !st.undoWaits(step) {
			continue
		}
		if waits := n.liftWaits(); waits != "" {
			n.blockLast(undoOf(step.Name) + " waits: " + waits + n.liftWayOut(n.s.liftOf(step, st)))
			return nil
		}
		if move := n.orderedLift(step, st); move != nil {
			return move
		}
	}
	return nil
}

// liftWaits says what stands before putting a protection back, "" when nothing does.
func (n *next) liftWaits() string {
	if blocker := n.blocker(); blocker != "" {
		return blocker
	}
	for step := range n.doc.Steps() {
		if st := n.s.Step(step.Name); st.Awaiting != nil {
			return n.waitingFor(n.s.expectWatch(step, st))
		}
	}
	if n.s.Recovered == nil || !n.s.followExit().passesNow {
		return n.waitingForExit()
	}
	return ""
}

// liftWayOut says what ends the waiting of an undo for an exit that may fail because of the very brake: one that was
// put on when the service had recovered, and has left its bounds again.
func (n *next) liftWayOut(l Lift) string {
	if _, out := n.s.OutAgain(); !out || l.PutOn.IsZero() || !l.PutOn.Add(n.s.offset).After(n.s.Recovered.RecoveredAt) {
		return ""
	}
	return "; where this brake itself keeps the exit from holding, abort the walk and lift it with rewarm controls set"
}

// Stands says what stands before the undo at a time, and the way out where it may wait for ever; "" when only its word
// is missing.
func (s *State) Stands(l Lift, now time.Time) string {
	n := &next{s: s, doc: s.Doc, now: now, looks: true}
	waits := n.liftWaits()
	if waits == "" {
		return ""
	}
	return waits + n.liftWayOut(l)
}

// orderedLift puts one step back once that is approved.
func (n *next) orderedLift(step *runbook.Step, st *StepState) Move {
	if st.Undoing == nil {
		if n.asksLift(step, st, nil, callChange(step, true)) {
			return n.autoApproval()
		}
		return StartCall{Step: step.Name, Undo: true, Call: step.Call}
	}
	move := n.undoFlip(step, st.Undoing)
	flip, ready := move.(ApplyFlip)
	if ready && flip.Planned.Plan.Direction == runbook.Releasing &&
		n.asksLift(step, st, flip.Planned, changeOf(flip.Planned.Plan)) {
		return n.autoApproval()
	}
	return move
}

func undoOf(step string) string { return "the undo of " + step }

// asksLift reports whether a lift waits for a word that nobody has given. A word for the plan
// counts while the exit has held since.
func (n *next) asksLift(step *runbook.Step, st *StepState, p *Planned, c Change) bool {
	q, asks := n.missingApproval(step, step.Timing.Release, p, []Change{c}, n.s.followExit().green)
	if !asks {
		return false
	}
	lift := n.s.liftOf(step, st)
	q.Lift = &lift
	n.ask(q)
	n.blockLast(undoOf(step.Name) + waitsFor(q))
	return true
}

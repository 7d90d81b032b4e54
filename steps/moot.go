package steps

import (
	"fmt"

	"github.com/rewarm/rewarm/runbook"
)

// NotMade is an undo that a person ordered, that waited, and that is not made any more.
type NotMade struct {
	Lift
	Why string
}

// String says what is not put back, who wanted it, and why it is not.
func (n NotMade) String() string { return n.Lift.String() + "; " + n.Why }

// UndosNotMade gives them in walk order: those that were made moot and, once the run has ended or another one has taken
// over, those that waited. That run is named where the log does not know of it, else it is "".
func (s *State) UndosNotMade(takenBy string) []NotMade {
	var list []NotMade
	over := s.nothingWaits(takenBy)
	for step := range s.Doc.Steps() {
		st := s.steps[step.Name]
		switch {
		case st == nil:
		case over != "" && st.undoWaits(step):
			list = append(list, NotMade{s.liftOf(step, st), over})
		case st.NotMade != nil:
			list = append(list, *st.NotMade)
		}
	}
	return list
}

// nothingWaits says why no undo can wait any more, "" while one can.
func (s *State) nothingWaits(takenBy string) string {
	if takenBy == "" {
		takenBy = s.TakenBy()
	}
	switch {
	case s.Ending != "":
		return "the run was " + string(s.Ending) + " before"
	case takenBy != "":
		return "run " + takenBy + " took over before"
	}
	return ""
}

// mootUndos ends the waiting for undos whose control was written since, and tells who ordered them: what they had seen
// is no longer there.
func (n *next) mootUndos() Move {
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		if why := n.s.mootFor(step, st); why != "" {
			return Write{Kind: KindOrdered, Durable: true, Body: &OrderedBody{Order: OrderUndo, Step: step.Name,
				By: st.Ordered.By, Reason: st.Ordered.Reason, Moot: why}}
		}
	}
	return nil
}

// mootFor says what was written over what an undo that waits would put back, "" when nothing was.
func (s *State) mootFor(step *runbook.Step, st *StepState) string {
	if st.Undoing == nil || !st.undoWaits(step) {
		return ""
	}
	plan := st.Undoing.Plan
	now := s.Control(plan.Control)
	if equalRaw(now.Expected, plan.After) {
		return ""
	}
	return fmt.Sprintf("%s is %s since, %s, and no longer %s", plan.Control,
		readable(s.Doc.Control(plan.Control), now.Expected),
		s.writtenBy(now.By), readable(s.Doc.Control(plan.Control), plan.After))
}

// writtenBy says who has written a control.
func (s *State) writtenBy(by string) string {
	switch by {
	case byHand:
		return by
	case s.Begun.Run:
		return "by this run"
	}
	return "by run " + by
}

// undoMoot drops an undo that waited, and keeps that and why.
func (s *State) undoMoot(b *OrderedBody) {
	step := s.Doc.Step(b.Step)
	if step == nil || !s.Step(step.Name).undoWaits(step) {
		return
	}
	st := s.Step(step.Name)
	st.NotMade = &NotMade{s.liftOf(step, st), b.Moot}
	st.dropUndo()
	s.voidStep(step.Name)
}

package steps

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/runbook"
)

// undo puts back what a step has flipped last, or what was flipped last of a control.
// What protects by it is done at once and the walk is held; what releases waits for the
// exit.
func (m *Machine) undo(o Order) error {
	step, flip := m.state.undoable(o.Step)
	switch {
	case step == nil && m.state.Doc.Step(o.Step) == nil && m.state.Doc.Control(o.Step) == nil:
		return &RefusedOrder{Sentence: fmt.Sprintf("the runbook has no step and no control %q", o.Step), Hint: "name one as in the runbook"}
	case step == nil:
		return &RefusedOrder{Sentence: "nothing that " + o.Step + " flipped is in force", Hint: "status says what is"}
	case m.state.Step(step.Name).Undoing != nil:
		return &RefusedOrder{Sentence: step.Name + " is being put back already", Hint: "status says what it waits for"}
	case m.state.openIntent(flip.Plan.Control) != nil:
		return &RefusedOrder{Sentence: "the outcome of a flip of " + flip.Plan.Control + " is not known yet", Hint: "wait until it is settled"}
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: OrderUndo, Step: step.Name, By: o.By, Reason: o.Text})
}

// undoable gives the latest flip of a step, or of a control, that is in force and that a
// step stands for.
func (s *State) undoable(name string) (*runbook.Step, *FlipState) {
	for _, f := range slices.Backward(s.flips) {
		step := s.Doc.Step(f.Target.Step)
		own := f.Target.Purpose == PurposeFlip || f.Target.Purpose == PurposeHarder || f.Target.Purpose == PurposeRestore
		if step == nil || !own || f.Nothing || f.Undone || f.Idled || name != step.Name && name != f.Plan.Control {
			continue
		}
		if !equalRaw(s.Control(f.Plan.Control).Expected, f.Plan.After) {
			return nil, nil // something else was written since
		}
		return step, f
	}
	return nil, nil
}

// undoOrdered has a flip put back on a person's word. Where that protects, the walk stays
// held: without it the step would flip again as soon as its gate is green.
func (s *State) undoOrdered(b *OrderedBody) {
	step, flip := s.undoable(b.Step)
	if step == nil {
		return
	}
	st := s.Step(step.Name)
	st.Undoing, st.Ordered, st.UndoneFor = flip, true, "the order of "+b.By
	s.voidStep(step.Name)
	if flip.Plan.Direction == runbook.Protecting {
		return
	}
	st.Rung = 0
	if st.Phase == StepDone {
		st.Phase = StepEntered
	}
	sentence := step.Name + " is put back by " + b.By
	if b.Reason != "" {
		sentence += ": " + b.Reason
	}
	s.setHold(&Held{Cause: causePerson, By: b.By, Sentence: sentence, Can: "release to try it again, skip " + step.Name + " REASON, or abort"})
}

// orderedLifts takes protections off on a person's word: as any release behind everything
// that blocks, and gated by the exit.
func (n *next) orderedLifts() Move {
	if n.s.aborting != nil || n.s.stopping {
		return nil
	}
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		if st.Undoing == nil || !st.Ordered || st.Undoing.Plan.Direction != runbook.Protecting {
			continue
		}
		if blocker := n.blocker(); blocker != "" {
			return n.block(blocker)
		}
		if n.s.Recovered == nil || !n.s.followExit().passesNow {
			return n.block("putting " + step.Name + " back waits: " + n.waitingForExit())
		}
		return n.undoFlip(step, st.Undoing)
	}
	return nil
}

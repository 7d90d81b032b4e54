package steps

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/runbook"
)

// undo puts back what a step has flipped or called last, or what was flipped last of a
// control. What protects by it is done at once and the walk is held; what releases is
// remembered: see Lift.
func (m *Machine) undo(o Order) error {
	if refused := m.state.refuseUndo(o.Step); refused != nil {
		return refused
	}
	body := &OrderedBody{Order: OrderUndo, Step: o.Step, By: o.By, Reason: o.Text}
	if step, _ := m.state.undoable(o.Step); step != nil && step.Name != o.Step {
		body.Step, body.Control = step.Name, o.Step
	}
	return m.by(o, KindOrdered, body)
}

// refuseUndo says why a step or a control cannot be put back now, nil when it can.
func (s *State) refuseUndo(name string) *RefusedOrder {
	named := s.Doc.Step(name)
	if named != nil && named.Call != nil {
		return s.refuseUndoCall(named)
	}
	step, flip := s.undoable(name)
	switch {
	case step == nil && named == nil && s.Doc.Control(name) == nil:
		return &RefusedOrder{Sentence: fmt.Sprintf("the runbook has no step and no control %q", name), Hint: "name one as in the runbook"}
	case step == nil:
		return s.refuseUndone(name, named)
	case s.Step(step.Name).Undoing != nil:
		return undoneAlready(step)
	case s.openIntent(flip.Plan.Control) != nil:
		return &RefusedOrder{Sentence: "the outcome of a flip of " + flip.Plan.Control + " is not known yet", Hint: "wait until it is settled"}
	}
	return nil
}

// refuseUndone says why there is nothing of a step or a control to put back. What another run has left is not flipped
// back to what that one found, which this run never saw: it is restored.
func (s *State) refuseUndone(name string, named *runbook.Step) *RefusedOrder {
	control := name
	if named != nil && named.Flip != nil {
		control = named.Flip.Control
	}
	if c := s.controls[control]; c != nil && c.Ours && c.By != s.Begun.Run && s.Doc.Control(control) != nil {
		return &RefusedOrder{
			Sentence: fmt.Sprintf("%s is %s %s, which is no flip of this run", control,
				readable(s.Doc.Control(control), c.Raw), s.writtenBy(c.By)),
			Hint: "it is restored with the others once the exit holds; to lift it sooner, abort and set it with rewarm controls set",
		}
	}
	return &RefusedOrder{Sentence: "nothing that " + name + " flipped is in force", Hint: "status says what is"}
}

// refuseUndoCall says why a call cannot be taken back now, nil when it can.
func (s *State) refuseUndoCall(step *runbook.Step) *RefusedOrder {
	call, undo := s.callOf(step.Name, false, false), s.callOf(step.Name, true, false)
	switch {
	case step.Call.Undo == nil:
		return &RefusedOrder{Sentence: "the call of " + step.Name + " has no undo in the runbook", Hint: "undo it by hand, and say so with a note"}
	case call != nil && !call.Finished:
		return &RefusedOrder{Sentence: "the call of " + step.Name + " has not ended yet", Hint: "wait for its outcome"}
	case s.Step(step.Name).UndoCall || undo != nil && !undo.Finished:
		return undoneAlready(step)
	case undo != nil && !undo.OK && !undo.ByHand:
		return &RefusedOrder{Sentence: "undoing the call of " + step.Name + " has failed: " + undo.Error, Hint: "undo it by hand, then type release: it says that it is undone, and ends the hold"}
	case !slices.Contains(s.toUndo(), step):
		return &RefusedOrder{Sentence: "nothing that " + step.Name + " called is in force", Hint: "status says what is"}
	}
	return nil
}

func undoneAlready(step *runbook.Step) *RefusedOrder {
	return &RefusedOrder{Sentence: step.Name + " is being undone already", Hint: "status says what it waits for"}
}

// undoable gives the latest flip of a step, or of a control, that is in force and that a
// step stands for.
func (s *State) undoable(name string) (*runbook.Step, *FlipState) {
	return s.undoableOf(func(f *FlipState) bool { return name == f.Target.Step || name == f.Plan.Control })
}

func (s *State) undoableOf(meant func(*FlipState) bool) (*runbook.Step, *FlipState) {
	for _, f := range slices.Backward(s.flips) {
		step := s.Doc.Step(f.Target.Step)
		own := f.Target.Purpose == PurposeFlip || f.Target.Purpose == PurposeHarder || f.Target.Purpose == PurposeRestore
		if step == nil || !own || f.Nothing || f.Undone || f.Idled || !meant(f) {
			continue
		}
		if !equalRaw(s.Control(f.Plan.Control).Expected, f.Plan.After) {
			return nil, nil // something else was written since
		}
		return step, f
	}
	return nil, nil
}

// undoOrdered has a flip or a call put back on a person's word. Where that protects, the
// walk stays held: without it the step would flip again as soon as its gate is green.
func (s *State) undoOrdered(b *OrderedBody) {
	if step := s.Doc.Step(b.Step); step != nil && step.Call != nil {
		s.undoCallOrdered(step, b)
		return
	}
	step, flip := s.undoableOf(func(f *FlipState) bool {
		return f.Target.Step == b.Step && (b.Control == "" || f.Plan.Control == b.Control)
	})
	if step == nil {
		return
	}
	st := s.Step(step.Name)
	st.Undoing, st.Ordered, st.UndoneFor, st.NotMade = flip, s.wordOf(b), "the order of "+b.By, nil
	s.voidStep(step.Name)
	if st.undoWaits(step) {
		return
	}
	st.Rung = 0
	if st.Phase == StepDone {
		st.Phase = StepEntered
	}
	s.holdUndone(step, b, "a release tries it again, a skip goes on without it", releaseWord, skipWord(step))
}

func (s *State) undoCallOrdered(step *runbook.Step, b *OrderedBody) {
	st := s.Step(step.Name)
	st.UndoCall, st.Ordered, st.UndoneFor = true, s.wordOf(b), "the order of "+b.By
	if !st.undoWaits(step) {
		s.holdUndone(step, b, "a release goes on without it", releaseWord)
	}
}

func (s *State) holdUndone(step *runbook.Step, b *OrderedBody, about string, words ...string) {
	sentence := step.Name + " is undone by " + b.By
	if b.Control != "" {
		sentence = b.Control + " of " + sentence
	}
	if b.Reason != "" {
		sentence += ": " + b.Reason
	}
	s.setHold(&Held{Cause: causePerson, By: b.By, Sentence: sentence, Can: canType(about, words...), Words: words})
}

func (s *State) wordOf(b *OrderedBody) *UndoWord {
	return &UndoWord{By: b.By, Reason: b.Reason, At: s.LastAt}
}

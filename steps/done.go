package steps

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// HandDone is a protecting step that a person did by hand because its flip could not be
// made. A person has to take it back too.
type HandDone struct {
	Step      string
	By        string
	How       string
	At        time.Time
	TakenBack bool
}

// String names the step, how it was done and by whom.
func (h *HandDone) String() string { return fmt.Sprintf("%s by %s: %s", h.Step, h.By, h.How) }

// DoneByHand gives the steps that were done by hand and are not taken back, in walk order.
func (s *State) DoneByHand() []*HandDone {
	var list []*HandDone
	for step := range s.Doc.Steps() {
		if st := s.steps[step.Name]; st != nil && st.ByHand != nil && !st.ByHand.TakenBack {
			list = append(list, st.ByHand)
		}
	}
	return list
}

// done takes a person's word that a protecting step was done by hand.
func (m *Machine) done(o Order) error {
	step, err := m.stepNamed(o.Step)
	if err != nil {
		return err
	}
	if refused := m.state.refuseDone(step, o.Text); refused != nil {
		return refused
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: OrderDone, Step: step.Name, By: o.By, Reason: o.Text})
}

// refuseDone says why a step cannot be said to be done by hand now, nil when it can.
func (s *State) refuseDone(step *runbook.Step, how string) *RefusedOrder {
	st, instead := s.Step(step.Name), s.callOf(step.Name, false, true)
	switch {
	case !step.Stage.Protects() || step.Flip == nil:
		return &RefusedOrder{Sentence: step.Name + " is no protecting step that flips",
			Hint: "a call that failed is done by hand with release"}
	case how == "":
		return &RefusedOrder{Sentence: "it does not say how it was done", Hint: "done " + step.Name + " HOW"}
	case st.Phase == StepDone, st.ByHand != nil:
		return &RefusedOrder{Sentence: step.Name + " is done already", Hint: "the log says how"}
	case st.Phase != StepEntered:
		return &RefusedOrder{Sentence: step.Name + " has not been reached yet", Hint: "say it when its turn comes"}
	case instead != nil && !instead.Finished:
		return &RefusedOrder{Sentence: "what is done instead of the flip of " + step.Name + " is under way",
			Hint: "wait for its outcome"}
	case !s.flipFails(step):
		return &RefusedOrder{Sentence: "the flip of " + step.Name + " can be made: redis has not failed it",
			Hint: "what was done by hand elsewhere is for a note"}
	}
	return nil
}

// flipFails reports whether a step's flip was tried, or would be, and Redis does not take it.
func (s *State) flipFails(step *runbook.Step) bool {
	if s.away.tries > 0 || s.refusal != nil || s.RedisDown != "" || s.openStep(step.Name) {
		return true
	}
	for target := range s.retries {
		if target.Step == step.Name {
			return true
		}
	}
	return false
}

// byHandDone: the step has had its action, and its expectation is judged from when the
// service has had its time to show it. Its flip is not tried any more.
func (s *State) byHandDone(b *OrderedBody) {
	step, st := s.Doc.Step(b.Step), s.Step(b.Step)
	if step == nil || step.Flip == nil {
		return
	}
	at := s.LastAt.Add(s.offset)
	st.ByHand = &HandDone{Step: step.Name, By: b.By, How: b.Reason, At: s.LastAt}
	st.Acted = &FlipState{Target: Target{Step: step.Name, Purpose: PurposeHand, Control: step.Flip.Control}, Nothing: true,
		At: s.LastAt, polls: s.polled(), ServerAt: at, Mark: at.Add(step.Settle), Settle: step.Settle}
}

// takeBack asks people to take back, one by one and gated as any lift, what they did by hand.
func (n *next) takeBack(step *runbook.Step, st *StepState) Move {
	list := n.s.DoneByHand()
	if len(list) == 0 {
		return n.writeStep(step, StepDone, "restored")
	}
	back := list[len(list)-1]
	if n.s.hold(causeByHand(back.Step)) != nil {
		return n.block(n.blocker())
	}
	if !n.green(step, st, undoneCalls.from, undoneCalls.to) {
		return n.notGreen(step, st, undoneCalls.from, undoneCalls.to)
	}
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker)
	}
	return n.heldBy(causeByHand(back.Step), "what was done by hand has to be taken back by hand: "+
		audit.Cut(back.String(), longestSentence),
		"take it back first: a release says that it is taken back, and ends this hold", releaseWord)
}

// byHandNames lists what was done by hand and is not taken back, for the end of a run.
func (s *State) byHandNames() []string {
	var list []string
	for _, h := range s.DoneByHand() {
		list = append(list, audit.Cut(h.String(), longestSentence))
	}
	return list
}

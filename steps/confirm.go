package steps

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// confirm asks a person and takes the default when nobody answers in time, or at once
// when nobody is there to ask.
func (n *next) confirm(step *runbook.Step) Move {
	c := n.s.confirms[step.Name]
	if c == nil {
		return Write{Kind: KindConfirmed, Durable: true, Body: &ConfirmedBody{Step: step.Name, Ask: step.Confirm.Ask}}
	}
	if c.Answered {
		return n.writeStep(step, StepDone, "answered: "+c.Answer)
	}
	after := step.Confirm.After
	due := later(c.AskedAt, n.s.resumedAt).Add(after)
	if n.s.Approve == Auto && step.Confirm.Else != "" || after > 0 && !due.After(n.now) {
		return Write{Kind: KindConfirmed, Durable: true,
			Body: &ConfirmedBody{Step: step.Name, Answered: true, Answer: step.Confirm.Else}}
	}
	q := Question{Step: step.Name, Asks: step.Confirm.Ask, Modes: step.Confirm.Modes, Else: step.Confirm.Else}
	if q.Modes {
		q.Diagnosed = n.s.diagnosed
	}
	if after > 0 {
		q.Until = due
		n.wake(due)
	}
	n.ask(q)
	return n.block(fmt.Sprintf("%s waits for an answer", step.Name))
}

// Asking gives the steps whose questions have no answer yet, in the order of the runbook.
func (s *State) Asking() []string {
	var steps []string
	for step := range s.Doc.Steps() {
		if c := s.confirms[step.Name]; c != nil && !c.Answered && s.Ending == "" {
			steps = append(steps, step.Name)
		}
	}
	return steps
}

// ask puts a question to the person; the first one stands.
func (n *next) ask(q Question) {
	if n.question.Step == "" {
		n.question = q
	}
}

// call starts a call and, once its outcome is known, ends the step. Nothing but
// releases waits for the outcome.
func (n *next) call(step *runbook.Step, st *StepState) Move {
	c := n.s.callOf(step.Name, false, false)
	switch {
	case c == nil:
		return StartCall{Step: step.Name, Call: step.Call}
	case !c.Finished:
		return n.block(fmt.Sprintf("%s: its call has not ended", step.Name))
	case c.OK && len(step.Expect) > 0 && step.Stage.Protects() && !st.Owed && st.Acted != nil:
		return n.protected(step, st)
	case c.OK:
		return n.called(step)
	case step.Otherwise == runbook.Continue || step.Optional:
		return n.writeStep(step, StepDone, failedWentOn+c.Error)
	case c.ByHand:
		return n.writeStep(step, StepDone, "failed, and done by hand: "+c.Error)
	case n.s.hold(causeCall(step.Name)) == nil && st.Outcome == "":
		return n.heldBy(causeCall(step.Name), fmt.Sprintf("%s: the call failed: %s", step.Name, c.Error),
			"do it by hand first: a release says that it is done, and ends this hold", releaseWord)
	}
	return n.writeStep(step, StepDone, failedOutcome+c.Error)
}

// How the outcome of a step begins that is over and not done.
const (
	failedOutcome = "failed: "
	failedWentOn  = "failed, went on: "
)

// NotDone reports whether a step is over without having been done, as its call failed.
func (b *StepBody) NotDone() bool {
	return strings.HasPrefix(b.Outcome, failedOutcome) || strings.HasPrefix(b.Outcome, failedWentOn)
}

// called ends the step of a call that ended well, also of one that was taken back since.
func (n *next) called(step *runbook.Step) Move {
	switch undo := n.s.callOf(step.Name, true, false); {
	case undo == nil:
		return n.writeStep(step, StepDone, "done")
	case !undo.Finished:
		return n.block(step.Name + ": undoing its call has not ended")
	case !undo.OK && !undo.ByHand:
		return n.writeStep(step, StepDone, "done, and undoing it failed: "+undo.Error)
	}
	return n.writeStep(step, StepDone, "undone")
}

// FailedCalls gives the calls that failed and that nobody has made by hand, in walk order: their steps are over and not
// done.
func (s *State) FailedCalls() []*CallState {
	var failed []*CallState
	for step := range s.Doc.Steps() {
		if c := s.callOf(step.Name, false, false); c != nil && c.Finished && !c.OK && !c.ByHand {
			failed = append(failed, c)
		}
	}
	return failed
}

// NotDone says of a call that failed what was not done.
func (c *CallState) NotDone() string {
	return c.Step + " NOT DONE, its call failed: " + strings.Join(c.Command, " ") + ": " + c.Error
}

// callOf gives the latest call of a step of this sort, nil when none was started.
func (s *State) callOf(step string, undo, instead bool) *CallState {
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		if c.Step == step && c.Undo == undo && c.Instead == instead {
			return c
		}
	}
	return nil
}

// callDeclared gives what the runbook says of a call that was started, nil for none.
func (s *State) callDeclared(c *CallState) *runbook.Call {
	step := s.Doc.Step(c.Step)
	switch {
	case step == nil:
		return nil
	case !c.Instead:
		return step.Call
	case step.Else != nil:
		return step.Else.Call
	}
	return nil
}

// openCalls gives the calls whose outcome is not known, as after a crash.
func (s *State) openCalls() []*CallState {
	var open []*CallState
	for _, c := range s.calls {
		if !c.Finished {
			open = append(open, c)
		}
	}
	return open
}

// toUndo gives the steps whose calls succeeded or were done by hand, can be undone and
// were not, latest first.
func (s *State) toUndo() []*runbook.Step {
	var list []*runbook.Step
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		step := s.Doc.Step(c.Step)
		if c.Undo || c.Instead || !c.OK && !c.ByHand || step == nil || step.Call == nil || step.Call.Undo == nil {
			continue
		}
		if undone := s.callOf(c.Step, true, false); undone == nil || !undone.OK && !undone.ByHand {
			list = append(list, step)
		}
	}
	return list
}

const defaultCallTimeout = 10 * time.Second

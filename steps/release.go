package steps

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// release walks the stages from rank-warmth on, one step after another. Only here is
// load added or a protection lifted.
func (n *next) release() Move {
	if n.s.aborting != nil {
		return nil
	}
	for stage := runbook.RankWarmth; stage <= runbook.Reconcile; stage++ {
		plan := &n.doc.Stages[stage-1]
		switch {
		case stage > n.last():
			return n.through()
		case n.s.Stage < stage:
			return n.enterRelease(plan)
		}
		for i := range plan.Steps {
			if step := &plan.Steps[i]; n.s.Step(step.Name).Phase != StepDone {
				return n.releaseStep(step)
			}
		}
	}
	return n.closing()
}

// last is the stage after which the walk was told to stop.
func (n *next) last() runbook.Stage {
	if through, limited := runbook.ParseStage(n.s.Begun.Through); limited {
		return through
	}
	return runbook.Reconcile
}

// through stops a walk that was told so, once nothing blocks: what adds load is idled
// and the run is there to be resumed.
func (n *next) through() Move {
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker)
	}
	return n.held(Held{Cause: causeThrough, Sentence: "told to stop after " + n.last().String(), Can: n.s.goOn()})
}

// goOn is how a person goes on with a run that has stopped. The lab ends with the process
// that walked on it.
func (s *State) goOn() string {
	if s.Begun.Lab {
		return "start again with " + s.Begun.Anew() + ": the lab ended with this one"
	}
	return "rewarm resume " + s.Begun.Run
}

// enterRelease goes on to the next stage. The first one that releases begins when the
// protections are on and owe nothing: its guards watch the warming, not the collapse.
func (n *next) enterRelease(plan *runbook.StagePlan) Move {
	if unfinished := n.unfinished(); unfinished != "" && plan.Stage == runbook.RankWarmth {
		return n.block(unfinished)
	}
	return Write{Kind: KindStage, Durable: true, Body: &StageBody{Stage: plan.Stage.String(), Skip: plan.Skip}}
}

func (n *next) releaseStep(step *runbook.Step) Move {
	st := n.s.Step(step.Name)
	if !n.applies(step) {
		return n.skip(step, "none of its modes was declared", nil)
	}
	if st.Phase != StepEntered {
		return n.writeStep(step, StepEntered, "")
	}
	switch {
	case step.Confirm != nil:
		return n.releaseConfirm(step, st)
	case step.Call != nil:
		return n.releaseCall(step, st)
	case step.Restore != nil:
		return n.restore(step, st)
	case step.Flip != nil:
		return n.releaseFlip(step, st)
	}
	return n.gateAlone(step, st)
}

// gateAlone is a step that only waits for its gate.
func (n *next) gateAlone(step *runbook.Step, st *StepState) Move {
	if !n.green(step, st, "", "") {
		return n.notGreen(step, st, "", "")
	}
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker)
	}
	return n.writeStep(step, StepDone, "passed")
}

// releaseFlip takes the next rung, when it is time.
func (n *next) releaseFlip(step *runbook.Step, st *StepState) Move {
	if st.Awaiting != nil {
		return n.block(n.waitingFor(n.s.expectWatch(step, st)))
	}
	c := n.doc.Control(step.Flip.Control)
	live, _ := n.s.live(c)
	to, more := n.s.nextRung(step, st, c, live)
	if !more {
		return n.writeStep(step, StepDone, "in force")
	}
	return n.flip(step, st, targetFor(step.Name, PurposeFlip, c, live, &to), &to)
}

// flip makes one flip of a release stage. A plan that turns out to protect is a brake
// and waits for nothing; any other waits for its gate, for everything that is owed or
// held, and for its approval.
func (n *next) flip(step *runbook.Step, st *StepState, t Target, to *runbook.Value) Move {
	if !n.due(t) {
		n.block(n.blocker())
		return n.block(step.Name + ": the flip is tried again shortly")
	}
	planned := n.s.freshPlan(t)
	if planned == nil {
		return MakePlan{Target: t, To: to}
	}
	if planned.Plan.Direction == runbook.Protecting {
		return n.protectLate(step, st, planned)
	}
	from, number := n.s.numbers(planned.Target)
	if !n.green(step, st, from, number) {
		return n.notGreen(step, st, from, number)
	}
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker)
	}
	if planned.Plan.Direction == runbook.Releasing && n.asksApproval(step, step.Timing.Release, planned) {
		return n.autoApproval()
	}
	return ApplyFlip{Planned: planned}
}

// protectLate puts on a brake that stands in a release stage: its when is judged once,
// as that of any brake. What a restore brings back by tightening has no when.
func (n *next) protectLate(step *runbook.Step, st *StepState, planned *Planned) Move {
	if step.Flip != nil && len(step.When) > 0 && !st.Judged {
		from, to := n.s.numbers(planned.Target)
		return n.judgeOnce(step, from, to)
	}
	if n.asksApproval(step, step.Timing.Protect, planned) {
		return n.autoApproval()
	}
	return ApplyFlip{Planned: planned, Blind: st.Blind}
}

// green reports whether a release's when has passed often enough in a row.
func (n *next) green(step *runbook.Step, st *StepState, from, to string) bool {
	if len(step.When) == 0 {
		return true
	}
	w := n.s.whenWatch(step, from, to)
	return n.s.track(w).passes >= w.Passes
}

// notGreen says what the gate waits for, and holds when it has waited too long.
func (n *next) notGreen(step *runbook.Step, st *StepState, from, to string) Move {
	w := n.s.whenWatch(step, from, to)
	n.block(n.waitingFor(w))
	due := later(later(st.TargetAt, n.s.clearAt), n.s.resumedAt).Add(step.Timing.Timeout)
	if len(n.s.holds) > 0 || n.blocker() != "" {
		return nil
	}
	if due.After(n.now) {
		n.wake(due)
		return nil
	}
	if step.Optional {
		return n.skip(step, fmt.Sprintf("optional, and its gate did not pass within %s", step.Timing.Timeout),
			n.s.track(w).last.judgement().Findings)
	}
	sentence := fmt.Sprintf("%s did not pass within %s: %s", w.ID, step.Timing.Timeout, n.standOf(w))
	return n.heldAt(step, causeWhen(step.Name), sentence, "the gate passes", n.s.track(w).last.judgement().Findings)
}

// blocker says what stands before every release, "" when nothing does.
func (n *next) blocker() string {
	s := n.s
	switch {
	case s.Broken:
		return "the log's disk is broken: protections may go on, releases may not"
	case len(s.holds) > 0:
		return n.heldWords(s.holds[0])
	case len(s.open) > 0:
		return fmt.Sprintf("the outcome of %s is not known yet", s.open[0].Target)
	case len(s.toIdle) > 0:
		return fmt.Sprintf("%s still has to go to its idle value", s.toIdle[0])
	case s.RedisDown != "":
		return "redis cannot be read: " + s.RedisDown
	}
	for i := range n.doc.Controls {
		switch name := n.doc.Controls[i].Name; {
		case n.s.putBack[name]:
			return name + " is still to be put back"
		case s.Control(name).Unread:
			return name + " has moved, and who has moved it is still to be read"
		}
	}
	return n.unfinished()
}

// heldWords says that something is held, which the sentence of a person's order does by itself.
func (n *next) heldWords(h *HoldState) string {
	if strings.HasPrefix(h.Sentence, heldByWords) {
		return h.Sentence
	}
	return "held: " + n.holdNow(h)
}

// unfinished names a protection that is not on yet, or what one still owes.
func (n *next) unfinished() string {
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		if step.Stage.Protects() && step.Stage <= n.last() && st.Phase != StepDone {
			return fmt.Sprintf("the protecting step %s is not done", step.Name)
		}
		if st.Owed {
			return "on, unproved: " + n.waitingFor(n.s.expectWatch(step, st))
		}
		if undo := n.s.callOf(step.Name, true, false); undo != nil && !undo.Finished {
			return step.Name + ": undoing its call has not ended"
		}
	}
	return ""
}

// releaseConfirm asks its question once its gate has passed.
func (n *next) releaseConfirm(step *runbook.Step, st *StepState) Move {
	if n.s.confirms[step.Name] == nil && !n.green(step, st, "", "") {
		return n.notGreen(step, st, "", "")
	}
	return n.confirm(step)
}

// releaseCall is a call of a release stage: gated and approved like a flip.
func (n *next) releaseCall(step *runbook.Step, st *StepState) Move {
	if st.Awaiting != nil {
		return n.block(n.waitingFor(n.s.expectWatch(step, st)))
	}
	if n.s.callOf(step.Name, false, false) == nil {
		if move, ready := n.readyToCall(step, st, "", "", callChange(step, false)); !ready {
			return move
		}
	}
	return n.call(step, st)
}

// readyToCall reports whether a call may be started now.
func (n *next) readyToCall(step *runbook.Step, st *StepState, from, to string, c Change) (Move, bool) {
	if !n.green(step, st, from, to) {
		return n.notGreen(step, st, from, to), false
	}
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker), false
	}
	if n.asksApprovalOf(step, step.Timing.Release, nil, []Change{c}, n.s.whenSince(step, from, to)) {
		return n.autoApproval(), false
	}
	return nil, true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

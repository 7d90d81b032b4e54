package steps

import (
	"slices"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// protect walks the stages up to constrain-leaders. Nothing there waits: a question,
// a call or a flip that cannot be made yet is left standing and the next brake goes.
func (n *next) protect() Move {
	if n.s.aborting != nil || n.s.stopping {
		return nil
	}
	for stage := runbook.DeclareMode; stage <= min(runbook.ConstrainLeaders, n.last()); stage++ {
		plan := &n.doc.Stages[stage-1]
		if n.s.Stage < stage {
			return Write{Kind: KindStage, Body: &StageBody{Stage: stage.String(), Skip: plan.Skip}}
		}
		for i := range plan.Steps {
			if move := n.protectStep(&plan.Steps[i]); move != nil {
				return move
			}
		}
	}
	return nil
}

func (n *next) protectStep(step *runbook.Step) Move {
	st := n.s.Step(step.Name)
	if st.Phase == StepDone {
		return n.takeAfterAll(step, st)
	}
	if len(step.Modes) > 0 && n.s.Undecided {
		if st.Phase == "" {
			return n.writeStep(step, StepDeferred, "") // its state says it all
		}
		return nil
	}
	if !st.Taken && !n.applies(step) {
		return n.skip(step, "none of its modes was declared", nil)
	}
	if st.Phase != StepEntered {
		return n.writeStep(step, StepEntered, "")
	}
	if len(step.When) > 0 && !st.Judged {
		return n.judgeOnce(step, "", "")
	}
	return n.protectAction(step, st)
}

// takeAfterAll enters a brake that was passed over for a tighter value of somebody else, once that is gone: nothing else
// stands for it. What this run has taken over is its own, and put back as drift is.
func (n *next) takeAfterAll(step *runbook.Step, st *StepState) Move {
	if !st.Tighter || n.s.Recovered != nil {
		return nil
	}
	c, rungs := n.doc.Control(step.Flip.Control), rungsOf(step.Flip)
	live, known := n.s.live(c)
	if !known || n.s.Control(c.Name).Ours || c.Direction(live, rungs[len(rungs)-1]) != runbook.Protecting {
		return nil
	}
	return n.writeStep(step, StepEntered, "")
}

func (n *next) protectAction(step *runbook.Step, st *StepState) Move {
	switch {
	case st.ByHand != nil:
		return n.protected(step, st)
	case step.Flip != nil:
		return n.protectFlip(step, st)
	case step.Call != nil:
		return n.call(step, st)
	case step.Confirm != nil:
		return n.confirm(step)
	}
	return n.writeStep(step, StepDone, "passed")
}

// applies reports whether a step is for one of the declared modes.
func (n *next) applies(step *runbook.Step) bool { return isFor(step, n.s.Modes) }

func (n *next) writeStep(step *runbook.Step, phase StepPhase, outcome string) Move {
	body := &StepBody{Step: step.Name, Stage: step.Stage.String(), State: phase, Outcome: outcome}
	if phase == StepEntered {
		body.Why = step.Why
	}
	return Write{Kind: KindStep, Body: body}
}

func (n *next) skip(step *runbook.Step, reason string, findings []probes.Finding) Move {
	return Write{Kind: KindSkipped, Body: &Skipped{Step: step.Name, Reason: reason, Findings: findings}}
}

// judgeOnce judges the when of a protecting step a single time: pass, it goes;
// unknown, it goes blind; fail, it is not needed. It looks at an observation of now.
func (n *next) judgeOnce(step *runbook.Step, from, to string) Move {
	w := n.s.whenWatch(step, from, to)
	p, before := n.s.newest(probes.Asks(n.doc, w.Gate, from, to))
	if p == nil || n.now.Sub(p.seenAt) > w.Every {
		return n.s.pollFor(n.s.watches())
	}
	j := n.s.judge(w, p, before)
	body := &Judged{Gate: w.ID, Step: step.Name, Verdict: j.Verdict.String(), Findings: j.Findings}
	switch j.Verdict {
	case probes.Pass:
		body.Decision = DecisionGo
	case probes.Unknown:
		body.Decision = DecisionBlind
	default:
		return n.skip(step, "not needed", j.Findings)
	}
	return Write{Kind: KindJudged, Body: body}
}

// newest gives the latest poll with all answers, and the one before it.
func (s *State) newest(asks []probes.Ask) (p, before *poll) {
	for _, seen := range slices.Backward(s.polls) {
		switch {
		case !seen.has(asks):
		case p != nil:
			return p, seen
		default:
			p = seen
		}
	}
	return p, nil
}

// protectFlip puts on one brake: at once, by its plan, and without waiting for its
// effect, which is owed.
func (n *next) protectFlip(step *runbook.Step, st *StepState) Move {
	c := n.doc.Control(step.Flip.Control)
	live, _ := n.s.live(c)
	to, more := n.protectRung(step, c, live)
	if !more {
		return n.protected(step, st)
	}
	t := targetFor(step.Name, PurposeFlip, c, live, &to)
	if !n.due(t) {
		return n.instead(step, st, t)
	}
	planned := n.s.freshPlan(t)
	if planned == nil {
		return MakePlan{Target: t, To: &to}
	}
	if n.wouldLoosen(planned) {
		return Write{Kind: KindSkipped, Body: &Skipped{Step: step.Name, Tighter: true,
			Reason: tighterStays(c, planned.Before, planned.After)}}
	}
	if n.asksApproval(step, step.Timing.Protect, planned) {
		return n.autoApproval()
	}
	return ApplyFlip{Planned: planned, Blind: st.Blind}
}

// protectRung gives the value to flip to: the rungs of a protecting ladder follow each
// other at once. Those that the live value has passed already are left out, but for the
// last when nothing was flipped: that it would loosen is for the log to say.
func (n *next) protectRung(step *runbook.Step, c *runbook.Control, live runbook.Value) (runbook.Value, bool) {
	return protectingRung(step, c, live, func(rung runbook.Value) bool { return n.s.made(step, rung) })
}

// FirstBrake gives the value that a protecting step flips its control to first, from what the control is now.
func FirstBrake(step *runbook.Step, c *runbook.Control, live runbook.Value) runbook.Value {
	to, _ := protectingRung(step, c, live, func(runbook.Value) bool { return false })
	return to
}

func protectingRung(
	step *runbook.Step, c *runbook.Control, live runbook.Value, isMade func(rung runbook.Value) bool,
) (runbook.Value, bool) {
	rungs, made := rungsOf(step.Flip), false
	for i, rung := range rungs {
		done := isMade(rung)
		made = made || done
		passed := live.Kind != "" && c.Direction(live, rung) == runbook.Releasing
		if last := i == len(rungs)-1; !done && (!passed || last && !made) {
			return rung, true
		}
	}
	return runbook.Value{}, false
}

// made reports whether a step's own flip to a value was settled and still stands.
func (s *State) made(step *runbook.Step, to runbook.Value) bool {
	after := actions.Encode(to)
	return slices.ContainsFunc(s.flips, func(f *FlipState) bool {
		return f.Target.Step == step.Name && f.Target.Purpose == PurposeFlip && f.Target.To == after && !f.Undone
	})
}

// protected writes down what a brake that is on still owes, then that its step is done.
func (n *next) protected(step *runbook.Step, st *StepState) Move {
	if len(step.Expect) > 0 && !st.Owed {
		return Write{Kind: KindOwed, Body: &OwedBody{Step: step.Name, Gate: "expect " + step.Name}}
	}
	outcome := "in force"
	if st.Blind {
		outcome = "in force, taken blind"
	}
	if st.ByHand != nil {
		outcome = "done by hand by " + st.ByHand.By + ": " + st.ByHand.How
	}
	return n.writeStep(step, StepDone, outcome)
}

// instead starts a protecting step's else when Redis could not be reached, once; the
// flip itself is tried again until it is made.
func (n *next) instead(step *runbook.Step, st *StepState, t Target) Move {
	away := n.s.away.tries > 0 || n.s.retries[t.key()].unreachable
	if step.Else == nil || step.Else.Call == nil || st.Instead || !away {
		return nil
	}
	return StartCall{Step: step.Name, Instead: true, Call: step.Else.Call}
}

// releases reports whether a plan lifts something. A brake that replaces what nobody can
// read does not, although its direction is not known.
func (s *State) releases(p *Planned) bool {
	if p.Plan.Direction != runbook.Releasing {
		return false
	}
	_, err := decode(s.Doc.Control(p.Target.Control), p.Plan.Before)
	return err == nil || !s.brakes(p.Target)
}

// brakes reports whether a flip is made to protect, whatever it finds.
func (s *State) brakes(t Target) bool {
	switch t.Purpose {
	case PurposeGuard, PurposeHarder, PurposeIdle, PurposePutBack:
		return true
	case PurposeFlip:
		step := s.Doc.Step(t.Step)
		return step != nil && step.Stage.Protects()
	}
	return false
}

// freshPlan gives the plan for a target as long as the live value is still the one
// that it starts from.
func (s *State) freshPlan(t Target) *Planned {
	p := s.plans[t.key()]
	if p == nil || !equalRaw(p.Plan.Before, s.Control(t.Control).Raw) {
		return nil
	}
	return p
}

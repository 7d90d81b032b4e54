package steps

import (
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

// brakes makes the flips that wait for nothing: what failed is put back, what drifted
// is put back when a person says so, a harder brake, and the brake of a guard.
func (n *next) brakes() Move {
	for step := range n.doc.Steps() {
		if move := n.undo(step); move != nil {
			return move
		}
	}
	for i := range n.doc.Controls {
		c := &n.doc.Controls[i]
		if n.s.putBack[c.Name] {
			if move := n.brake(c, Target{Step: "put-back", Purpose: PurposePutBack, Control: c.Name},
				n.s.Control(c.Name).Expected); move != nil {
				return move
			}
		}
	}
	for step := range n.doc.Steps() {
		if move := n.harder(step); move != nil {
			return move
		}
	}
	for i := range n.doc.Guards {
		if move := n.guardBrake(&n.doc.Guards[i]); move != nil {
			return move
		}
	}
	return nil
}

// undo puts back what a step flipped; a field that was absent is deleted.
func (n *next) undo(step *runbook.Step) Move {
	st := n.s.Step(step.Name)
	switch {
	case st.undoWaits(step):
		return nil
	case st.UndoCall && n.s.callOf(step.Name, true, false) == nil:
		return StartCall{Step: step.Name, Undo: true, Call: step.Call}
	case st.Undoing == nil:
		return nil
	}
	return n.undoFlip(step, st.Undoing)
}

func (n *next) undoFlip(step *runbook.Step, flip *FlipState) Move {
	c := n.doc.Control(flip.Plan.Control)
	return n.brake(c, Target{Step: step.Name, Purpose: PurposeUndo, Control: c.Name}, flip.Plan.Before)
}

// harder takes a step's if_unmet when, so long after the mark, the last verdict of its
// expectation is a measured fail.
func (n *next) harder(step *runbook.Step) Move {
	st := n.s.Step(step.Name)
	if step.IfUnmet == nil || st.Harder || !st.Unmet && !n.unmet(step, st) {
		return nil
	}
	if !st.Unmet {
		w := n.s.expectWatch(step, st)
		return n.decide(w, step, n.s.flipOf(step), DecisionHarder, n.s.track(w).last.judgement())
	}
	raw := actions.Encode(step.IfUnmet.To)
	return n.brake(n.doc.Control(step.Flip.Control), Target{Step: step.Name, Purpose: PurposeHarder}, &raw)
}

func (n *next) unmet(step *runbook.Step, st *StepState) bool {
	flip := n.s.flipOf(step)
	if !st.Owed || flip == nil || flip.Mark.IsZero() {
		return false
	}
	due := flip.Mark.Add(step.IfUnmet.After)
	return !n.serverNow().Before(due) && n.s.track(n.s.expectWatch(step, st)).fails > 0
}

// guardBrake makes the protecting flip of a breached guard, unless the control is at
// least that tight already.
func (n *next) guardBrake(g *runbook.Guard) Move {
	if g.Otherwise != runbook.FlipBrake || !n.s.guards[g.Name] {
		return nil
	}
	c := n.doc.Control(g.Flip.Control)
	if live, ok := n.s.live(c); ok && c.Direction(live, g.Flip.To) != runbook.Protecting {
		return nil
	}
	raw := actions.Encode(g.Flip.To)
	return n.brake(c, Target{Step: g.Name, Purpose: PurposeGuard}, &raw)
}

// brake plans and makes one flip without waiting for anything but its turn to be tried.
// Nothing is put back that nobody could read: the field is then deleted.
func (n *next) brake(c *runbook.Control, t Target, raw *string) Move {
	t.Control = c.Name
	var to *runbook.Value
	if value, err := decode(c, raw); raw != nil && err == nil {
		t.To, to = *raw, &value
	} else {
		t.Delete = true
	}
	if !n.due(t) {
		return nil
	}
	planned := n.s.freshPlan(t)
	switch {
	case planned == nil:
		return MakePlan{Target: t, To: to}
	case n.wouldLoosen(planned) && !n.mayLoosen(t):
		return n.leaveTighter(planned)
	case n.s.Broken && n.s.releases(planned):
		return n.block("the log's disk is broken: " + t.String() + " would loosen and waits")
	}
	return ApplyFlip{Planned: planned}
}

// wouldLoosen reports whether a plan takes a readable value to one that protects less.
func (n *next) wouldLoosen(p *Planned) bool {
	return Loosens(n.doc.Control(p.Target.Control), p.Plan)
}

// Loosens reports whether a plan takes a readable value to one that protects less. A step that is there to protect leaves
// the tighter value.
func Loosens(c *runbook.Control, plan actions.Plan) bool {
	_, err := decode(c, plan.Before)
	return plan.Direction == runbook.Releasing && err == nil
}

// mayLoosen: only undoing a protection that does harm lifts anything.
func (n *next) mayLoosen(t Target) bool {
	if t.Purpose != PurposeUndo {
		return false
	}
	undoing := n.s.Step(t.Step).Undoing
	return undoing != nil && undoing.Plan.Direction == runbook.Protecting
}

// leaveTighter settles a brake that is not needed: the value went further meanwhile.
func (n *next) leaveTighter(p *Planned) Move {
	return Write{Kind: KindSettled, Body: &Settled{Target: p.Target, Plan: p.Plan, Digest: p.Digest, Result: ResultNothing,
		Version: p.Plan.Version, ServerAt: n.serverNow(), Sentence: "the live value is tighter and stays", After: p.Before}}
}

// An abort or an interrupt tries so often to idle a control that cannot be written; after that its dead man's value does
// it. One control that Redis did not answer for speaks for all. Who interrupts waits to leave.
const (
	abortTries     = 3
	interruptTries = 2
)

// leaves reports whether what adds load is left to its dead man's value after so many tries.
func (n *next) leaves(tries int) bool {
	return n.s.aborting != nil && tries >= abortTries || n.s.aborting == nil && n.s.stopping && tries >= interruptTries
}

// idle sends what adds load to its idle value: on abort, on interrupt, and after a
// resume, before anything is released. An abort then ends the run.
func (n *next) idle() Move {
	for _, name := range n.s.toIdle {
		c := n.doc.Control(name)
		raw := actions.Encode(*c.DeadMan)
		t := Target{Step: "idle", Purpose: PurposeIdle, Control: name, To: raw}
		if n.leaves(max(n.s.retries[t.key()].tries, n.s.away.tries)) {
			return Write{Kind: KindDrifted, Durable: true, Body: &Drifted{Control: name, Expected: &raw,
				Found:     n.s.Control(name).Raw,
				Direction: runbook.Protecting, Decision: DriftDeadMan}}
		}
		if move := n.brake(c, t, &raw); move != nil {
			return move
		}
	}
	if n.s.aborting == nil || len(n.s.toIdle) > 0 {
		return nil
	}
	return Write{Kind: KindAborted, Durable: true, Body: n.s.endedBody(n.s.aborting.Reason, n.s.aborting.By)}
}

func (s *State) endedBody(reason, by string) *Ended {
	body := &Ended{Reason: reason, By: by, Recovered: s.Recovered != nil, Overrides: s.Overrides(),
		ByHand: s.byHandNames()}
	for _, step := range s.toUndo() {
		body.Calls = append(body.Calls, step.Name)
	}
	for _, l := range s.Lifts() {
		body.Undos = append(body.Undos, l.String())
	}
	return body
}

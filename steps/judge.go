package steps

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// serverNow is the time on the clock of Prometheus, on which marks are counted.
func (n *next) serverNow() time.Time { return n.now.Add(n.s.offset) }

// expectations decides what follows from the gates after flips: met, undone, gone on
// from, or held.
func (n *next) expectations() Move {
	for step := range n.doc.Steps() {
		if move := n.undoIf(step); move != nil {
			return move
		}
		st := n.s.Step(step.Name)
		if !st.Owed && st.Awaiting == nil || (st.Undoing != nil || st.UndoCall) && !st.undoWaits(step) {
			continue
		}
		if move := n.expectation(step, st); move != nil {
			return move
		}
	}
	return nil
}

// undoIf undoes a flip at once when its undo_if is measured, as long as it is in force.
func (n *next) undoIf(step *runbook.Step) Move {
	flip, st := n.s.inForce(step), n.s.Step(step.Name)
	if len(step.UndoIf) == 0 || flip == nil || st.Undoing != nil && !st.undoWaits(step) {
		return nil
	}
	w := n.s.afterWatch(step, "undo_if", step.UndoIf, flip)
	t := n.s.track(w)
	if t.passes < w.Passes {
		return nil
	}
	return n.decide(w, step, flip, DecisionUndo, t.last.judgement())
}

func (n *next) decide(w Watch, step *runbook.Step, flip *FlipState, d Decision, j probes.Judgement) Move {
	body := &Judged{Gate: w.ID, Step: step.Name, Verdict: j.Verdict.String(), Decision: d, Findings: j.Findings}
	if flip != nil {
		body.Target = flip.Target
	}
	return Write{Kind: KindJudged, Durable: d == DecisionUndo, Body: body}
}

func (n *next) expectation(step *runbook.Step, st *StepState) Move {
	flip := st.Awaiting
	if flip == nil {
		flip = n.s.flipOf(step)
	}
	w := n.s.expectWatch(step, st)
	if len(step.Expect) == 0 {
		return n.decide(w, step, flip, DecisionContinue, probes.Judgement{}) // nothing was measured, so nothing passed
	}
	t := n.s.track(w)
	if t.passes >= w.Passes {
		return n.decide(w, step, flip, DecisionMet, t.last.judgement())
	}
	due := n.expectDue(step, flip)
	if n.now.Before(due) {
		n.wake(due)
		return nil
	}
	return n.unmetInTime(step, st, flip, w, t)
}

// expectDue is when an expectation has had its time: counted from the mark or, while
// that is not known, from the flip.
func (n *next) expectDue(step *runbook.Step, flip *FlipState) time.Time {
	if flip == nil {
		return n.now
	}
	from := flip.Mark.Add(-n.s.offset)
	if flip.Mark.IsZero() {
		from = flip.At.Add(flip.Settle)
	}
	return later(from, n.s.resumedAt).Add(step.Timing.Timeout)
}

// unmetInTime: a failed release is undone unless the runbook says otherwise; what is
// unknown only holds, and a protection stays.
func (n *next) unmetInTime(step *runbook.Step, st *StepState, flip *FlipState, w Watch, t *track) Move {
	otherwise := n.otherwise(step, st, flip)
	if t.last.Verdict == probes.Fail {
		switch {
		case otherwise == runbook.Continue:
			return n.decide(w, step, flip, DecisionContinue, t.last.judgement())
		case otherwise == runbook.Undo && n.canUndo(step, flip):
			return n.decide(w, step, flip, DecisionUndo, t.last.judgement())
		}
	}
	if step.Optional && st.Owed {
		return n.decide(w, step, flip, DecisionContinue, t.last.judgement())
	}
	if n.s.hold(causeExpect(step.Name)) != nil {
		return nil
	}
	sentence := fmt.Sprintf("%s is not met after %s: %s", w.ID, step.Timing.Timeout, n.standOf(w))
	return n.heldAt(step, causeExpect(step.Name), sentence, "the expectation is met", t.last.judgement().Findings)
}

// otherwise is what a failed expectation leads to. A flip that protects is never undone
// without the runbook saying so, also where it stands in a release stage; what a restore
// tightens is not undone at all.
func (n *next) otherwise(step *runbook.Step, st *StepState, flip *FlipState) runbook.Otherwise {
	protects := flip == nil || flip.Plan.Direction == runbook.Protecting
	switch {
	case protects && step.Restore != nil && step.Otherwise != runbook.Continue:
		return runbook.Hold
	case step.Otherwise == runbook.Unset && st.Awaiting != nil && !protects:
		return runbook.Undo
	}
	return step.Otherwise
}

func (n *next) canUndo(step *runbook.Step, flip *FlipState) bool {
	if step.Call != nil {
		return step.Call.Undo != nil
	}
	return flip != nil && !flip.Nothing
}

// guards follows every guard in its stages: so many failing observations in a row are
// a breach, so many passing ones end it.
func (n *next) guards() Move {
	for i := range n.doc.Guards {
		g := &n.doc.Guards[i]
		breached := n.s.guards[g.Name]
		if !n.s.guarding(g) {
			if breached {
				return n.guarded(g, false, "its stages are over", nil)
			}
			continue
		}
		t := n.s.track(n.s.guardWatch(g))
		switch {
		case !breached && t.fails >= g.Passes:
			return n.guarded(g, true, guardAction(g), t.last.judgement().Findings)
		case breached && t.passes >= g.Passes:
			return n.guarded(g, false, "ended", t.last.judgement().Findings)
		}
	}
	return nil
}

func (n *next) guarded(g *runbook.Guard, breached bool, action string, f []probes.Finding) Move {
	return Write{Kind: KindGuarded, Durable: breached,
		Body: &Guarded{Guard: g.Name, Breached: breached, Action: action, Findings: f}}
}

func guardAction(g *runbook.Guard) string {
	switch g.Otherwise {
	case runbook.FlipBrake:
		return fmt.Sprintf("holds, and flips %s to %s", g.Flip.Control, actions.Encode(g.Flip.To))
	case runbook.StepDown:
		return "holds: stepping down is left to a person"
	}
	return "holds"
}

// drift finds controls that somebody else wrote since the run flipped them.
func (n *next) drift() Move {
	for i := range n.doc.Controls {
		c := &n.doc.Controls[i]
		state := n.s.Control(c.Name)
		if !state.Ours || n.s.openIntent(c.Name) != nil || n.s.putBack[c.Name] || state.Unread || n.agreed(c, state) {
			continue
		}
		return Write{Kind: KindDrifted, Durable: true, Body: n.s.driftOf(c, state)}
	}
	return nil
}

// agreed reports whether nothing is to be said about the value of a control: it is the
// one that is expected, or another that a person has been told of.
func (n *next) agreed(c *runbook.Control, state *ControlState) bool {
	told := n.s.drifts[c.Name]
	if told == nil || n.s.hasLost(c.Name) {
		return equalRaw(state.Raw, state.Expected)
	}
	return equalRaw(state.Raw, told.Found)
}

// recovered writes down that the exit has held for its intervals. Whether that is late is told by the whole recovery,
// whoever walked it.
func (n *next) recovered() Move {
	x := n.s.followExit()
	if n.s.Recovered != nil || x.held.IsZero() {
		return nil
	}
	took := x.held.Sub(n.s.BegunAt.Add(n.s.offset))
	within, before := n.doc.RecoverWithin, n.s.BegunAt.Sub(n.s.Since())
	body := &Recovered{RecoveredAt: x.held, TookMS: took.Milliseconds(), WithinMS: within.Milliseconds(),
		Late: within > 0 && before+took > within, Gate: x.last.judgement().Findings}
	if before > 0 {
		body.IncidentMS = (before + took).Milliseconds()
	}
	return Write{Kind: KindRecovered, Durable: true, Body: body}
}

// closing ends the run: after recovery, with the exit judged again, and naming what is
// still out of place.
func (n *next) closing() Move {
	x := n.s.followExit()
	if blocker := n.blocker(); blocker != "" {
		return n.block(blocker)
	}
	if n.s.Recovered == nil || !x.passesNow {
		n.block(n.waitingForExit())
		due := later(later(n.s.doneAt, n.s.clearAt), n.s.resumedAt).Add(n.doc.Defaults.Timeout)
		if due.After(n.now) {
			n.wake(due)
			return nil
		}
		return n.heldBy(causeExit, "every step is done and the exit does not hold: "+n.waitingForExit(),
			"it lifts when the exit holds")
	}
	if len(n.s.Lifts()) > 0 {
		return nil // a person is asked about each
	}
	return Write{Kind: KindClosed, Durable: true, Body: n.s.endedBody("recovered", "")}
}

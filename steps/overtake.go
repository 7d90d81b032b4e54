package steps

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/audit"
)

// Overtake is how another run takes the command over from this one: what a person holds, it goes on to hold; what else
// waits for a person and does not go over with the controls, it tells.
func (s *State) Overtake(reason string) *Over {
	over := &Over{Run: s.Begun.Run, Reason: reason, Began: s.Since()}
	for _, h := range s.holds {
		switch {
		case h.Cause == causePerson:
			over.Held = h.carriedFrom(s.Begun.Run)
		case aPersonLifts(h.Cause):
			over.Found = append(over.Found, "that run was held, for a person to release: "+h.Sentence)
		}
	}
	lifts := s.owedLifts()
	for _, l := range lifts {
		over.Found = append(over.Found, "an undo waited that is not made: "+l.String())
	}
	for _, step := range s.toUndo() {
		if !slices.ContainsFunc(lifts, func(l Lift) bool { return l.Step == step.Name && l.Control == "" }) {
			over.Found = append(over.Found, "the call of "+step.Name+" was made and not taken back")
		}
	}
	for _, h := range s.DoneByHand() {
		over.Found = append(over.Found, "done by hand, for a person to take back: "+h.String())
	}
	for i := range over.Found {
		over.Found[i] = audit.Cut(over.Found[i], longestSentence)
	}
	return over
}

// carriedFrom is a hold of a person as it goes on in the run that takes over; From stays the run in which it was said.
func (h *HoldState) carriedFrom(run string) *Held {
	held := &Held{Cause: causePerson, By: h.By, Sentence: h.Sentence, From: h.From}
	if held.From == "" {
		held.From = run
		held.Sentence = fmt.Sprintf("%s (said in run %s)", h.Sentence, run)
	}
	return held
}

// carryHold goes on with what a person has held in the run that was taken over from.
func (n *next) carryHold() Move {
	over := n.s.Begun.Over
	if over == nil || over.Held == nil || n.s.carried {
		return nil
	}
	held := *over.Held
	held.Can, held.Words = canType("", releaseWord), []string{releaseWord}
	return n.held(held)
}

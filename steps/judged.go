package steps

import (
	"github.com/rewarm/rewarm/probes"
)

func (s *State) voidControl(control string) {
	for _, a := range s.approvals {
		if a.covers(control) {
			a.Void = true
		}
	}
}

func (s *State) judged(b *Judged) {
	st := s.Step(b.Step)
	switch b.Decision {
	case DecisionGo:
		st.Judged = true
	case DecisionBlind:
		st.Judged, st.Blind = true, true
	case DecisionMet, DecisionContinue:
		s.expectationEnded(st)
	case DecisionHarder:
		st.Unmet = true
	case DecisionUndo:
		s.voidStep(b.Step)
		st.UndoneFor = b.Gate + ": " + sentences(probes.Judgement{Findings: b.Findings})
		st.Undoing, st.Ordered = s.lastFlipOf(b.Target), nil // what is measured waits for nothing
		if st.Owed {
			st.Owed = false
			s.cleared()
		}
		s.failed(st, b.Target)
	}
}

// failed remembers what a release failed at: the next try goes half way.
func (s *State) failed(st *StepState, t Target) {
	st.Failures++
	switch {
	case t.Purpose == PurposeCall:
		st.UndoCall = true
	case st.Undoing == nil || st.Awaiting != st.Undoing:
	case t.Purpose == PurposeFlip:
		st.Failed = st.Undoing.Plan.After
	case t.Purpose == PurposeRestore:
		s.Control(t.Control).Failed = st.Undoing.Plan.After
	}
}

func (s *State) expectationEnded(st *StepState) {
	if st.Owed {
		st.Owed = false
		s.cleared()
	}
	if st.Awaiting != nil {
		switch t := st.Awaiting.Target; t.Purpose {
		case PurposeFlip:
			st.passRung(s.Doc, st.Awaiting)
		case PurposeRestore:
			s.Control(t.Control).Failed = nil
		}
		st.Awaiting = nil
	}
	st.TargetAt = s.LastAt
}

func (s *State) lastFlipOf(t Target) *FlipState {
	for i := len(s.flips) - 1; i >= 0; i-- {
		if s.flips[i].Target == t {
			return s.flips[i]
		}
	}
	return nil
}

// voidStep voids the approvals that cover a flip of this step: it failed, stepped
// down or has to start again.
func (s *State) voidStep(name string) {
	step := s.Doc.Step(name)
	for _, a := range s.approvals {
		flips := step != nil && step.Flip != nil && a.covers(step.Flip.Control)
		if a.Step == name || flips {
			a.Void = true
		}
	}
}

// cleared notes when nothing is owed any more: from then on a release's when counts.
func (s *State) cleared() {
	if len(s.Owed()) == 0 {
		s.clearAt = s.LastAt
		s.clearPoll = s.pollBase + max(len(s.polls)-1, 0)
	}
}

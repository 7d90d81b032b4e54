package steps

import (
	"github.com/rewarm/rewarm/runbook"
)

// doneByHand: a person released the hold of a call that failed, having done it.
func (s *State) doneByHand(step string) {
	for _, c := range s.calls {
		if c.Step == step && c.Finished && !c.OK {
			c.ByHand = true
		}
	}
}

func (s *State) called(b *Called) {
	if !b.Finished {
		s.calls = append(s.calls, &CallState{Called: *b, StartedAt: s.LastAt})
		if b.Instead {
			s.Step(b.Step).Instead = true
		}
		return
	}
	for _, c := range s.calls {
		if c.Step == b.Step && c.Undo == b.Undo && c.Instead == b.Instead && !c.Finished {
			c.Finished, c.OK, c.Output, c.Error = true, b.OK, b.Output, b.Error
		}
	}
	if step := s.Doc.Step(b.Step); step != nil && !b.Instead {
		s.callEnded(step, b)
	}
}

// callEnded: from when a call ended well, its step's expectation is judged; a call that
// was taken back because that failed holds.
func (s *State) callEnded(step *runbook.Step, b *Called) {
	st := s.Step(step.Name)
	if b.Undo {
		if st.UndoCall {
			st.UndoCall, st.Undone, st.Ordered, st.Awaiting = false, st.Ordered == nil, nil, nil
		}
		return
	}
	if !b.OK || len(step.Expect) == 0 {
		return
	}
	at := s.LastAt.Add(s.offset)
	st.Acted = &FlipState{Target: Target{Step: step.Name, Purpose: PurposeCall}, Nothing: true,
		At: s.LastAt, polls: s.polled(), ServerAt: at, Mark: at.Add(step.Settle), Settle: step.Settle}
	if !step.Stage.Protects() {
		st.Awaiting = st.Acted
	}
}

func (s *State) confirmed(b *ConfirmedBody) {
	if !b.Answered {
		s.confirms[b.Step] = &ConfirmState{AskedAt: s.LastAt}
		return
	}
	c := s.confirms[b.Step]
	if c == nil {
		c = &ConfirmState{AskedAt: s.LastAt}
		s.confirms[b.Step] = c
	}
	c.Answered, c.Answer, c.By = true, b.Answer, b.By
	s.decideModes(b.Step, b.Modes)
}

// decideModes ends the question after the modes, whoever answered it and how.
func (s *State) decideModes(step string, modes []runbook.Mode) {
	if d := s.Doc.Step(step); d != nil && d.Confirm != nil && d.Confirm.Modes {
		s.Undecided, s.Modes = false, modes
	}
}

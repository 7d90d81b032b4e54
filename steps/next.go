package steps

import (
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// next works out one move. It reads the state and collects, for the case that there
// is nothing to do, when to look again, what blocks and what a person is asked.
type next struct {
	s        *State
	doc      *runbook.Document
	now      time.Time
	wakeAt   time.Time
	blocking string
	question Question
}

// Next decides the next move from the state and the time alone. The rules stand in
// the order of their right of way: what is unknown is settled first, brakes come
// before everything that only observes, and releases come last.
func Next(s *State, now time.Time) Move {
	n := &next{s: s, doc: s.Doc, now: now}
	rules := []func() Move{
		n.ended, n.settle, n.idle, n.brakes, n.protect,
		n.drift, n.expectations, n.guards, n.recovered, n.raiseHolds, n.liftHolds,
		n.poll, n.stopped, n.release,
	}
	for _, rule := range rules {
		if move := rule(); move != nil {
			return move
		}
	}
	return n.wait()
}

func (n *next) ended() Move {
	if n.s.Ending != "" {
		return Stop{Ending: n.s.Ending}
	}
	return nil
}

// settle finds out how an intent ended that has no outcome yet. Until then nothing is
// released; brakes on other controls go on.
func (n *next) settle() Move {
	for _, open := range n.s.open {
		if n.due(open.Target) {
			return SettleIntent{Intended: open}
		}
	}
	return nil
}

// due reports whether a flip may be tried now; if not, when to wake for it.
func (n *next) due(t Target) bool {
	r, waiting := n.s.retries[t]
	if waiting && r.at.After(n.now) {
		n.wake(r.at)
		return false
	}
	return true
}

func (n *next) wake(at time.Time) {
	if n.wakeAt.IsZero() || at.Before(n.wakeAt) {
		n.wakeAt = at
	}
}

// block notes what blocks the next release; the first to say so is told.
func (n *next) block(sentence string) Move {
	if n.blocking == "" {
		n.blocking = sentence
	}
	return nil
}

// lookAgain is the longest that the walk sleeps when nothing else is due.
const lookAgain = 5 * time.Second

func (n *next) wait() Move {
	n.wake(n.now.Add(lookAgain))
	return Wait{Until: n.wakeAt, Blocking: n.blocking, Question: n.question}
}

// stopped ends a walk that is to be resumed, once nothing adds load any more.
func (n *next) stopped() Move {
	switch {
	case !n.s.stopping || len(n.s.toIdle) > 0:
		return nil
	case n.s.hold(causeInterrupted) == nil:
		return Write{Kind: KindHeld, Durable: true, Body: &Held{Cause: causeInterrupted,
			Sentence: "interrupted: protections stay, what adds load is idle", Can: "rewarm resume " + n.s.Begun.Run}}
	}
	return Stop{Ending: EndedInterrupted}
}

// poll asks again when the shortest distance of the gates that watch has passed.
func (n *next) poll() Move {
	watches := n.s.watches()
	every := time.Duration(0)
	for _, w := range watches {
		if every == 0 || w.Every < every {
			every = w.Every
		}
	}
	if every == 0 {
		return nil
	}
	if due := n.s.lastPoll.Add(every); !n.s.lastPoll.IsZero() && due.After(n.now) {
		n.wake(due)
		return nil
	}
	return n.s.pollFor(watches)
}

func (s *State) pollFor(watches []Watch) Move {
	seen := map[probes.Ask]bool{}
	p := Poll{Version: s.unmarked()}
	for _, w := range watches {
		for _, ask := range probes.Asks(s.Doc, w.Gate, w.From, w.To) {
			if !seen[ask] {
				seen[ask] = true
				p.Asks = append(p.Asks, ask)
			}
		}
	}
	return p
}

// watches gives every gate that is being watched now.
func (s *State) watches() []Watch {
	var list []Watch
	for step := range s.Doc.Steps() {
		list = append(list, s.watchesOf(step)...)
	}
	for i := range s.Doc.Guards {
		if g := &s.Doc.Guards[i]; s.guarding(g) {
			list = append(list, s.guardWatch(g))
		}
	}
	if len(s.flips) > 0 && s.Ending == "" {
		list = append(list, s.exitWatch())
	}
	return list
}

// watchesOf gives the gates of one step that are being watched now.
func (s *State) watchesOf(step *runbook.Step) []Watch {
	var list []Watch
	st := s.Step(step.Name)
	if w, ok := s.pendingWhen(step, st); ok {
		list = append(list, w)
	}
	if (st.Owed || st.Awaiting != nil || s.hold(causeUndone(step.Name)) != nil) && len(step.Expect) > 0 {
		list = append(list, s.expectWatch(step, st))
	}
	if flip := s.inForce(step); flip != nil && len(step.UndoIf) > 0 {
		list = append(list, s.afterWatch(step, "undo_if", step.UndoIf, flip))
	}
	return list
}

// pendingWhen gives the when that a step waits for: of every protecting step that is
// not judged yet, so that one poll serves them all, and of the present release.
func (s *State) pendingWhen(step *runbook.Step, st *StepState) (Watch, bool) {
	if len(step.When) == 0 || st.Phase == StepDone {
		return Watch{}, false
	}
	if step.Stage.Protects() {
		return s.whenWatch(step, "", ""), !st.Judged
	}
	if st.Phase != StepEntered || st.Awaiting != nil {
		return Watch{}, false
	}
	from, to := s.rungNumbers(step, st)
	return s.whenWatch(step, from, to), true
}

// expectWatch judges the flip that is awaited or owed or, after a failure was undone,
// the undoing: the hold lifts when the expectation holds again.
func (s *State) expectWatch(step *runbook.Step, st *StepState) Watch {
	flip := st.Awaiting
	if flip == nil {
		flip = s.flipOf(step)
	}
	if s.hold(causeUndone(step.Name)) != nil {
		flip = s.latestFlip()
	}
	return s.afterWatch(step, "expect", step.Expect, flip)
}

// inForce gives a step's flip as long as the control still holds what it left.
func (s *State) inForce(step *runbook.Step) *FlipState {
	flip := s.flipOf(step)
	if flip == nil || flip.Nothing || !equalRaw(s.Control(flip.Plan.Control).Expected, flip.Plan.After) {
		return nil
	}
	return flip
}

func (s *State) guarding(g *runbook.Guard) bool {
	return s.Stage >= g.From && s.Stage <= g.To
}

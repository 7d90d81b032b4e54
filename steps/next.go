package steps

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// next works out one move. It reads the state and collects, for the case that there
// is nothing to do, when to look again, what blocks and what a person is asked.
type next struct {
	s        *State
	doc      *runbook.Document
	now      time.Time
	looks    bool // at what the state waits for: no poll is due
	wakeAt   time.Time
	blocking string
	waiting  string // what blocks when nothing else does
	question Question
}

// Next decides the next move from the state and the time alone.
func Next(s *State, now time.Time) Move {
	n := &next{s: s, doc: s.Doc, now: now}
	return n.first()
}

// lookAt works out what a state waits for. That a poll is due at this moment is left
// out; waits is false when anything else is to be done first.
func lookAt(s *State, now time.Time) (n *next, waits bool) {
	n = &next{s: s, doc: s.Doc, now: now, looks: true}
	_, waits = n.first().(Wait)
	return n, waits
}

// first asks the rules in the order of their right of way: what is unknown is settled
// first, brakes come before everything that only observes, and releases come last. When
// no rule has a move, there is nothing to do but wait.
func (n *next) first() Move {
	for _, rule := range [...]func() Move{n.ended, n.settle, n.idle, n.brakes, n.protect,
		n.expiry, n.drift, n.mootUndos, n.expectations, n.guards, n.recovered, n.carryHold, n.raiseHolds, n.liftHolds,
		n.poll, n.stopped, n.orderedLifts, n.release} {
		if move := rule(); move != nil {
			return move
		}
	}
	return n.wait()
}

// questionOf is what a person may be asked now.
func questionOf(s *State, now time.Time) Question {
	n, waits := lookAt(s, now)
	return n.asks(waits)
}

// asks is what a person may be asked, nothing while something else is to be done first.
func (n *next) asks(waits bool) Question {
	if !waits {
		return Question{}
	}
	return n.question
}

// Blocking says in one line what blocks the next release at a time: the hold that came
// first, a gate with its readings, a question. It is "" when nothing does or the run has
// ended.
func (s *State) Blocking(now time.Time) string { return s.Standing(now).Blocking }

// Standing is how a walk stands at a time.
type Standing struct {
	Question Question // as State.Question gives it
	Waits    bool
	Blocking string // as State.Blocking says it
	Early    bool   // what blocks is only that the samples after the last flip have not come yet
}

// Standing gives what a walk waits for and what blocks it, for whoever shows both.
func (s *State) Standing(now time.Time) Standing {
	n, waits := lookAt(s, now)
	if s.Ending != "" {
		return Standing{Waits: waits}
	}
	standing := Standing{Question: n.asks(waits), Waits: waits, Blocking: n.blocks()}
	if blocker := n.blocker(); blocker != "" && (len(s.holds) > 0 || n.blocking == "") {
		standing.Blocking = blocker
	}
	if q := standing.Question; q.Lift != nil && !strings.Contains(standing.Blocking, undoOf(q.Step)) {
		standing.Blocking = strings.TrimSuffix(undoOf(q.Step)+waitsFor(q)+"; "+standing.Blocking, "; ")
	}
	standing.Early = len(s.holds) == 0 && n.early(standing.Blocking)
	return standing
}

// early reports whether what blocks is a gate against which nothing stands but that it looks at what was before a flip.
func (n *next) early(blocking string) bool {
	if n.s.followExit().early() && strings.HasPrefix(blocking, exitID+": ") {
		return true
	}
	for _, w := range n.s.watches() {
		if w.ID != exitID && strings.Contains(blocking, w.ID+": ") {
			return onlyEarly(n.s.track(w).last.judgement().Findings)
		}
	}
	return false
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
// While Redis cannot be reached or does not answer, one flip finds out for all; while it refuses to write,
// each is tried once and then one finds out for all.
func (n *next) due(t Target) bool {
	retry := n.s.retries[t.key()]
	at := later(retry.at, n.s.away.at)
	if retry.tries > 0 {
		at = later(at, n.s.refusing.at)
	}
	if at.After(n.now) {
		n.wake(at)
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
	if n.blocking == "" { // an empty sentence blocks nothing
		n.blocking = sentence
	}
	return nil
}

// blockLast notes what blocks in case that nothing else does.
func (n *next) blockLast(sentence string) {
	if n.waiting == "" {
		n.waiting = sentence
	}
}

// blocks says what blocks the next release, "" when nothing does.
func (n *next) blocks() string {
	if n.blocking == "" {
		return n.waiting
	}
	return n.blocking
}

// lookAgain is the longest that the walk sleeps when nothing else is due.
const lookAgain = 5 * time.Second

func (n *next) wait() Move {
	n.wake(n.now.Add(lookAgain))
	return Wait{Until: n.wakeAt, Blocking: n.blocks(), Question: n.question}
}

// stopped ends a walk that is to be resumed, once nothing adds load any more.
func (n *next) stopped() Move {
	switch {
	case !n.s.stopping || len(n.s.toIdle) > 0:
		return nil
	case n.s.hold(causeInterrupted) == nil && n.s.hold(causeThrough) == nil && n.s.hold(CauseNoTerminal) == nil:
		return Write{Kind: KindHeld, Durable: true, Body: &Held{Cause: causeInterrupted,
			Sentence: n.s.interrupted(), Can: n.s.goOn()}}
	}
	return Stop{Ending: EndedInterrupted}
}

// interrupted says what an interrupted walk leaves. What could not be idled is not idle yet.
func (s *State) interrupted() string {
	left := s.raised()
	if len(left) == 0 {
		return "interrupted: protections stay, what adds load is idle"
	}
	return fmt.Sprintf("interrupted: protections stay; %s could not be idled and may add load until the dead man's value "+
		"counts, within %s", strings.Join(left, " and "), actions.LeaseTime)
}

// poll asks again when the shortest distance of the gates that watch has passed. A walk
// that stops asks nobody: servers that hang would keep it.
func (n *next) poll() Move {
	watches := n.s.watches()
	if n.looks || len(watches) == 0 || n.s.stopping || n.s.aborting != nil {
		return nil
	}
	every := watches[0].Every
	for _, w := range watches {
		every = min(every, w.Every)
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
		for _, ask := range s.asksOf(w) {
			if !seen[ask] {
				seen[ask] = true
				p.Asks = append(p.Asks, ask)
			}
		}
	}
	return p
}

func (s *State) asksOf(w Watch) []probes.Ask {
	if w.ID == exitID {
		return s.exitAsks(w)
	}
	return s.track(w).asks
}

// watches gives every gate that is being watched now.
func (s *State) watches() []Watch {
	list := make([]Watch, 0, 8)
	for step := range s.Doc.Steps() {
		list = s.watchesOf(list, step)
	}
	if w, ok := s.nextRelease(); ok {
		list = append(list, w)
	}
	for i := range s.Doc.Guards {
		if g := &s.Doc.Guards[i]; s.guarding(g) {
			list = append(list, s.guardWatch(g))
		}
	}
	if s.Ending == "" && (len(s.flips) > 0 || !s.Stage.Protects()) {
		list = append(list, s.exitWatch())
	}
	return list
}

// watchesOf adds the gates of one step that are being watched now, but for the when of
// a release.
func (s *State) watchesOf(list []Watch, step *runbook.Step) []Watch {
	st := s.Step(step.Name)
	if step.Stage.Protects() && len(step.When) > 0 && st.Phase != StepDone && !st.Judged {
		list = append(list, s.whenWatch(step, "", ""))
	}
	undone := len(s.holds) > 0 && s.hold(causeUndone(step.Name)) != nil
	if (st.Owed || st.Awaiting != nil || undone) && len(step.Expect) > 0 {
		list = append(list, s.expectWatch(step, st))
	}
	if undone && len(step.UndoIf) > 0 {
		list = append(list, s.afterWatch(step, "undo_if", step.UndoIf, s.latestFlip()))
	}
	if flip := s.inForce(step); flip != nil && len(step.UndoIf) > 0 {
		list = append(list, s.afterWatch(step, "undo_if", step.UndoIf, flip))
	}
	return list
}

// nextRelease gives the when of the next release. It is watched while what is owed and
// the expectation of the release before it are, because an observation serves every gate
// that it can serve.
func (s *State) nextRelease() (Watch, bool) {
	for stage := runbook.RankWarmth; stage <= runbook.Reconcile; stage++ {
		steps := s.Doc.Stages[stage-1].Steps
		for i := range steps {
			step, st := &steps[i], s.Step(steps[i].Name)
			if st.Phase == StepDone {
				continue
			}
			from, to, more := s.upcoming(step, st)
			if st.Awaiting != nil && !more {
				continue
			}
			return s.whenWatch(step, from, to), len(step.When) > 0
		}
	}
	return Watch{}, false
}

// expectWatch judges the flip that is awaited or owed or, after a failure was undone,
// the undoing: the hold lifts when the expectation holds again.
func (s *State) expectWatch(step *runbook.Step, st *StepState) Watch {
	flip := st.Awaiting
	if flip == nil {
		flip = s.flipOf(step)
	}
	if st.Awaiting == nil && s.hold(causeUndone(step.Name)) != nil {
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

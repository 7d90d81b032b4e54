package steps

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// The causes of holds that belong to no step.
const (
	causePerson      = "person"
	causeInterrupted = "interrupted"
	causeThrough     = "through"
	causeRedis       = "redis"
	causeRefusal     = "refusal"
	causeDisk        = "log"
	causeExit        = "exit"
	causeMetrics     = "metrics"
	causeCommander   = "commander"
	causeShift       = "watch"
	// CauseNoTerminal holds a walk that needs a word and has nobody to ask.
	CauseNoTerminal = "no terminal"
)

// endsWithProcess are the holds that a resume lifts.
var endsWithProcess = []string{causeInterrupted, causeThrough, causeCommander, causeDisk, CauseNoTerminal}

// stopsWalk are the holds after which the process leaves: what adds load is idled first,
// and the command is given back.
var stopsWalk = []string{causeThrough, CauseNoTerminal}

func causeWhen(step string) string    { return "when " + step }
func causeExpect(step string) string  { return "expect " + step }
func causeUndone(step string) string  { return "undone " + step }
func causeCall(step string) string    { return "call " + step }
func causeByHand(step string) string  { return "by hand " + step }
func causeFailing(step string) string { return "failing " + step }
func causeDrift(name string) string   { return "drift of " + name }
func causeUnknown(name string) string { return "unknown " + name }

// heldBy starts a hold: it says what blocks, what a person may type and what becomes of that, and what waiting costs.
func (n *next) heldBy(cause, sentence, about string, words ...string) Move {
	return n.held(Held{Cause: cause, Sentence: sentence, Can: canType(about, words...), Words: words})
}

func (n *next) held(h Held) Move {
	h.Costs = n.s.Costs(n.now)
	return Write{Kind: KindHeld, Durable: true, Body: &h}
}

// heldAt starts a hold at a gate of a step, which can be skipped; what of it cannot be measured can be given by hand.
func (n *next) heldAt(step *runbook.Step, cause, sentence, until string, findings []probes.Finding) Move {
	words := append(readingWords(findings), skipWord(step))
	return n.heldBy(cause, sentence, skipping(until)+readingHint(findings), words...)
}

// canType lists the words of a hold, of which abort is always one, and then says what there is to know about them.
func canType(about string, words ...string) string {
	list := string(OrderAbort)
	if len(words) > 0 {
		list = strings.Join(words, ", ") + ", or " + list
	}
	if about == "" {
		return list
	}
	return list + "; " + about
}

// About is what there is to know about the words of a hold, and when it lifts without any: Can without its list.
func (h *Held) About() string {
	return strings.TrimPrefix(strings.TrimPrefix(h.Can, canType("", h.Words...)), "; ")
}

// skipping says what a skip does about a step that holds, and when it lifts without.
func skipping(until string) string { return "a skip goes on without it; it lifts when " + until }

// skipWord is how a step is skipped.
func skipWord(step *runbook.Step) string { return "skip " + step.Name + " REASON" }

// releaseWord is how a person lifts a hold.
const releaseWord = string(OrderRelease)

// mostFailures is how often a release may fail before a person has to look: a walk that
// approves by itself must not swing the load up and down for ever.
const mostFailures = 3

// raiseHolds starts the holds that follow from the state: an undone release, drift that
// loosens, a breached guard, a guard that cannot be judged, Redis away.
func (n *next) raiseHolds() Move {
	for step := range n.doc.Steps() {
		undone := n.s.Step(step.Name).Undone && n.s.hold(causeUndone(step.Name)) == nil
		if undone && step.Optional {
			return n.skip(step, "optional, and undone for "+n.s.Step(step.Name).UndoneFor, nil)
		}
		if undone {
			return n.heldBy(causeUndone(step.Name), step.Name+" was undone for "+n.s.Step(step.Name).UndoneFor,
				skipping("what it was undone for has passed"), skipWord(step))
		}
	}
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		if st.Failures >= mostFailures && st.Phase != StepDone && n.s.hold(causeFailing(step.Name)) == nil {
			return n.heldBy(causeFailing(step.Name), fmt.Sprintf("%s has failed %d times, the last for %s", step.Name,
				st.Failures, st.UndoneFor),
				"a release ends this hold and tries it again, a skip goes on without it", releaseWord, skipWord(step))
		}
	}
	for _, step := range n.s.toUndo() {
		if c := n.s.callOf(step.Name, true, false); c != nil && c.Finished && n.s.hold(causeCall(step.Name)) == nil {
			return n.heldBy(causeCall(step.Name), step.Name+": undoing its call failed: "+c.Error,
				"undo it by hand first: a release says that it is undone, and ends this hold", releaseWord)
		}
	}
	for i := range n.doc.Controls {
		name := n.doc.Controls[i].Name
		if d := n.s.drifts[name]; d != nil && n.s.hold(causeDrift(name)) == nil {
			return n.heldBy(causeDrift(name), fmt.Sprintf("%s was loosened from %s to %s by somebody else", name,
				shown(d.Expected), shown(d.Found)),
				"the first writes this run's value again, the second leaves what is there", "put-back "+name, "adopt "+name)
		}
	}
	if n.s.Broken && n.s.hold(causeDisk) == nil {
		return n.heldBy(causeDisk, "the log's disk is full or broken: protections go on, with their records in the emergency log or the mirror in redis; nothing is released",
			"make room, stop this walk with Ctrl-C, then "+n.s.goOn())
	}
	if n.s.RedisDown != "" && n.s.hold(causeRedis) == nil {
		return n.heldBy(causeRedis, "redis cannot be read: "+n.s.RedisDown,
			"it lifts when redis answers, and protections are tried until then"+n.doneHint(), n.doneWords()...)
	}
	if missing := n.refusedBrakes(); len(missing) > 0 && n.s.hold(causeRefusal) == nil {
		return n.heldBy(causeRefusal, fmt.Sprintf("%s: not in force yet: %s", n.s.refusal.Sentence,
			strings.Join(missing, ", ")),
			strings.TrimPrefix(n.s.refusal.Hint+"; protections are tried until redis takes them", "; ")+n.doneHint(),
			n.doneWords()...)
	}
	if move := n.shiftEnds(); move != nil {
		return move
	}
	return n.guardHolds()
}

// refusedBrakes names the protecting steps that are not done while Redis refuses to write.
func (n *next) refusedBrakes() []string {
	if n.s.refusal == nil {
		return nil
	}
	return n.waitingBrakes()
}

// doneHint says what a person may do about brakes that Redis does not take.
func (n *next) doneHint() string {
	if len(n.waitingBrakes()) > 0 {
		return "; done says what was done by hand instead"
	}
	return ""
}

// doneWords is how the first of those brakes is said to be done by hand.
func (n *next) doneWords() []string {
	if waiting := n.waitingBrakes(); len(waiting) > 0 {
		return []string{"done " + waiting[0] + " HOW"}
	}
	return nil
}

// waitingBrakes names the protecting steps whose flip is still to be made.
func (n *next) waitingBrakes() []string {
	var names []string
	for step := range n.doc.Steps() {
		if step.Stage.Protects() && step.Flip != nil && n.s.Step(step.Name).Phase == StepEntered {
			names = append(names, step.Name)
		}
	}
	return names
}

// guardHolds holds for each guard that is breached, and for those that cannot be judged.
func (n *next) guardHolds() Move {
	for i := range n.doc.Guards {
		g := &n.doc.Guards[i]
		if n.s.guarding(g) && n.s.guards[g.Name] && n.s.hold(g.Name) == nil {
			return n.heldBy(g.Name, g.Name+" is breached: "+n.standOf(n.s.guardWatch(g)),
				"it lifts when the guard holds again"+n.startHint(g)+guardHint(g))
		}
	}
	return n.unjudged()
}

// HeldFor says what a hold is for, without what its gate read when it began, where that is still watched: what blocks
// and the gates have what it reads now.
func (s *State) HeldFor(h *HoldState) string {
	n := next{s: s, doc: s.Doc}
	if n.readsNow(h) == "" {
		return h.Sentence
	}
	sentence, _, _ := strings.Cut(h.Sentence, ": ")
	return sentence
}

// holdNow is the sentence of a hold with the state that its gate has now.
func (n *next) holdNow(h *HoldState) string {
	if now := n.readsNow(h); now != "" {
		return now
	}
	return h.Sentence
}

// readsNow is the state that the gate of a hold has now; "" for a hold that no gate that is watched has raised.
func (n *next) readsNow(h *HoldState) string {
	if h.Cause == causeExit {
		return n.waitingForExit()
	}
	for _, w := range n.s.watches() {
		if w.ID == h.Cause {
			return n.waitingFor(w)
		}
		if t := n.s.track(w); h.Cause == causeUnknown(w.ID) && t.unknown > 0 {
			return w.ID + " cannot be judged: " + sentences(t.last.judgement())
		}
	}
	if blind := n.s.blindGuards(); h.Cause == causeMetrics && len(blind) > 0 {
		return n.s.unjudgedSentence(blind)
	}
	return ""
}

// startHint says of a guard that is compared with a value of the start of the run, which never changes, what is left to
// do when that does not fit any more.
func (n *next) startHint(g *runbook.Guard) string {
	for _, o := range []runbook.Operand{g.Bound.Operand, g.Bound.High} {
		if p := n.doc.Probe(o.Probe); p != nil && p.Baseline {
			return "; where it does not come back to the start value " + p.Name +
				", abort: a new run takes over what this one left, and measures that anew"
		}
	}
	return ""
}

func guardHint(g *runbook.Guard) string {
	switch g.Otherwise {
	case runbook.StepDown:
		return "; the step down of the runbook is made by hand: what tightens is adopted"
	case runbook.FlipBrake:
		return "; its brake on " + g.Flip.Control + " is put on"
	}
	return ""
}

// liftHolds ends the holds whose cause has passed. What a person held, a person lifts.
func (n *next) liftHolds() Move {
	for _, h := range n.s.holds {
		if sentence, over := n.over(h.Cause); over {
			return Write{Kind: KindHeld, Durable: true, Body: &Held{Cause: h.Cause, Lifted: true, Sentence: sentence}}
		}
	}
	return nil
}

// over reports whether the cause of a hold has passed, and how.
func (n *next) over(cause string) (string, bool) {
	switch cause {
	case causeRedis:
		return "redis answers again", n.s.RedisDown == ""
	case causeDisk:
		return "the log is whole again", !n.s.Broken
	case causeRefusal:
		return "redis takes writes again", len(n.refusedBrakes()) == 0
	case causeExit:
		return "the exit holds", n.s.Recovered != nil && n.s.followExit().passesNow
	case causeMetrics:
		return "the guards can be judged again", len(n.s.blindGuards()) == 0
	case causeShift:
		return n.s.relieved(n.now)
	}
	for step := range n.doc.Steps() {
		st := n.s.Step(step.Name)
		switch cause {
		case causeFailing(step.Name):
			return "it was skipped", st.Phase == StepDone
		case causeWhen(step.Name):
			from, to, _ := n.s.upcoming(step, st)
			return "its gate passes", st.Phase == StepDone || n.green(step, st, from, to)
		case causeExpect(step.Name):
			if st.Skipped {
				return "it was skipped", true
			}
			return "its expectation is settled", !st.Owed && st.Awaiting == nil
		case causeUndone(step.Name):
			if st.Skipped {
				return "it was skipped", true
			}
			return "what it was undone for has passed", n.undoneOver(step, st)
		}
	}
	return n.overElsewhere(cause)
}

// undoneOver reports whether the reason has passed for which a step was undone: its
// expectation holds without it, and its undo_if does not.
func (n *next) undoneOver(step *runbook.Step, st *StepState) bool {
	if w := n.s.expectWatch(step, st); len(step.Expect) > 0 && n.s.track(w).passes < w.Passes {
		return false
	}
	w := n.s.afterWatch(step, "undo_if", step.UndoIf, n.s.latestFlip())
	return len(step.UndoIf) == 0 || n.s.track(w).fails >= w.Passes
}

func (n *next) overElsewhere(cause string) (string, bool) {
	for i := range n.doc.Controls {
		if name := n.doc.Controls[i].Name; cause == causeDrift(name) {
			return "the value is agreed on", n.s.drifts[name] == nil
		}
	}
	for i := range n.doc.Guards {
		g := &n.doc.Guards[i]
		switch cause {
		case g.Name:
			return "the guard holds again", !n.s.guards[g.Name]
		case causeUnknown(g.Name):
			return "the guard can be judged again", !n.s.guarding(g) || n.s.track(n.s.guardWatch(g)).unknown == 0
		}
	}
	return "", false
}

// waitingFor says in one line what a gate waits for, which way it moves and how far it is.
func (n *next) waitingFor(w Watch) string { return w.ID + ": " + n.standOf(w) }

func (n *next) standOf(w Watch) string {
	t := n.s.track(w)
	if !t.seen() && len(t.last.judgement().Findings) == 0 {
		return "not observed yet"
	}
	line := sentences(t.last.judgement())
	if t.last.Verdict == probes.Pass && w.Passes > 1 { // what is still missing first: the rest holds
		return fmt.Sprintf("passes %d of %d times in a row: %s", t.passes, w.Passes, line)
	}
	if trend := n.s.moves(w, t); trend != "" {
		line += ", " + trend
	}
	if w.Passes > 1 {
		line += fmt.Sprintf(" (%d of %d passes)", t.passes, w.Passes)
	}
	return line
}

// waitingForExit says what the exit waits for: its gate, or the end of its intervals.
func (n *next) waitingForExit() string {
	x := n.s.followExit()
	switch {
	case x.latest == nil:
		return "exit: not observed yet"
	case !x.passesNow && x.last.Verdict == probes.Pass:
		return "exit: not observed yet after the last flip"
	case !x.passesNow:
		line := "exit: " + sentences(x.last.judgement())
		if trend := n.s.moves(n.s.exitWatch(), x.track()); trend != "" {
			line += ", " + trend
		}
		return line
	case n.s.Recovered == nil:
		left := x.since.Add(exitLength(n.doc)).Sub(x.latest.at)
		return fmt.Sprintf("exit: holds, %s of its intervals are left", left.Round(100*time.Millisecond))
	}
	return "exit: holds"
}

// moves says how long a gate takes yet where all that fails gets closer, else which way the first of it moves.
func (s *State) moves(w Watch, t *track) string {
	if pace := s.pace(w, t); pace != "" {
		return pace
	}
	return s.trend(t)
}

// trend says which way the first bound moves that does not pass.
func (s *State) trend(t *track) string {
	findings := t.last.judgement().Findings
	i := slices.IndexFunc(findings, func(f probes.Finding) bool { return f.Verdict == probes.Fail })
	if i < 0 {
		return ""
	}
	return t.movementOf(&findings[i])
}

// movementOf says which way what was found has moved since the observation before.
func (t *track) movementOf(f *probes.Finding) string {
	ask := t.askOf(f.Probe)
	if t.earlier == nil || t.before == nil {
		return ""
	}
	return movement(valueOf(t.earlier.answer(ask), f.Series), valueOf(t.before.answer(ask), f.Series))
}

// valueOf is what one series of an answer reads, NaN when it is not there.
func valueOf(a *probes.Answer, series string) float64 {
	if a != nil {
		for _, r := range a.Readings {
			if r.Series == series {
				return r.Value
			}
		}
	}
	return math.NaN()
}

func movement(was, now float64) string {
	switch {
	case now < was:
		return "falling"
	case now > was:
		return "rising"
	case now == was:
		return "not moving"
	}
	return ""
}

// sentences joins what does not pass; when all passes, what does.
func sentences(j probes.Judgement) string {
	var open, all []string
	for _, f := range j.Findings {
		all = append(all, f.Sentence)
		if f.Verdict != probes.Pass {
			open = append(open, f.Sentence)
		}
	}
	if len(open) > 0 {
		return strings.Join(open, "; ")
	}
	return strings.Join(all, "; ")
}

func shown(raw *string) string {
	if raw == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", *raw)
}

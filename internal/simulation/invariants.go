package simulation

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// The names of the invariants.
const (
	intentFirst    = "intent-first"
	releaseProved  = "release-proved"
	releaseOwes    = "release-owes-nothing"
	releaseUnheld  = "release-unheld"
	releaseAgreed  = "release-undrifted"
	releaseWord    = "release-approved"
	brakesAtOnce   = "brake-undelayed"
	onlyOnce       = "effect-once"
	withinLimit    = "within-limit"
	forbiddenFresh = "forbidden-fresh"
	oneCommander   = "one-commander"
	closeNames     = "close-names"
	logExplains    = "log-explains"
	resumeFold     = "resume-fold"
	chainHolds     = "chain"
	rests          = "rests"
	toTheEnd       = "comes-to-its-end"
	noSurprise     = "no-surprise"
	orderOnce      = "order-once"
	undoTold       = "undo-told"
)

// Invariants says what is checked, by name.
var Invariants = map[string]string{
	intentFirst:    "no plan is sent to Redis without its intent on disk, or in the emergency log, and still open",
	releaseProved:  "a release is intended only when its gate has passed so many times in a row, on clean and fresh samples from after the last flip",
	releaseOwes:    "no release while a brake is not on or owes its expectation",
	releaseUnheld:  "no release while the run is held, aborting or stopping, a guard is breached, Redis or the log is away, or an outcome is open",
	releaseAgreed:  "no release while somebody else's loosened value is not agreed on",
	releaseWord:    "no release without an approval of this very change that nothing has made void",
	brakesAtOnce:   "whenever the walk sleeps and Redis is well, every brake is on: of the steps, of breached guards, and what has to be put back",
	onlyOnce:       "no digest is applied twice in what Redis remembers",
	withinLimit:    "a prewarm rate or a rung is flipped only when live demand and what it adds were at most the limit",
	forbiddenFresh: "a flip is within the bounds of its control, and one that makes forbidden classes stale does not stay once that was measured",
	oneCommander:   "only the process that took the command last has effect, and fences only rise",
	closeNames:     "at the end everything that was flipped and is not at its steady value, and every call that was not undone, is named",
	logExplains:    "the fold of the log has every value that Redis holds, unless somebody else wrote since the walk looked, and every flip of the run in Redis has its intent in the log",
	resumeFold:     "the fold of the records is the state of the walk",
	chainHolds:     "every record follows from the one before it",
	rests:          "so many moves without the clock moving are too many",
	toTheEnd:       "in a world that is well, with persons who do what they are asked, a walk ends",
	orderOnce:      "an order from elsewhere is one record, however often it comes, and one that is late is not followed",
	undoTold:       "an undo that a person ordered is made, dropped by a word, or told in a record not to be made any more; while the walk sleeps it is under way or listed",
	noSurprise:     "a walk ends for a reason that a person can be told: another commander, a log that takes no records, a Redis that refuses the command",
}

// checker follows the records of the run and what the world knows, and never looks at how
// the machine decides.
type checker struct {
	w          *world
	intents    map[string]int             // digests that the log has, by the record's number
	open       map[string]*steps.Intended // without an outcome
	given      []*grant
	drifting   map[string]bool
	ending     bool // aborting or stopping
	undoing    map[string]bool
	ordered    map[string]string // steps that a person wants put back; the control that was named, "" where the step was
	byHand     map[string]bool   // steps that a person did and has not taken back
	handed     map[probes.Ask][]*handed
	breached   map[string]bool
	flipped    map[string]bool
	calls      map[string]bool // that ended well, or were done by hand, and were not undone
	failed     map[string]*steps.Called
	owing      map[string]bool // brakes whose expectation was not judged yet
	agreed     map[string]bool // controls of which persons have adopted a value
	heldByHand bool
	lastFlip   time.Time       // when the walk's latest flip was applied
	flipBefore lostFlip        // what lastFlip was before it
	version    int64           // of the latest flip
	strange    map[string]bool // digests of another process, that this log cannot know
}

// lostFlip is the flip that may turn out to be lost, and when the one before it was applied.
type lostFlip struct {
	digest string
	before time.Time
}

// grant is an approval as the log has it.
type grant struct {
	steps.Approved
	at   time.Time // the true time
	void bool
}

func newChecker(w *world) checker {
	return checker{w: w, intents: map[string]int{}, open: map[string]*steps.Intended{}, drifting: map[string]bool{}, undoing: map[string]bool{},
		breached: map[string]bool{}, flipped: map[string]bool{}, calls: map[string]bool{}, failed: map[string]*steps.Called{}, owing: map[string]bool{}, agreed: map[string]bool{}, strange: map[string]bool{},
		ordered: map[string]string{}, byHand: map[string]bool{}, handed: map[probes.Ask][]*handed{}}
}

func (c *checker) broken(name, format string, args ...any) {
	panic(&violation{name, fmt.Sprintf("+%s, boundary %d: ", c.w.now.Sub(start), c.w.at) + fmt.Sprintf(format, args...)})
}

// left checks that a process ends for a reason that a person can be told.
func (c *checker) left(err error) {
	var commanded *actions.Commanded
	var failure *actions.Failure
	if err == nil || errors.As(err, &commanded) || errors.As(err, &failure) || errors.Is(err, audit.ErrBroken) {
		return
	}
	c.broken(noSurprise, "%v", err)
}

// resumed follows a resume: what a lost process had appended and the disk has lost never
// happened.
func (c *checker) resumed() {
	fresh := newChecker(c.w)
	fresh.lastFlip, fresh.flipBefore, fresh.version, fresh.strange, fresh.agreed, fresh.heldByHand = c.lastFlip, c.flipBefore, c.version, c.strange, c.agreed, c.heldByHand
	*c = fresh
	for _, l := range c.w.disk.lines {
		c.follow(l.record, l.body, l.at, l.shift)
	}
}

// record is told of every record of a process, in order.
func (c *checker) record(p *process, r audit.Record, body any) {
	if p.replaced {
		return
	}
	c.follow(r, body, c.w.now, p.shift)
	switch b := body.(type) {
	case *steps.Intended:
		if !r.Emergency { // it is written down, and then refused
			c.intended(p, b)
		}
	case *steps.Called:
		if step := c.w.doc.Step(b.Step); b.Undo && !b.Finished && step.Stage.Protects() {
			c.undoesCall(p, step)
		}
	case *steps.Ended:
		c.ended(p, b)
	}
}

func (c *checker) follow(r audit.Record, body any, at time.Time, shift time.Duration) {
	switch b := body.(type) {
	case *steps.Resumed:
		c.ending = false
		c.handed = map[probes.Ask][]*handed{}
	case *steps.Intended:
		c.intents[b.Digest] = int(r.Seq)
		c.open[b.Digest] = b
	case *steps.Settled:
		c.settled(b)
	case *steps.Approved:
		c.given = append(c.given, &grant{Approved: *b, at: at})
	case *steps.ManualBody:
		c.manual(b, at, shift)
	case *steps.Observed:
		for _, l := range b.Left {
			c.flipped[l.Control] = true
		}
	case *steps.Drifted:
		c.drifted(b)
	case *steps.Skipped:
		delete(c.owing, b.Step)
	case *steps.Judged:
		if b.Decision == steps.DecisionMet || b.Decision == steps.DecisionContinue || b.Decision == steps.DecisionUndo {
			delete(c.owing, b.Step)
		}
		if b.Decision == steps.DecisionUndo {
			c.undoing[b.Step] = b.Target.Purpose != steps.PurposeCall
			delete(c.ordered, b.Step)
			c.void(func(g *grant) bool { return g.Step == b.Step || covers(g, b.Target.Control) })
		}
	case *steps.Guarded:
		c.breached[b.Guard] = b.Breached
	case *steps.OrderedBody:
		if b.Moot != "" {
			delete(c.ordered, b.Step)
		}
		if !b.Follows() {
			break
		}
		c.ending = c.ending || b.Order == steps.OrderAbort || b.Order == steps.OrderInterrupt
		switch b.Order {
		case steps.OrderUndo:
			c.ordered[b.Step] = b.Control
		case steps.OrderKeep:
			delete(c.ordered, b.Step)
		}
		if b.Order == steps.OrderDone {
			c.byHand[b.Step] = true
			c.owes(b.Step)
		}
	case *steps.Held:
		c.ending = c.ending || b.Cause == "through" && !b.Lifted
		for _, cause := range append([]string{b.Cause}, b.Also...) {
			c.lifted(cause, b.Lifted)
		}
	case *steps.Called:
		if b.Undo && b.Finished {
			delete(c.ordered, b.Step)
		}
		switch {
		case !b.Finished || b.Instead:
		case b.OK:
			c.calls[b.Step] = !b.Undo
		default:
			c.failed[b.Step] = b
		}
	}
}

// lifted follows a person's word that something was done by hand, or taken back.
func (c *checker) lifted(cause string, lifted bool) {
	what, step, _ := strings.Cut(cause, " ")
	switch {
	case !lifted:
	case what == "call" && c.failed[step] != nil:
		c.calls[step] = !c.failed[step].Undo
	case what == "by":
		delete(c.byHand, strings.TrimPrefix(step, "hand "))
	}
}

func (c *checker) settled(b *steps.Settled) {
	if b.Result != steps.ResultUnknown {
		delete(c.open, b.Digest)
	}
	switch {
	case b.Result == steps.ResultApplied:
		c.flipped[b.Plan.Control] = true
		fallthrough
	case b.Result == steps.ResultNothing:
		// What was done by hand meanwhile owes its expectation by itself. A flip that turns out to have been made then is
		// a second brake for the same: a release still waits for what is from after it.
		if b.Target.Purpose == steps.PurposeFlip && !c.byHand[b.Target.Step] {
			c.owes(b.Target.Step)
		}
		if b.Target.Purpose == steps.PurposeUndo {
			delete(c.undoing, b.Target.Step)
			delete(c.ordered, b.Target.Step)
		}
		// These put back what had added load.
		if b.Target.Purpose == steps.PurposeIdle || b.Target.Purpose == steps.PurposeGuard {
			c.isBack(b.Plan.Control)
		}
		if b.Target.Purpose == steps.PurposePutBack {
			delete(c.drifting, b.Plan.Control)
		}
	case b.Result == steps.ResultRefused && b.Seen:
		// A failover has lost it before anybody knew of it, and nobody can tell it from one that never arrived. What was
		// measured while it stood is no worse for that: a brake is put on again before anything is released, and under a
		// release the origin had more to bear.
		if b.Cause == string(actions.NotApplied) && b.Digest == c.flipBefore.digest {
			c.lastFlip = c.flipBefore.before
		}
		c.void(func(g *grant) bool { return b.Cause == string(actions.Moved) && covers(g, b.Plan.Control) })
	}
}

// owes notes that a brake is on and owes what the runbook expects of it.
func (c *checker) owes(name string) {
	if step := c.w.doc.Step(name); step != nil && step.Stage.Protects() && len(step.Expect) > 0 {
		c.owing[name] = true
	}
}

func (c *checker) drifted(b *steps.Drifted) {
	c.void(func(g *grant) bool { return covers(g, b.Control) })
	switch b.Decision {
	case steps.DriftHolds, steps.DriftPutBack, steps.DriftLost:
		c.drifting[b.Control] = true
	case steps.DriftLapsed, steps.DriftDeadMan:
	case steps.DriftAdopted:
		direction, readable := c.direction(actions.Plan{Control: b.Control, Before: b.Expected, After: b.Found})
		if c.drifting[b.Control] = (direction == runbook.Releasing || !readable) && !c.agreed[b.Control]; !c.drifting[b.Control] {
			delete(c.drifting, b.Control)
		}
	case steps.DriftReverted: // which puts back what is being undone
		c.isBack(b.Control)
		delete(c.drifting, b.Control)
	default:
		delete(c.drifting, b.Control)
	}
}

// isBack notes that a control is where undoing any flip of it would take it.
func (c *checker) isBack(control string) {
	maps.DeleteFunc(c.undoing, func(step string, _ bool) bool {
		flip := c.w.doc.Step(step).Flip
		return flip != nil && flip.Control == control
	})
}

func (c *checker) void(which func(*grant) bool) {
	for _, g := range c.given {
		g.void = g.void || which(g)
	}
}

func covers(g *grant, control string) bool {
	return slices.ContainsFunc(g.Covers, func(ch steps.Change) bool { return ch.Control == control })
}

// direction is what a plan does to the origin, as the runbook says; a value that nobody
// can read has none.
func (c *checker) direction(p actions.Plan) (runbook.Direction, bool) {
	control := c.w.doc.Control(p.Control)
	decode := func(raw *string) (runbook.Value, error) {
		if raw == nil {
			return control.Absent, nil
		}
		return actions.Decode(control, *raw)
	}
	before, err := decode(p.Before)
	after, err2 := decode(p.After)
	if err != nil || err2 != nil {
		return runbook.Releasing, false
	}
	return control.Direction(before, after), true
}

// isOrdered reports whether a person wants a step undone, and that was neither made nor dropped.
func (c *checker) isOrdered(step string) bool {
	_, is := c.ordered[step]
	return is
}

// intended checks every flip that the walk is about to make.
func (c *checker) intended(p *process, b *steps.Intended) {
	if named := c.ordered[b.Target.Step]; b.Target.Purpose == steps.PurposeUndo && named != "" && named != b.Plan.Control &&
		!c.undoing[b.Target.Step] {
		c.broken(undoTold, "a person wants %s put back, and %s is", named, b.Target)
	}
	direction, readable := c.direction(b.Plan)
	if direction != runbook.Releasing {
		return
	}
	s, step := p.machine.State(), c.w.doc.Step(b.Target.Step)
	switch {
	case b.Target.Purpose == steps.PurposeUndo && c.undoing[b.Target.Step]:
		return // a protection that does harm is lifted at once
	case b.Target.Purpose == steps.PurposeUndo && c.isOrdered(b.Target.Step):
		if readable || step.Stage.Protects() { // else a release is put back over what nobody can read
			c.undoes(p, step, b)
		}
		return
	case b.Target.Purpose != steps.PurposeFlip && b.Target.Purpose != steps.PurposeRestore || step == nil || step.Stage.Protects():
		if readable {
			c.broken(brakesAtOnce, "%s is to protect and loosens from %s to %s", b.Target, b.Before, b.After)
		}
		return
	}
	c.lifts(s, b.Target.String())
	c.proved(p, step, b)
	if c.asks(step) && !c.approved(p, step, b) {
		c.broken(releaseWord, "%s is intended without an approval", b.Target)
	}
}

// undoes checks that a protection is lifted on a person's word: the exit holds, and its plan was
// approved since, as that of any release.
func (c *checker) undoes(p *process, step *runbook.Step, b *steps.Intended) {
	green := c.exitHolds(p, b.Target.String())
	change := steps.Change{Control: b.Plan.Control, After: b.Plan.After}
	if c.asks(step) && !c.agreedTo(step, b.Digest, change, green) {
		c.broken(releaseWord, "%s is intended without an approval", b.Target)
	}
}

// undoesCall checks the same of a call that held something off. What the restore takes back has
// a gate of its own.
func (c *checker) undoesCall(p *process, step *runbook.Step) {
	what := "undoing the call of " + step.Name
	if !c.isOrdered(step.Name) || c.undoing[step.Name] || restoring(p.machine.State()) {
		c.lifts(p.machine.State(), what)
		return
	}
	green := c.exitHolds(p, what)
	control := "undo of call " + step.Name
	named := func(g *grant) bool { return !g.void && !g.at.Before(green) && covers(g, control) }
	if c.asks(step) && !slices.ContainsFunc(c.given, named) {
		c.broken(releaseWord, "%s is started without an approval", what)
	}
}

// restoring reports whether the restore may take back what is left.
func restoring(s *steps.State) bool {
	for step := range s.Doc.Steps() {
		if step.Restore != nil && s.Step(step.Name).Phase == steps.StepEntered {
			return true
		}
	}
	return false
}

// exitHolds checks that nothing stands before a lift and that the exit holds, and gives since when.
func (c *checker) exitHolds(p *process, what string) time.Time {
	s := p.machine.State()
	c.lifts(s, what)
	looks := c.looks(p, c.w.doc.Exit.When, "", "")
	if s.Recovered == nil || len(looks) == 0 || !looks[0].pass {
		c.broken(releaseProved, "%s is begun and the exit does not hold", what)
	}
	return c.rowOf(looks)
}

// asks reports whether a release of a step takes somebody's word.
func (c *checker) asks(step *runbook.Step) bool {
	return c.w.plan.Book.Word && step.Timing.Release != runbook.ApprovalNone
}

// lifts checks that nothing stands before a release.
func (c *checker) lifts(s *steps.State, what string) {
	c.unheld(s, what)
	if waits := c.unfinished(s); waits != "" {
		c.broken(releaseOwes, "%s is intended while %s", what, waits)
	}
	if len(c.drifting) > 0 {
		c.broken(releaseAgreed, "%s is intended while %v have drifted", what, c.drifting)
	}
}

func (c *checker) unheld(s *steps.State, what string) {
	why := ""
	switch {
	case len(s.Holds()) > 0:
		why = "held for " + s.Holds()[0].Cause
	case c.heldByHand:
		why = "held by a person"
	case c.ending:
		why = "aborting or stopping"
	case s.RedisDown != "":
		why = "redis is away"
	case len(c.open) > 1:
		why = "another outcome is open"
	}
	for guard, breached := range c.breached {
		if breached {
			why = guard + " is breached"
		}
	}
	if why != "" {
		c.broken(releaseUnheld, "%s is intended while %s", what, why)
	}
}

// unfinished names a brake that is not on, or what it owes.
func (c *checker) unfinished(s *steps.State) string {
	for step := range c.w.doc.Steps() {
		st := s.Step(step.Name)
		if step.Stage.Protects() && st.Phase != steps.StepDone {
			return step.Name + " is not done"
		}
		if step.Stage.Protects() && st.Owed {
			return step.Name + " owes its expectation"
		}
	}
	for name := range c.owing {
		return name + " owes what the runbook expects of it"
	}
	return ""
}

// approved looks for the approval of a flip: of this plan since its gate is green, or of
// this change in a wider one.
func (c *checker) approved(p *process, step *runbook.Step, b *steps.Intended) bool {
	change := steps.Change{Control: b.Plan.Control, After: b.Plan.After}
	return c.agreedTo(step, b.Digest, change, c.greenSince(p, step, b))
}

// agreedTo looks for the words of as many persons as a step takes.
func (c *checker) agreedTo(step *runbook.Step, digest string, change steps.Change, green time.Time) bool {
	var voices []voice
	for _, g := range c.given {
		same := func(ch steps.Change) bool { return ch.Control == change.Control && sameRaw(ch.After, change.After) }
		covers := g.Scope == steps.ScopePlan && g.Digest == digest && !g.at.Before(green) ||
			g.Scope != steps.ScopePlan && slices.ContainsFunc(g.Covers, same)
		if covers && !g.void {
			voices = append(voices, voiceOf(g.By, g.Origin))
		}
	}
	if step.Timing.Release == runbook.ApprovalTwo {
		return two(voices)
	}
	return len(voices) > 0
}

// look is one observation of a gate, as the world gave it.
type look struct {
	pass, clean bool
	newest      []time.Time
	at          time.Time // the true time
}

// looks gives the observations of a gate in this process, the latest first, as far back
// as they are from after the last flip.
func (c *checker) looks(p *process, gate runbook.Gate, from, to string) []look {
	var list []look
	asks := probes.Asks(c.w.doc, gate, from, to)
	for _, told := range slices.Backward(c.w.prometheus.asked) {
		if told.true.Before(p.begunAt) {
			break
		}
		l := look{pass: true, clean: true, at: told.true}
		for _, ask := range asks {
			g, asked := c.told(told, ask)
			if !asked {
				l.newest = nil
				break
			}
			l.clean = l.clean && g.clean && !g.stale && (!g.since.Before(c.lastFlip) || c.neverShown(p, told, g))
			l.newest = append(l.newest, g.newest)
		}
		if len(l.newest) < len(asks) {
			continue
		}
		l.pass = l.clean && c.holds(gate, told, from, to)
		list = append(list, l)
	}
	return list
}

// neverShown reports whether an answer rests on a sample from before this process began that bears a later time: the
// clock of Prometheus was set back in the very moment, and nobody who looks has ever seen that it was ahead.
func (c *checker) neverShown(p *process, told poll, g given) bool {
	return !g.since.After(p.begunAt) && told.true.Sub(g.since) > 2*c.w.doc.Defaults.StaleAfter
}

// holds compares the numbers that the world gave; the gates of the family compare with
// numbers and with the live value of a control.
func (c *checker) holds(g runbook.Gate, told poll, from, to string) bool {
	for _, group := range g {
		for _, b := range group {
			limit := b.Operand.Number
			if b.Operand.Control != "" {
				limit = told.controls[b.Operand.Control]
			}
			ask := probes.Asks(c.w.doc, runbook.Gate{{b}}, from, to)[0]
			answer, _ := c.told(told, ask)
			v := answer.value
			if b.Op == runbook.AtMost && v > limit || b.Op == runbook.Above && v <= limit {
				return false
			}
		}
	}
	return true
}

// proved wants so many observations in a row to have passed before a release.
func (c *checker) proved(p *process, step *runbook.Step, b *steps.Intended) {
	if len(step.When) == 0 {
		return
	}
	from, to := rung(b)
	looks := c.looks(p, step.When, from, to)
	count := 0
	var before []time.Time
	for _, l := range looks {
		if !l.pass {
			break
		}
		if before == nil || !slices.EqualFunc(l.newest, before, time.Time.Equal) {
			count++
		}
		before = l.newest
	}
	if count >= step.Timing.Passes {
		return
	}
	if len(looks) > 0 && looks[0].clean && (step.Name == "warm" || step.Name == "back") {
		c.broken(withinLimit, "%s is intended, and what it adds has been within the limit in %d of %d observations", b.Target, count, step.Timing.Passes)
	}
	c.broken(releaseProved, "%s is intended, and its gate has passed %d times of %d", b.Target, count, step.Timing.Passes)
}

// greenSince is when the present row of passes began, as the world knows it.
func (c *checker) greenSince(p *process, step *runbook.Step, b *steps.Intended) time.Time {
	from, to := rung(b)
	return c.rowOf(c.looks(p, step.When, from, to))
}

// rowOf is when the present row of passes began.
func (c *checker) rowOf(looks []look) time.Time {
	var since time.Time
	for _, l := range looks {
		if !l.pass {
			return since
		}
		since = l.at
	}
	if len(c.w.prometheus.asked) == keptSamples {
		return time.Time{} // for longer than anybody remembers
	}
	return since
}

// rung gives the numbers that a flip's gate stands for.
func rung(b *steps.Intended) (from, to string) {
	if _, err := fmt.Sscanf(b.Target.To, "%f", new(float64)); err != nil || b.Target.From == "" {
		return "", ""
	}
	return b.Target.From, b.Target.To
}

// applying checks a plan that is about to be sent.
func (c *checker) applying(l actions.Lease, p actions.Plan) {
	digest := p.Digest()
	i := slices.IndexFunc(c.w.process.log.disk.lines, func(l line) bool {
		b, intended := l.body.(*steps.Intended)
		return intended && b.Digest == digest
	})
	switch {
	case i < 0:
		c.broken(intentFirst, "%s is sent and the log has no intent of it", p.Control)
	case !c.w.process.log.disk.lines[i].safe:
		c.broken(intentFirst, "%s is sent and its intent is not on disk", p.Control)
	case !c.w.process.replaced && c.open[digest] == nil:
		c.broken(intentFirst, "%s is sent and its intent is settled already", p.Control)
	}
	control := c.w.doc.Control(p.Control)
	if direction, readable := c.direction(p); c.w.process.log.broken && readable && direction == runbook.Releasing {
		c.broken(releaseUnheld, "%s is loosened while the log is broken", p.Control)
	}
	if o := c.open[digest]; p.After != nil && o != nil && o.Target.Purpose != steps.PurposeUndo && o.Target.Purpose != steps.PurposePutBack {
		v, err := actions.Decode(control, *p.After)
		if err != nil || control.Kind.Numeric() && (v.Number < control.Min || v.Number > control.Max) {
			c.broken(forbiddenFresh, "%s is sent to %q, which is out of its bounds", p.Control, *p.After)
		}
	}
}

// applied checks what Redis has just taken from a process, which may have sent it long ago.
func (c *checker) applied(from *process, p actions.Plan) {
	if c.w.redis.owner != from {
		c.broken(oneCommander, "%s was flipped by a process that does not have the command", p.Control)
	}
	if from.replaced {
		c.strange[p.Digest()] = true
		c.w.edited()
		return
	}
	changes := c.w.redis.changes
	last := changes[len(changes)-1]
	for _, before := range changes[:len(changes)-1] {
		if before.digest == last.digest {
			c.broken(onlyOnce, "%s was applied twice by one plan", p.Control)
		}
		if before.fence > last.fence || before.fence == last.fence && before.run != last.run {
			c.broken(oneCommander, "%s of run %s was flipped with fence %d after fence %d of run %s", p.Control, last.run, last.fence, before.fence, before.run)
		}
	}
	if c.w.redis.commander.run != last.run || c.w.redis.commander.fence != last.fence {
		c.broken(oneCommander, "%s was flipped by %s with fence %d, and %s commands", p.Control, last.run, last.fence, c.w.redis.commander.run)
	}
	c.flipBefore = lostFlip{last.digest, c.lastFlip}
	c.lastFlip, c.version = c.w.now, last.version
}

// moved checks what must be so between two moves.
func (c *checker) moved(p *process, move steps.Move) {
	if p.replaced {
		return
	}
	s := p.machine.State()
	if p.moves%64 == 0 && (c.w.at%16 == 0 || c.w.warp.deep) {
		c.sameFold(p)
	}
	switch move.(type) {
	case steps.Poll:
		if s.RedisDown == "" {
			p.readAt = p.lastRead
		}
		return
	case steps.Wait:
	default:
		return
	}
	c.explained(p, s)
	c.undosListed(s)
	if c.well(p) && !c.ending {
		c.braked(s)
	}
}

// undosListed wants every undo that would lift a brake to be listed as long as nothing has ended it.
func (c *checker) undosListed(s *steps.State) {
	for step := range c.ordered {
		listed := slices.ContainsFunc(s.Lifts(), func(l steps.Lift) bool { return l.Step == step })
		if c.w.doc.Step(step).Stage.Protects() && !listed {
			c.broken(undoTold, "the walk sleeps, and nothing tells what became of the undo of %s", step)
		}
	}
}

// backsOff is how long the walk may wait before it tries a flip again.
const backsOff = 2500 * time.Millisecond

// well reports whether Redis has answered everything for longer than the walk waits
// between two tries, and this process has had its first look at it.
func (c *checker) well(p *process) bool {
	r := &c.w.redis
	return r.trouble(true) == nil && r.once == "" && len(r.late) == 0 && c.w.now.Sub(r.healthy) >= backsOff && c.w.now.Sub(p.begunAt) >= backsOff
}

// braked wants every brake to be on.
func (c *checker) braked(s *steps.State) {
	for step := range c.w.doc.Steps() {
		if !step.Stage.Protects() || step.Flip == nil || len(step.Modes) > 0 && s.Undecided {
			continue
		}
		if st := s.Step(step.Name); st.Phase != steps.StepDone {
			c.broken(brakesAtOnce, "the walk sleeps and %s is not on: %+v", step.Name, *st)
		}
	}
	for i := range c.w.doc.Guards {
		g := &c.w.doc.Guards[i]
		if g.Otherwise != runbook.FlipBrake || !c.breached[g.Name] {
			continue
		}
		control := c.w.doc.Control(g.Flip.Control)
		if live := c.w.redis.live(control, c.w.redis.now()); live.Invalid == "" && control.Direction(live.Value, g.Flip.To) == runbook.Protecting {
			c.broken(brakesAtOnce, "the walk sleeps, %s is breached and %s is %s", g.Name, control.Name, control.Format(live.Value))
		}
	}
	for step, flips := range c.undoing {
		if flips && !c.w.process.log.broken { // lifting a brake waits for a log
			c.broken(forbiddenFresh, "the walk sleeps and what %s has flipped was not put back", step)
		}
	}
	c.fresh(s)
}

// fresh wants a window that makes forbidden classes stale to be closed once that was
// measured often enough, and there is a log to lift a brake with.
func (c *checker) fresh(s *steps.State) {
	step := c.w.doc.Step("keep")
	if step == nil || c.w.process.log.broken || !sameRaw(c.w.redis.raw("stale"), pointer("120")) || !slices.ContainsFunc(s.Flips(), func(f *steps.FlipState) bool {
		return f.Target.Step == "keep" && f.Target.Purpose == steps.PurposeFlip && !f.Nothing && !f.Undone
	}) {
		return
	}
	count, since := 0, c.couldSee().Add(marked)
	var before time.Time
	for _, told := range slices.Backward(c.w.prometheus.asked) {
		g, asked := told.answers[probes.Ask{Probe: "forbidden"}]
		if !asked || !g.clean || g.stale || g.value <= 0 || told.true.Before(since) {
			break
		}
		if !g.newest.Equal(before) {
			count++
		}
		before = g.newest
	}
	if count > step.Timing.Passes+2 {
		c.broken(forbiddenFresh, "forbidden classes were stale in %d observations and the window is still open", count)
	}
}

// marked is how long it takes, from the first look after a flip, until nothing behind an
// answer is from before the flip was seen to be obeyed.
const marked = 8 * time.Second

// couldSee is since when the walk could see what its latest flip has done: its process lived
// and was awake, and neither the service nor Prometheus was disturbed.
func (c *checker) couldSee() time.Time {
	from := later(later(c.lastFlip, c.w.process.begunAt), c.w.troubled)
	for _, told := range c.w.prometheus.asked {
		if told.true.After(from) {
			return told.true
		}
	}
	return c.w.now
}

func pointer(text string) *string { return &text }

// explained compares what the log says with what Redis holds.
func (c *checker) explained(p *process, s *steps.State) {
	if c.w.editedAt >= p.readAt || len(c.open) > 0 || len(c.w.redis.late) > 0 || p.readAt == 0 {
		return
	}
	for i := range c.w.doc.Controls {
		name := c.w.doc.Controls[i].Name
		if said := s.Control(name); said.Known && !sameRaw(said.Raw, c.w.redis.raw(name)) {
			c.broken(logExplains, "the log says that %s holds %s, and redis holds %s", name, shown(said.Raw), shown(c.w.redis.raw(name)))
		}
	}
	for name, m := range c.w.redis.meta {
		if m.Run == c.w.run && c.intents[m.Digest] == 0 && !c.strange[m.Digest] {
			c.broken(logExplains, "redis has a flip of %s by this run that the log does not know", name)
		}
	}
}

func shown(raw *string) string {
	if raw == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", *raw)
}

// ended checks the last record.
func (c *checker) ended(p *process, b *steps.Ended) {
	for name := range c.flipped {
		control := c.w.doc.Control(name)
		raw, seen := p.saw[name]
		if !seen {
			raw = p.machine.State().Control(name).Raw
		}
		v, err := control.Absent, error(nil)
		if raw != nil {
			v, err = actions.Decode(control, *raw)
		}
		if err == nil && v.Equal(control.Steady) {
			continue
		}
		if !slices.ContainsFunc(b.Overrides, func(o steps.Override) bool { return o.Control == name }) {
			c.broken(closeNames, "%s is left at %s and is not named", name, shown(raw))
		}
	}
	for step, done := range c.byHand {
		if named := func(h string) bool { return strings.HasPrefix(h, step+" by ") }; done && !slices.ContainsFunc(b.ByHand, named) {
			c.broken(closeNames, "%s was done by hand and is not named", step)
		}
	}
	for step, on := range c.calls {
		if d := c.w.doc.Step(step); on && d.Call != nil && d.Call.Undo != nil && !slices.Contains(b.Calls, step) {
			c.broken(closeNames, "the call of %s was not undone and is not named", step)
		}
	}
	c.undosNamed(b)
}

// undosNamed wants the last record to name every undo that would have lifted a brake and that nothing has ended.
func (c *checker) undosNamed(b *steps.Ended) {
	for step := range c.ordered {
		named := slices.ContainsFunc(b.Undos, func(u string) bool { return strings.HasPrefix(u, step+": ") })
		if c.w.doc.Step(step).Stage.Protects() && !named {
			c.broken(undoTold, "the run ends, and nothing tells what became of the undo of %s", step)
		}
	}
}

// end checks the whole log. Folding costs as much as walking, so every sixteenth incident is
// folded, and some in the middle.
func (c *checker) end() {
	if c.w.process != nil && (c.w.at%16 == 0 || c.w.warp.deep) {
		c.sameFold(c.w.process)
	}
	prev := ""
	for i, l := range c.w.disk.lines {
		if prev != "" && l.record.Prev != prev || l.record.Seq != uint64(i+1) {
			c.broken(chainHolds, "record %d does not follow from the one before it", i+1)
		}
		prev = l.hash
	}
}

// sameFold folds the records anew and wants the state of the walk, as far as anybody can
// see it.
func (c *checker) sameFold(p *process) {
	folded, err := steps.Fold(p.log.disk.marked())
	if err != nil {
		c.broken(resumeFold, "the log cannot be folded: %v", err)
	}
	now := p.clock().Now()
	a, b := picture(folded, now), picture(p.machine.State(), now)
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			c.broken(resumeFold, "the fold says %+v, the walk %+v", a[i], b[i])
		}
	}
}

// picture is what can be seen of a state, and what it leads to.
func picture(s *steps.State, now time.Time) []any {
	list := []any{s.Stage, s.Seq, s.Modes, s.Undecided, s.Ending, s.RedisDown, s.Owed(), s.Overrides(), s.Recovered, s.Blocking(now)}
	for step := range s.Doc.Steps() {
		st := *s.Step(step.Name)
		list = append(list, st.Phase, st.Outcome, st.Judged, st.Blind, st.Rung, st.Owed, st.Failures, st.Harder, st.Failed)
	}
	for i := range s.Doc.Controls {
		st := *s.Control(s.Doc.Controls[i].Name)
		list = append(list, st.Raw, st.Expected, st.Ours, st.Original, st.Failed)
	}
	for _, f := range s.Flips() {
		list = append(list, f.Target, f.Digest, f.Version, f.Undone, f.Mark.UTC())
	}
	for _, h := range s.Holds() {
		list = append(list, h.Cause)
	}
	return append(list, fmt.Sprintf("%T", steps.Next(s, now)))
}

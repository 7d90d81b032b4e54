package runbook

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Floor is the least time that a runbook takes when every gate is green as soon
// as it can be: a target below it cannot be met by anybody.
type Floor struct {
	Total  time.Duration // what Lines add up to
	Lines  []FloorLine   // steps up to the end of expand, then the exit, in the order of a walk
	Beside []FloorLine   // persons, calls, warming, restore and reconcile, which are not added
}

// FloorLine is what one step adds to the floor, and why.
type FloorLine struct {
	Pos   Position
	Stage Stage  // 0 for the exit and for what belongs to no stage
	Name  string // a step, "exit", "persons", "calls" or "warming"
	Cost  time.Duration
	Known bool   // false when the file does not tell how long it takes
	Words string // the arithmetic
}

// Stage sums up what the steps of one stage add.
func (f Floor) Stage(s Stage) time.Duration {
	var sum time.Duration
	for _, line := range f.Lines {
		if line.Stage == s {
			sum += line.Cost
		}
	}
	return sum
}

// TimeFloor adds up the gates to the end of expand and the intervals of the exit,
// with `every` as the scrape interval.
//
// Protections follow each other without waiting, and what they owe is watched
// together. A gate after a flip costs the longest window of its queries, one
// scrape until that window lies behind the flip, and `every` for each further
// pass; an instant query costs two scrapes instead, as its samples must have been
// new at the poll before. A release waits for what is owed; its own gate shares
// the observations of the expectation before it.
func TimeFloor(d *Document) Floor {
	w := floorWalk{d: d, flipped: map[string]Value{}}
	for s := DeclareMode; s <= Expand; s++ {
		for i := range d.Stages[s-1].Steps {
			w.step(&d.Stages[s-1].Steps[i])
		}
	}
	w.exit()
	w.floor.Total = w.now
	w.beside()
	return w.floor
}

// floorWalk is a walk in which everything is green as soon as it can be. Times
// count from its beginning.
type floorWalk struct {
	d       *Document
	floor   Floor
	now     time.Duration
	marked  bool          // something has been flipped
	mark    time.Duration // when the latest flip was made
	owed    time.Duration // when the last owed expectation passes
	ower    string        // the step that owes it
	flipped map[string]Value
}

func (w *floorWalk) step(s *Step) {
	before := w.now
	var words []string
	switch {
	case w.protects(s):
		words = w.protection(s)
	default:
		words = w.release(s)
	}
	if s.Flip != nil {
		w.flipped[s.Flip.Control] = s.Flip.To
	}
	w.add(FloorLine{s.Pos, s.Stage, s.Name, w.now - before, true, strings.Join(words, "; ")})
}

func (w *floorWalk) add(line FloorLine) { w.floor.Lines = append(w.floor.Lines, line) }

// protects reports whether the step can be taken at once.
func (w *floorWalk) protects(s *Step) bool {
	if s.Stage.Protects() {
		return s.Flip != nil || s.Call != nil || s.Confirm != nil
	}
	return s.Confirm != nil || s.Flip != nil && w.d.wayOf(s.Flip, w.flipped) == Protecting
}

// wayOf is the direction of a flip from what the steps before it left, or from
// the steady value.
func (d *Document) wayOf(f *Flip, flipped map[string]Value) Direction {
	c := d.Control(f.Control)
	before, moved := flipped[f.Control]
	if !moved {
		before = c.Steady
	}
	return c.Direction(before, f.To)
}

// protection is taken at once and owes its expectation.
func (w *floorWalk) protection(s *Step) []string {
	if s.Flip != nil {
		w.marked, w.mark = true, w.now
	}
	if len(s.Expect) == 0 {
		return []string{"at once"}
	}
	cost := w.d.gateCost(s.Expect, s.Timing, true)
	if until := w.now + cost.total; until > w.owed {
		w.owed, w.ower = until, s.Name
	}
	return []string{"at once, and owes " + cost.words}
}

// release waits for its gate, then for its expectation, rung by rung.
func (w *floorWalk) release(s *Step) []string {
	var words []string
	acts := s.Flip != nil || s.Call != nil
	if acts && w.owed > w.now {
		words = append(words, fmt.Sprintf("%s until %s no longer owes", w.owed-w.now, w.ower))
		w.now = w.owed
	}
	words = append(words, w.await(s)...)
	if !acts {
		return orAtOnce(words)
	}
	rungs := 1
	if s.Flip != nil {
		rungs = max(len(s.Flip.Through), 1)
	}
	return append(words, w.rungs(s, rungs)...)
}

// await is the gate before an action, as far as observations that were made
// anyway do not serve it.
func (w *floorWalk) await(s *Step) []string {
	if len(s.When) == 0 {
		return nil
	}
	cost := w.d.gateCost(s.When, s.Timing, w.marked)
	ready := w.mark + cost.total
	if ready <= w.now {
		return []string{"when is served by the observations before it"}
	}
	wait := ready - w.now
	w.now = ready
	return []string{fmt.Sprintf("%s until when holds after the flip before: %s", wait, cost.words)}
}

// rungs takes a flip or a call through its rungs.
func (w *floorWalk) rungs(s *Step, n int) []string {
	expect := w.d.gateCost(s.Expect, s.Timing, true)
	next := w.d.gateCost(s.When, s.Timing, true)
	start := w.now
	for range n - 1 {
		w.now += max(expect.total, next.total)
	}
	if s.Flip != nil {
		w.marked, w.mark = true, w.now
	}
	w.now += expect.total
	switch {
	case n == 1 && expect.total == 0:
		return []string{"nothing expected"}
	case n == 1:
		return []string{"expect: " + expect.words}
	case next.total > expect.total:
		return []string{fmt.Sprintf("%d rungs in %s: when %s, and for the last expect %s", n, w.now-start, next.words,
			expect.words)}
	}
	return []string{fmt.Sprintf("%d rungs in %s: expect %s each", n, w.now-start, expect.words)}
}

func orAtOnce(words []string) []string {
	if len(words) == 0 {
		return []string{"at once"}
	}
	return words
}

// exit waits for its windows to lie behind the last flip, then for its intervals.
func (w *floorWalk) exit() {
	e := w.d.Exit
	if len(e.When) == 0 {
		return
	}
	before := w.now
	var words []string
	if w.owed > w.now {
		words = append(words, fmt.Sprintf("%s until %s no longer owes", w.owed-w.now, w.ower))
		w.now = w.owed
	}
	once := w.d.Defaults
	once.Passes = 1
	if cost := w.d.gateCost(e.When, once, w.marked); w.mark+cost.total > w.now {
		words = append(words, fmt.Sprintf("%s until its windows lie after the last flip: %s",
			w.mark+cost.total-w.now, cost.words))
		w.now = w.mark + cost.total
	}
	w.now += time.Duration(e.Intervals) * e.Interval
	words = append(words, fmt.Sprintf("%d intervals of %s", e.Intervals, e.Interval))
	w.add(FloorLine{e.Pos, 0, "exit", w.now - before, true, strings.Join(words, "; ")})
}

// beside lists what also takes time and is not added.
func (w *floorWalk) beside() {
	w.persons()
	w.calls()
	w.floor.Beside = append(w.floor.Beside, w.d.warming())
	for _, s := range []Stage{Restore, Reconcile} {
		for i := range w.d.Stages[s-1].Steps {
			if step := &w.d.Stages[s-1].Steps[i]; step.Restore != nil {
				w.restore(step)
			} else if len(step.When)+len(step.Expect) > 0 {
				w.lateGate(step)
			}
		}
	}
}

// persons counts the words that are waited for.
func (w *floorWalk) persons() {
	var approved, asked []string
	flipped := map[string]Value{}
	for s := range w.d.Steps() {
		switch {
		case s.Confirm != nil && s.Confirm.After > 0:
			asked = append(asked, fmt.Sprintf("%s (%s, then its else)", s.Name, s.Confirm.After))
		case s.Confirm != nil:
			asked = append(asked, s.Name)
		case s.Restore != nil && s.Timing.Release != ApprovalNone:
			approved = append(approved, s.Name)
		case s.Flip != nil && w.d.approvalOf(s, flipped) != ApprovalNone:
			approved = append(approved, s.Name)
		}
		if s.Flip != nil {
			flipped[s.Flip.Control] = s.Flip.To
		}
	}
	if len(approved) > 0 {
		w.floor.Beside = append(w.floor.Beside, FloorLine{Name: "persons",
			Words: "approvals: " + strings.Join(approved, ", ")})
	}
	if len(asked) > 0 {
		w.floor.Beside = append(w.floor.Beside, FloorLine{Name: "persons", Words: "answers: " + strings.Join(asked, ", ")})
	}
}

// approvalOf says who approves a step's flip.
func (d *Document) approvalOf(s *Step, flipped map[string]Value) Approval {
	if s.Stage.Protects() || d.wayOf(s.Flip, flipped) == Protecting {
		return s.Timing.Protect
	}
	return s.Timing.Release
}

func (w *floorWalk) calls() {
	for s := range w.d.Steps() {
		if s.Call != nil {
			w.floor.Beside = append(w.floor.Beside, FloorLine{Pos: s.Pos, Stage: s.Stage, Name: s.Name,
				Words: fmt.Sprintf("call: at most %s, beside the protections and before the first release", s.Call.Timeout)})
		}
	}
}

// The figures that tell how long warming takes. The limit is the reserved one.
const (
	coldKeysFigure   = "cold-keys"
	liveMissesFigure = "live-misses"
	limitFigure      = "limit"
	kneeFigure       = "knee"
)

// warming is how long the origin takes to fill the lost keys beside live misses.
func (d *Document) warming() FloorLine {
	line := FloorLine{Name: "warming"}
	keys, misses, limit := d.Figure(coldKeysFigure), d.Figure(liveMissesFigure), d.Figure(limitFigure)
	if keys == nil || misses == nil || limit == nil {
		line.Words = fmt.Sprintf("not known: it takes the figures %s, %s and %s", coldKeysFigure,
			liveMissesFigure, limitFigure)
		return line
	}
	spare := limit.Value - misses.Value
	if spare <= 0 {
		line.Words = fmt.Sprintf("never: live misses of %s leave nothing of the limit of %s %s", decimal(misses.Value),
			decimal(limit.Value), limit.Unit)
		return line
	}
	line.Known = true
	line.Cost = time.Duration(keys.Value / spare * float64(time.Second)).Round(time.Second)
	line.Words = fmt.Sprintf("%s keys at %s less %s %s, if all of them come from the origin",
		decimal(keys.Value), decimal(limit.Value), decimal(misses.Value), limit.Unit)
	return line
}

// restore lifts what is out of place one after the other.
func (w *floorWalk) restore(s *Step) {
	lifts := 0
	var names []string
	for i := range w.d.Controls {
		c := &w.d.Controls[i]
		if last, moved := w.flipped[c.Name]; moved && c.Temporary && !last.Equal(c.Steady) {
			lifts += 1 + len(c.Back)
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	each := w.d.gateCost(s.Expect, s.Timing, true)
	if when := w.d.gateCost(s.When, s.Timing, true); when.total > each.total {
		each = when
	}
	w.floor.Beside = append(w.floor.Beside, FloorLine{s.Pos, s.Stage, s.Name, time.Duration(lifts) * each.total, true,
		fmt.Sprintf("%d lifts of %d controls, each %s", lifts, len(names), orNothing(each.words))})
}

func (w *floorWalk) lateGate(s *Step) {
	when, expect := w.d.gateCost(s.When, s.Timing, true), w.d.gateCost(s.Expect, s.Timing, true)
	w.floor.Beside = append(w.floor.Beside, FloorLine{s.Pos, s.Stage, s.Name, when.total + expect.total, true,
		"when " + orNothing(when.words) + ", expect " + orNothing(expect.words)})
}

func orNothing(words string) string {
	if words == "" {
		return "not gated"
	}
	return words
}

package runbook

import (
	"math"
	"slices"
)

func (l *linter) ladderJumps() {
	for _, w := range l.flips() {
		switch {
		case len(w.flip.Through) == 0 && w.control.Kind == Percent:
			l.percentJump(w)
		case len(w.flip.Through) > 0 && w.control.Kind == Choice:
			l.choiceJump(w)
		case len(w.flip.Through) > 0 && w.control.Kind.Numeric():
			l.numberJump(w)
		}
	}
}

// percentJump finds a release of more than a quarter without any rung.
func (l *linter) percentJump(w written) {
	all := w.control.Max - w.control.Min
	if w.direction() == Releasing && !w.from.Unlimited && math.Abs(w.to.Number-w.from.Number) > all/4 {
		l.report(w.pos, w.waivers, "control %s goes from %s to %s at once", w.control.Name, w.control.Format(w.from),
			w.control.Format(w.to))
	}
}

func (l *linter) choiceJump(w written) {
	before := w.from
	for _, rung := range w.flip.Through {
		i, j := slices.Index(w.control.Choices, before.Text), slices.Index(w.control.Choices, rung.Text)
		if j-i > 1 || i-j > 1 {
			l.report(w.pos, w.waivers, "the ladder of %s goes from %s to %s, past %d of its choices",
				w.control.Name, before.Text, rung.Text, max(i, j)-min(i, j)-1)
		}
		before = rung
	}
}

// numberJump measures rungs by their distance from where the ladder starts.
func (l *linter) numberJump(w written) {
	start, known := l.ladderStart(w)
	if !known {
		return
	}
	all := math.Abs(w.to.Number - start)
	allowed := all / 4
	for _, rung := range w.flip.Through {
		distance := math.Abs(rung.Number - start)
		if distance > allowed*(1+1e-9) && distance > 0 {
			l.report(w.pos, w.waivers, "the ladder of %s jumps to %s", w.control.Name, w.control.Format(rung))
		}
		allowed = distance * 2.5
	}
}

// ladderStart is what the control is before the ladder: what an earlier step
// left, or the end of its range that the ladder comes from.
func (l *linter) ladderStart(w written) (float64, bool) {
	first, last := w.flip.Through[0].Number, w.to.Number
	switch {
	case !w.from.Equal(w.control.Steady) && !w.from.Unlimited:
		return w.from.Number, true
	case last >= first:
		return w.control.Min, true
	}
	return w.control.Max, !math.IsInf(w.control.Max, 1)
}

func (l *linter) ladderWithoutHold() {
	for _, w := range l.flips() {
		switch {
		case len(w.flip.Through) == 0:
		case len(w.step.When) == 0:
			l.report(w.pos, w.waivers, "step %s takes rungs without a gate before each", w.step.Name)
		case w.step.Timing.Passes < 2:
			l.report(w.pos, w.waivers, "step %s takes rungs after a single observation", w.step.Name)
		}
	}
}

func (l *linter) releaseWithoutExpect() {
	for _, w := range l.flips() {
		if !w.step.Stage.Protects() && w.direction() == Releasing && len(w.step.Expect) == 0 {
			l.report(w.pos, w.waivers, "step %s releases %s and expects nothing", w.step.Name, w.control.Name)
		}
	}
	for s := range l.d.Steps() {
		if s.Call != nil && !s.Stage.Protects() && len(s.Expect) == 0 && s.Call.Check == nil {
			l.report(s.Call.Pos, s.Waive, "step %s calls something after the protections and expects nothing", s.Name)
		}
	}
}

func (l *linter) releaseAmongProtections() {
	for _, w := range l.flips() {
		if w.step.Stage.Protects() && w.control.Direction(w.control.Steady, w.to) == Releasing {
			l.report(w.pos, w.waivers, "step %s in %s releases %s from its steady %s to %s", w.step.Name, w.step.Stage,
				w.control.Name, w.control.Format(w.control.Steady), w.control.Format(w.to))
		}
	}
}

func (l *linter) restoreUngated() {
	for s := range l.d.Steps() {
		switch {
		case s.Restore == nil:
		case len(s.When) == 0:
			l.report(s.Restore.Pos, s.Waive, "step %s lifts without a gate before each lift", s.Name)
		case len(s.Expect) == 0:
			l.report(s.Restore.Pos, s.Waive, "step %s lifts without an expectation after each lift", s.Name)
		}
	}
}

// restoreStaleJump looks at the way from the extended window back to the steady
// one.
func (l *linter) restoreStaleJump() {
	extended := map[string]Value{}
	for _, w := range l.flips() {
		c := w.control
		if c.Kind != Duration || !isStale(c) {
			continue
		}
		if w.direction() == Releasing && len(w.flip.Through) == 0 {
			l.staleLegs(w.pos, w.waivers, c, []Value{w.from, w.to})
		}
		extended[c.Name] = w.to
	}
	for i := range l.d.Controls {
		c := &l.d.Controls[i]
		if from, moved := extended[c.Name]; moved && c.Temporary && c.Direction(from, c.Steady) == Releasing {
			l.staleLegs(c.Pos, c.Waive, c, slices.Concat([]Value{from}, c.Back, []Value{c.Steady}))
		}
	}
}

func (l *linter) staleLegs(at Position, waivers []Waiver, c *Control, legs []Value) {
	all := math.Abs(legs[0].Number - c.Steady.Number)
	for i := 1; i < len(legs); i++ {
		if leg := math.Abs(legs[i].Number - legs[i-1].Number); leg*3 > all*2 {
			l.report(at, waivers, "control %s comes back from %s to %s in one jump", c.Name, c.Format(legs[i-1]),
				c.Format(legs[i]))
		}
	}
}

func (l *linter) restoreMissing() {
	left := map[string]written{}
	for _, w := range l.flips() {
		left[w.control.Name] = w
	}
	for s := range l.d.Steps() {
		if s.Restore != nil {
			return
		}
	}
	for _, c := range l.d.Controls {
		if w, moved := left[c.Name]; moved && c.Temporary && !w.to.Equal(c.Steady) {
			l.report(w.pos, w.waivers, "control %s stays at %s, and no step restores it", c.Name, c.Format(w.to))
		}
	}
}

func (l *linter) floorAboveTarget() {
	floor := TimeFloor(l.d).Total
	if target := l.d.RecoverWithin; target > 0 && floor > target {
		l.report(l.d.recoverWithinAt, nil, "the gates alone take %s, and the target is %s", floor, target)
	}
}

func (l *linter) timeoutBelowWindow() {
	for s := range l.d.Steps() {
		gates := []struct {
			name string
			gate Gate
		}{{"when", s.When}, {"expect", s.Expect}}
		for _, g := range gates {
			judgedOnce := g.name == "when" && s.Stage.Protects()
			cost := l.d.gateCost(g.gate, s.Timing, true)
			if !judgedOnce && cost.total > s.Timing.Timeout {
				l.report(s.Pos, s.Waive, "step %s has a timeout of %s, and its %s needs %s", s.Name, s.Timing.Timeout,
					g.name, cost.words)
			}
		}
	}
}

func (l *linter) figureUndated() {
	for _, f := range l.d.Figures {
		if f.Measured == "" {
			l.report(f.Pos, nil, "figure %s does not say when it was measured", f.Name)
		}
	}
}

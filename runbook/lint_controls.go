package runbook

import "math"

// written is one value that the runbook writes to a control.
type written struct {
	pos     Position
	step    *Step // nil for a guard's brake
	flip    *Flip
	control *Control
	from    Value // what the steps before left, or the steady value
	to      Value
	waivers []Waiver
}

// flips gives every flip of a step in the order of a walk, with what the steps
// before it left.
func (l *linter) flips() []written {
	var all []written
	left := map[string]Value{}
	for s := range l.d.Steps() {
		if s.Flip == nil {
			continue
		}
		c := l.d.Control(s.Flip.Control)
		from, moved := left[c.Name]
		if !moved {
			from = c.Steady
		}
		all = append(all, written{s.Flip.Pos, s, s.Flip, c, from, s.Flip.To, s.Waive})
		left[c.Name] = s.Flip.To
	}
	return all
}

// direction of the flip from what the steps before it left.
func (w written) direction() Direction { return w.control.Direction(w.from, w.to) }

// values gives every single value that steps and guards write, rungs and harder
// brakes included.
func (l *linter) values() []written {
	var all []written
	for _, w := range l.flips() {
		rungs := w.flip.Through
		if len(rungs) == 0 {
			rungs = []Value{w.to}
		}
		for _, v := range rungs {
			w.to = v
			all = append(all, w)
		}
		if u := w.step.IfUnmet; u != nil {
			w.to, w.pos = u.To, u.Pos
			all = append(all, w)
		}
	}
	for i := range l.d.Guards {
		if g := &l.d.Guards[i]; g.Flip != nil {
			c := l.d.Control(g.Flip.Control)
			all = append(all, written{g.Flip.Pos, nil, g.Flip, c, c.Steady, g.Flip.To, g.Waive})
		}
	}
	return all
}

// kneeFor gives the knee in the unit of an admission control.
func (l *linter) kneeFor(c *Control) (float64, bool) {
	knee := l.d.Figure(kneeFigure)
	if knee == nil || c.Kind != Rate || c.Protects != "lower" {
		return 0, false
	}
	return convert(knee.Value, knee.Unit, c.Unit)
}

func (l *linter) admissionAtKnee() {
	for i := range l.d.Controls {
		c := &l.d.Controls[i]
		knee, known := l.kneeFor(c)
		if known && !math.IsInf(c.Max, 1) && c.Max >= knee {
			l.report(c.Pos, c.Waive, "control %s may be raised to %s, and the knee is at %s", c.Name, c.Format(c.number(c.Max)),
				c.Format(c.number(knee)))
		}
		if known && !c.Steady.Unlimited && c.Steady.Number >= knee {
			l.report(c.Pos, c.Waive, "control %s is steady at %s, and the knee is at %s", c.Name, c.Format(c.Steady),
				c.Format(c.number(knee)))
		}
	}
	for _, w := range l.values() {
		if knee, known := l.kneeFor(w.control); known && w.to.Number >= knee {
			l.report(w.pos, w.waivers, "control %s is set to %s, and the knee is at %s", w.control.Name, w.control.Format(w.to),
				w.control.Format(w.control.number(knee)))
		}
	}
	limit, knee := l.d.Figure(limitFigure), l.d.Figure(kneeFigure)
	if limit != nil && knee != nil && sameScale(limit.Unit, knee.Unit) && limit.Value >= knee.Value {
		l.report(limit.Pos, nil, "the limit of %s is not below the knee of %s", decimal(limit.Value), decimal(knee.Value))
	}
}

func (l *linter) zeroWithoutDeadMan() {
	for _, w := range l.values() {
		counted := w.control.Kind == Rate || w.control.Kind == Count
		if counted && w.to.Number == 0 && w.control.DeadMan == nil {
			l.report(w.pos, w.waivers, "control %s is set to zero and has no dead_man", w.control.Name)
		}
	}
}

func (l *linter) prewarmUncharged() {
	limit := l.d.Figure(limitFigure)
	for _, w := range l.flips() {
		c := w.control
		counted := c.Kind == Rate || c.Kind == Count
		warms := c.DeadMan != nil || mentions(c.Name, "prewarm", "warm", "warming", "warmup", "preload", "prefetch")
		if !counted || !warms || w.direction() != Releasing {
			continue
		}
		if limit != nil && sameScale(limit.Unit, c.Unit) && w.to.Number > limit.Value {
			l.report(w.pos, w.waivers, "control %s is set to %s, above the limit of %s", c.Name, c.Format(w.to),
				decimal(limit.Value))
		}
		if !l.charged(c, w.step.Stage) {
			l.report(w.pos, w.waivers, "control %s adds load, and no guard from %s to restore bounds the admitted %s with prewarm in it",
				c.Name, w.step.Stage, c.Unit)
		}
	}
}

// charged reports whether a guard watches the admitted work, prewarm included,
// for as long as the control can add to it.
func (l *linter) charged(c *Control, from Stage) bool {
	for _, g := range l.d.Guards {
		p := l.d.Probe(g.Bound.Probe)
		upper := g.Bound.Op == AtMost || g.Bound.Op == Below || g.Bound.Op == Between
		if upper && g.From <= from && g.To >= Restore && sameScale(p.Unit, c.Unit) && !leavesPrewarmOut(p.Query) {
			return true
		}
	}
	return false
}

// forbiddenStale are words for data of which an old copy is a wrong one.
var forbiddenStale = []string{
	"price", "prices", "pricing", "recall", "recalls", "authorization", "authorisation", "auth", "authz",
	"permission", "permissions", "entitlement", "entitlements", "inventory", "stock", "safety", "legal",
}

func (l *linter) staleForbiddenClass() {
	for i := range l.d.Controls {
		c := &l.d.Controls[i]
		if isStale(c) && mentions(c.Name, forbiddenStale...) {
			l.report(c.Pos, c.Waive, "control %s serves stale copies of data that must be current", c.Name)
		}
	}
}

func (l *linter) staleWindowUnbounded() {
	for i := range l.d.Controls {
		c := &l.d.Controls[i]
		if isStale(c) && c.Kind == Duration && math.IsInf(c.Max, 1) {
			l.report(c.Pos, c.Waive, "control %s has no max, so no approved window", c.Name)
		}
	}
}

func isStale(c *Control) bool { return mentions(c.Name, "stale") }

func (l *linter) leadersUncapped() {
	capped := map[string]bool{}
	for _, w := range l.flips() {
		if w.step.Stage.Protects() && mentions(w.control.Name, "leader", "leaders") {
			capped["cell"] = capped["cell"] || mentions(w.control.Name, "cell", "cells", "shard", "node", "domain")
			capped["region"] = capped["region"] || mentions(w.control.Name, "region", "regions", "zone", "global",
				"fleet", "total")
		}
	}
	for _, where := range []string{"cell", "region"} {
		if !capped[where] {
			l.report(l.d.Stages[ConstrainLeaders-1].Pos, nil, "no step caps the refresh leaders per %s", where)
		}
	}
}

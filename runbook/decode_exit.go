package runbook

import (
	"fmt"
)

// readExit reads the gate that says "recovered". Without one the lint speaks up.
func (d *decoder) readExit(n *node) {
	if n == nil {
		return
	}
	f, ok := d.fields(n, "exit", "exit")
	if !ok {
		return
	}
	exit := &d.doc.Exit
	exit.Pos = n.pos
	exit.When = d.gate(f.need("when", "list the bounds that say recovered"), "when")
	exit.Intervals = f.count("intervals", defaultIntervals, maxPasses)
	f.need("interval", "write interval: 5s, say")
	exit.Interval = f.duration("interval", 0)
	exit.Waive = d.waivers(f.get("waive"))
	if every := d.doc.Defaults.Every; exit.Interval > 0 && exit.Interval < every {
		d.fail(f.get("interval").pos, "write at least "+every.String(),
			"interval %s is shorter than every %s, so nothing would be observed in it",
			exit.Interval, every)
	}
	d.refuseRung(exit.When, "exit")
}

// refuseRung reports probes that ask about a rung where none is considered.
func (d *decoder) refuseRung(g Gate, where string) {
	for _, group := range g {
		for _, b := range group {
			d.refuseRungIn(b, where)
		}
	}
}

func (d *decoder) refuseRungIn(b Bound, where string) {
	for _, name := range []string{b.Probe, b.Operand.Probe, b.High.Probe} {
		if p := d.probes[name]; p != nil && p.UsesRung() {
			d.fail(b.Pos, "use it in a step that flips a number or restores",
				"%s: probe %s asks about a rung, and there is none here", where, name)
		}
	}
}

// readGuards reads the bounds that are watched from one stage to another.
func (d *decoder) readGuards(n *node) {
	for i, item := range d.list(n, "guards") {
		f, ok := d.fields(item, "guard", "the guard")
		if !ok {
			continue
		}
		g := Guard{Pos: item.pos}
		g.Bound, _ = d.bound(f)
		g.Name = fmt.Sprintf("guard %d %s", i+1, g.Bound.Probe)
		g.From, g.To = d.stageNamed(f, "from"), d.stageNamed(f, "to")
		if g.From > g.To && g.To != 0 {
			d.fail(f.get("to").pos, "swap them", "the guard ends in %s before it begins in %s", g.To, g.From)
		}
		g.Passes = f.count("passes", d.doc.Defaults.Passes, maxPasses)
		f.word("unknown", "hold", "hold")
		d.guardOtherwise(f, &g)
		g.Waive = d.waivers(f.get("waive"))
		d.refuseRungIn(g.Bound, "the guard")
		d.doc.Guards = append(d.doc.Guards, g)
	}
}

func (d *decoder) stageNamed(f fields, key string) Stage {
	n := f.need(key, "name the stage, both ends count")
	text, ok := d.raw(n, key)
	if !ok {
		return 0
	}
	s, known := ParseStage(text)
	if !known {
		d.fail(n.pos, suggest(text, schema["stages"], "the stages are "+stageList()), "%s: there is no stage %s",
			key, quote(text))
	}
	return s
}

// guardOtherwise reads what a breach does: hold, step down, or put a brake on.
func (d *decoder) guardOtherwise(f fields, g *Guard) {
	g.Otherwise = Hold
	n := f.get("otherwise")
	if n == nil {
		return
	}
	if n.shape != table {
		g.Otherwise = Otherwise(f.word("otherwise", string(Hold), string(Hold), string(StepDown)))
		return
	}
	b, ok := d.fields(n, "brake", "otherwise")
	if !ok {
		return
	}
	g.Otherwise = FlipBrake
	flip := b.need("flip", "write {flip: {control: NAME, to: VALUE}}")
	if flip == nil {
		return
	}
	g.Flip = d.flip(flip)
	if g.Flip == nil {
		return
	}
	c := d.controls[g.Flip.Control]
	switch {
	case len(g.Flip.Through) > 0:
		d.fail(flip.pos, "write to: VALUE", "a guard puts a brake on at once, not through rungs")
	case c.Direction(c.Steady, g.Flip.To) == Releasing:
		d.notABrake(g.Flip, c)
	}
}

func (d *decoder) notABrake(flip *Flip, c *Control) {
	d.fail(flip.Pos, "flip it the other way", "a guard may only protect, and %s at %s releases", c.Name, c.Format(flip.To))
}

// checkBrakes reports guards that take a control back to its steady value when
// all that the steps do to it is to protect: such a brake would release.
func (d *decoder) checkBrakes() {
	for _, g := range d.doc.Guards {
		if g.Flip == nil {
			continue
		}
		c := d.controls[g.Flip.Control]
		releases, protects := false, false
		for s := range d.doc.Steps() {
			if s.Flip != nil && s.Flip.Control == c.Name {
				releases = releases || c.Direction(s.Flip.To, g.Flip.To) == Releasing
				protects = protects || c.Direction(s.Flip.To, g.Flip.To) == Protecting
			}
		}
		if g.Flip.To.Equal(c.Steady) && releases && !protects {
			d.notABrake(g.Flip, c)
		}
	}
}

package runbook

import (
	"math"
	"slices"
	"strings"
)

// readControls reads the controls; names that become equal when parameters are
// replaced are one control declared twice.
func (d *decoder) readControls(n *node) {
	for _, e := range d.named(n, "controls") {
		name, ok := d.expand(&node{pos: e.pos}, "control", e.key, asText)
		if !ok || !d.checkName(e.pos, "a control", name) {
			continue
		}
		if earlier, twice := d.controls[name]; twice {
			line := 0
			if earlier != nil {
				line = earlier.Pos.Line
			}
			d.fail(e.pos, "keep one of them", "control %s is declared twice; the first is in line %d", name, line)
			continue
		}
		d.controls[name] = nil
		problems := len(d.problems)
		c := d.control(e, name)
		if len(d.problems) == problems {
			d.controls[name] = &c
			d.doc.Controls = append(d.doc.Controls, c)
		}
	}
}

func (d *decoder) control(e entry, name string) Control {
	c := Control{Pos: e.pos, Name: name, Max: math.Inf(1), Temporary: true, Scope: "service"}
	f, ok := d.fields(e.value, "control", "control "+name)
	if !ok {
		return c
	}
	if f.need("kind", "write kind: rate, count, percent, duration, switch, choice or list") == nil {
		return c
	}
	c.Kind = Kind(f.word("kind", "", string(Rate), string(Count), string(Percent), string(Duration),
		string(Switch), string(Choice), string(List)))
	if c.Kind == "" {
		return c
	}
	d.controlUnit(f, &c)
	d.controlBounds(f, &c)
	d.controlChoices(f, &c)
	d.controlValues(f, &c)
	c.Protects = d.protects(f, c.Kind)
	c.Scope = f.word("scope", c.Scope, "service", "process")
	c.Temporary = f.flag("temporary", c.Temporary)
	c.Review = f.duration("review", 0)
	c.Shared = f.word("writer", "", "shared") == "shared"
	c.Waive = d.waivers(f.get("waive"))
	return c
}

// controlUnit reads the unit. Percents and durations have theirs by kind.
func (d *decoder) controlUnit(f fields, c *Control) {
	c.Unit = c.unit()
	n := f.get("unit")
	if n == nil {
		return
	}
	unit := d.unitText(n)
	switch c.Kind {
	case Rate, Count:
		c.Unit = unit
	case Percent, Duration:
		if !sameScale(unit, c.Unit) {
			d.fail(n.pos, "leave it out", "a %s is in %s, not in %s", c.Kind, quote(c.Unit), quote(unit))
		}
	default:
		d.fail(n.pos, "leave it out", "a %s has no unit", c.Kind)
	}
}

// controlBounds reads min and max, which only numbers have.
func (d *decoder) controlBounds(f fields, c *Control) {
	if c.Kind == Percent {
		c.Max = 100
	}
	for _, key := range []string{"min", "max"} {
		n := f.get(key)
		if n == nil {
			continue
		}
		if !c.Kind.Numeric() {
			d.fail(n.pos, "leave it out", "a %s has no %s", c.Kind, key)
			continue
		}
		v, ok := d.anyValue(n, c, key)
		switch {
		case !ok:
		case key == "min":
			c.Min = v.Number
		case c.Kind == Percent && v.Number > 100:
			d.fail(n.pos, "write 100% or less", "max: a percent ends at 100")
		default:
			c.Max = v.Number
		}
	}
	if c.Min > c.Max {
		d.fail(f.at, "swap them", "%s: min %s is above max %s", f.what, c.Format(c.number(c.Min)), c.Format(c.number(c.Max)))
	}
}

func (d *decoder) controlChoices(f fields, c *Control) {
	n := f.get("choices")
	switch {
	case c.Kind == Choice:
		f.need("choices", "list them from one end to the other")
	case n != nil:
		d.fail(n.pos, "leave it out", "a %s has no choices", c.Kind)
		return
	}
	for _, item := range d.list(n, "choices") {
		text, ok := d.raw(item, "a choice")
		if !ok || !d.checkName(item.pos, "a choice", text) {
			continue
		}
		if slices.Contains(c.Choices, text) {
			d.fail(item.pos, "keep one of them", "choice %s stands twice", text)
		}
		c.Choices = append(c.Choices, text)
	}
}

// controlValues reads what the control is at rest, when absent, on the way back
// and when the run stops renewing it.
func (d *decoder) controlValues(f fields, c *Control) {
	if n := f.need("steady", "write the value that the service runs with"); n != nil {
		c.Steady, _ = d.value(n, c, "steady")
	}
	if n := f.need("absent", "write what the service does when the field is missing, or unlimited"); n != nil {
		c.Absent, _ = d.absentValue(n, c)
	}
	if n := f.get("dead_man"); n != nil {
		if v, ok := d.value(n, c, "dead_man"); ok {
			c.DeadMan = &v
		}
	}
	for _, item := range d.list(f.get("back"), "back") {
		if v, ok := d.value(item, c, "back"); ok {
			c.Back = append(c.Back, v)
		}
	}
	if n := f.get("back"); n != nil {
		d.checkLadder(n.pos, "back", c, append(slices.Clone(c.Back), c.Steady))
	}
}

// protects reads which way of the control takes load off the origin.
func (d *decoder) protects(f fields, kind Kind) string {
	n := f.get("protects")
	switch kind {
	case List:
		if n != nil {
			d.fail(n.pos, "leave it out; every change of a list counts as releasing", "a list has no protecting direction")
		}
		return ""
	case Switch:
		f.need("protects", "write on or off")
		return f.word("protects", "", "on", "off")
	}
	f.need("protects", "write lower or higher")
	return f.word("protects", "", "lower", "higher")
}

// value reads a value that may be written to the control.
func (d *decoder) value(n *node, c *Control, what string) (Value, bool) {
	v, ok := d.anyValue(n, c, what)
	if !ok {
		return v, false
	}
	if wrong := c.check(v); wrong != nil {
		d.blame(n, what, wrong)
		return v, false
	}
	return v, true
}

// absentValue reads what a service does without the field: it may lie outside
// the bounds, as nobody writes it.
func (d *decoder) absentValue(n *node, c *Control) (Value, bool) {
	if n.shape == scalar && n.text == "unlimited" && c.Kind.Numeric() {
		return Value{Kind: c.Kind, Unlimited: true}, true
	}
	v, ok := d.anyValue(n, c, "absent")
	if !ok || c.Kind.Numeric() {
		return v, ok
	}
	if wrong := c.check(v); wrong != nil {
		d.blame(n, "absent", wrong)
		return v, false
	}
	return v, true
}

// anyValue reads a value of the control's kind without looking at its bounds.
func (d *decoder) anyValue(n *node, c *Control, what string) (Value, bool) {
	switch {
	case n.shape == table && c.Kind.Numeric():
		return d.figureValue(n, c, what)
	case c.Kind == List:
		return d.listValue(n, what)
	}
	text, ok := d.raw(n, what)
	if !ok {
		return Value{}, false
	}
	text = strings.TrimSpace(text)
	if n.quoted && c.Kind.Numeric() && plainNumber.MatchString(text) {
		d.blame(n, what, quotedNumber(text))
		return Value{}, false
	}
	v, wrong := c.parse(text)
	if wrong != nil {
		d.blame(n, what, wrong)
	}
	return v, wrong == nil
}

// figureValue reads {figure: NAME} in the unit of the control.
func (d *decoder) figureValue(n *node, c *Control, what string) (Value, bool) {
	f, ok := d.fields(n, "operand", what)
	if !ok {
		return Value{}, false
	}
	for _, key := range []string{"probe", "control"} {
		if f.has(key) {
			d.fail(n.pos, "write a value or {figure: NAME}", "%s cannot be a %s", what, key)
			return Value{}, false
		}
	}
	figure := d.figureNamed(f.need("figure", "write {figure: NAME}"))
	if figure == nil {
		return Value{}, false
	}
	number, wrong := c.convert(quantity{figure.Value, figure.Unit})
	if wrong != nil {
		d.blame(n, what+": figure "+figure.Name, wrong)
	}
	return c.number(number), wrong == nil
}

// figureNamed finds a declared figure; nil has been reported.
func (d *decoder) figureNamed(n *node) *Figure {
	name, ok := d.raw(n, "figure")
	if !ok {
		return nil
	}
	figure, declared := d.figures[name]
	if !declared {
		d.undeclared(n, "figure", name, keysOf(d.figures))
	}
	return figure
}

func (d *decoder) listValue(n *node, what string) (Value, bool) {
	if n.shape != sequence {
		d.wrongShape(n, what, sequence)
		return Value{}, false
	}
	v, good := Value{Kind: List, List: []string{}}, true
	for _, item := range n.items {
		text, ok := d.raw(item, "an item of "+what)
		good = good && ok
		v.List = append(v.List, text)
	}
	return v, good
}

// checkLadder requires rungs that go one way without standing still.
func (d *decoder) checkLadder(at Position, what string, c *Control, rungs []Value) {
	way := 0
	for i := 1; i < len(rungs); i++ {
		order, known := c.Compare(rungs[i-1], rungs[i])
		switch {
		case !known:
			if c.Kind == List {
				d.fail(at, "write to: instead", "%s: the values of a list have no order", what)
			}
			return
		case order == 0:
			d.fail(at, "leave one out", "%s: %s stands twice in a row", what, c.Format(rungs[i]))
			return
		case way != 0 && order != way:
			d.fail(at, "put the rungs in order", "%s: the rungs turn back at %s", what, c.Format(rungs[i]))
			return
		}
		way = order
	}
}

// controlNamed finds a declared control, with parameters replaced in its name;
// nil has been reported.
func (d *decoder) controlNamed(n *node) (string, *Control) {
	text, ok := d.raw(n, "control")
	if !ok {
		return "", nil
	}
	name, ok := d.expand(n, "control", text, asText)
	if !ok {
		return name, nil
	}
	c, declared := d.controls[name]
	if !declared {
		d.undeclared(n, "control", name, keysOf(d.controls))
	}
	return name, c
}

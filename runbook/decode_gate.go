package runbook

import (
	"strconv"
	"strings"
)

// gate reads a list of bounds and any-groups, nil when the key is absent.
func (d *decoder) gate(n *node, what string) Gate {
	if n == nil {
		return nil
	}
	if n.shape == table {
		d.fail(n.pos, "write "+what+": [{probe: NAME, at_most: VALUE}]", "%s is one bound, not a list of bounds", what)
		return nil
	}
	var g Gate
	for _, item := range d.list(n, what) {
		if group := d.group(item, what); len(group) > 0 {
			g = append(g, group)
		}
	}
	return g
}

// group reads one bound, or a list of bounds of which one must hold.
func (d *decoder) group(n *node, what string) Group {
	if any := n.find("any"); any != nil {
		if _, ok := d.fields(n, "group", "the group"); !ok {
			return nil
		}
		var g Group
		for _, item := range d.list(any, "any") {
			if item.find("any") != nil {
				d.fail(item.pos, "list the bounds in one group", "a group stands inside a group")
			} else if b, ok := d.plainBound(item); ok {
				g = append(g, b)
			}
		}
		return g
	}
	if b, ok := d.plainBound(n); ok {
		return Group{b}
	}
	return nil
}

// find gives the value of a key of a table, nil when there is none.
func (n *node) find(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

func (d *decoder) plainBound(n *node) (Bound, bool) {
	f, ok := d.fields(n, "bound", "the bound")
	if !ok {
		return Bound{}, false
	}
	return d.bound(f)
}

// bound reads one comparison of one probe.
func (d *decoder) bound(f fields) (Bound, bool) {
	b := Bound{Pos: f.at}
	p := d.boundProbe(f, &b)
	op, ok := d.comparison(f)
	if !ok {
		return b, false
	}
	b.Op = op
	b.Any = f.word("of", "each", "each", "any") == "any"
	b.Series = f.count("series", 0, 1_000_000)
	n := f.get(string(op))
	switch op {
	case Falling, Rising:
		d.mustBeTrue(n, string(op))
	case Between:
		d.between(n, &b, p)
	default:
		b.Operand, ok = d.operand(n, string(op), b.Probe, p)
	}
	return b, ok && p != nil
}

func (d *decoder) boundProbe(f fields, b *Bound) *Probe {
	n := f.need("probe", "write probe: NAME")
	name, ok := d.raw(n, "probe")
	if !ok {
		return nil
	}
	b.Probe = name
	p, declared := d.probes[name]
	if !declared {
		d.undeclared(n, "probe", name, keysOf(d.probes))
	}
	return p
}

// comparison finds the one key that compares.
func (d *decoder) comparison(f fields) (Op, bool) {
	var found []string
	for _, op := range comparisons {
		if f.has(string(op)) {
			found = append(found, string(op))
		}
	}
	switch len(found) {
	case 1:
		return Op(found[0]), true
	case 0:
		if !f.misspelt {
			d.fail(f.at, "add above, at_least, below, at_most, equals, between, falling or rising",
				"%s has no comparison", f.what)
		}
	default:
		d.fail(f.at, "make a bound of each", "%s has %d comparisons: %s", f.what, len(found), strings.Join(found, ", "))
	}
	return "", false
}

func (d *decoder) mustBeTrue(n *node, what string) {
	if text, ok := d.raw(n, what); ok && text != "true" {
		d.fail(n.pos, "write true or leave the bound out", "%s cannot be %s", what, quote(text))
	}
}

func (d *decoder) between(n *node, b *Bound, p *Probe) {
	if n.shape != sequence || len(n.items) != 2 {
		if n.shape != invalid {
			d.fail(n.pos, "write between: [LOW, HIGH]", "between takes two values")
		}
		return
	}
	low, lowOK := d.operand(n.items[0], "between", b.Probe, p)
	high, highOK := d.operand(n.items[1], "between", b.Probe, p)
	b.Operand, b.High = low, high
	if lowOK && highOK && low.literal() && high.literal() && low.Number > high.Number {
		d.fail(n.pos, "swap them", "between: %s is above %s", low, high)
	}
}

// literal reports whether the operand's number is known when parsing.
func (o Operand) literal() bool { return o.Probe == "" && o.Control == "" }

// operand reads what a bound compares with, in the unit of its probe. A probe
// that is nil has been reported, and then units are not compared.
func (d *decoder) operand(n *node, what, name string, p *Probe) (Operand, bool) {
	if n.shape == table {
		return d.namedOperand(n, what, name, p)
	}
	o := Operand{Pos: n.pos, Text: strings.TrimSpace(n.text)}
	if p == nil {
		return o, false
	}
	number, ok := d.quantityIn(n, what, p)
	o.Number = number
	return o, ok
}

// namedOperand reads {figure: NAME}, {probe: NAME} or {control: NAME}.
func (d *decoder) namedOperand(n *node, what, name string, p *Probe) (Operand, bool) {
	o := Operand{Pos: n.pos}
	f, ok := d.fields(n, "operand", what)
	if !ok {
		return o, false
	}
	if len(f.byKey) != 1 {
		d.fail(n.pos, "write {figure: NAME}, {probe: NAME} or {control: NAME}", "%s compares with %s names, not one",
			what, strconv.Itoa(len(f.byKey)))
		return o, false
	}
	switch {
	case f.has("figure"):
		return d.figureOperand(f.get("figure"), o, what, p)
	case f.has("probe"):
		return d.probeOperand(f.get("probe"), o, what, name, p)
	}
	return d.controlOperand(f.get("control"), o, what, p)
}

func (d *decoder) figureOperand(n *node, o Operand, what string, p *Probe) (Operand, bool) {
	figure := d.figureNamed(n)
	if figure == nil || p == nil {
		return o, false
	}
	o.Text = "figure " + figure.Name
	number, fits := convert(figure.Value, figure.Unit, p.Unit)
	if !fits {
		d.fail(n.pos, "measure both in one unit", "%s: figure %s is in %s, probe %s in %s",
			what, figure.Name, quote(figure.Unit), p.Name, quote(p.Unit))
	}
	o.Number = number
	return o, fits
}

func (d *decoder) probeOperand(n *node, o Operand, what, name string, p *Probe) (Operand, bool) {
	text, ok := d.raw(n, "probe")
	if !ok {
		return o, false
	}
	o.Probe, o.Text = text, "probe "+text
	other, declared := d.probes[text]
	switch {
	case !declared:
		d.undeclared(n, "probe", text, keysOf(d.probes))
	case text == name:
		d.fail(n.pos, "compare with another probe", "%s: probe %s is compared with itself", what, printable(name))
	case other != nil && p != nil && !sameScale(other.Unit, p.Unit):
		d.fail(n.pos, "measure both in one unit", "%s: probe %s is in %s, probe %s in %s",
			what, other.Name, quote(other.Unit), p.Name, quote(p.Unit))
	default:
		return o, other != nil
	}
	return o, false
}

func (d *decoder) controlOperand(n *node, o Operand, what string, p *Probe) (Operand, bool) {
	name, c := d.controlNamed(n)
	o.Control, o.Text = name, "control "+name
	switch {
	case c == nil || p == nil:
	case !c.Kind.Numeric():
		d.fail(n.pos, "compare with a rate, count, percent or duration", "%s: control %s is a %s, not a number", what,
			name, c.Kind)
	case c.unit() != "" && !sameScale(c.unit(), p.Unit):
		d.fail(n.pos, "measure both in one unit", "%s: control %s is in %s, probe %s in %s",
			what, name, quote(c.unit()), p.Name, quote(p.Unit))
	default:
		return o, true
	}
	return o, false
}

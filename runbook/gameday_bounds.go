package runbook

import (
	"maps"
	"slices"
	"strings"
)

// measureKeys are the keys of a bound of a game day that say what it is on, beside a probe.
var measureKeys = []string{"control", "records", "score"}

// dayGate reads bounds, which on a game day may also be on a control, on records and on
// the scorecard. Each of those gets a probe, so that one judge serves them all.
func (r *dayReader) dayGate(n *node, what string) Gate {
	if n == nil {
		return nil
	}
	replaced := *n
	replaced.items = nil
	for _, item := range n.items {
		replaced.items = append(replaced.items, r.asProbes(item))
	}
	return r.gate(&replaced, what)
}

// asProbes puts probes in the place of measures, in one bound or in a group.
func (r *dayReader) asProbes(n *node) *node {
	any := n.find("any")
	if any == nil {
		return r.asProbe(n)
	}
	members := *any
	members.items = nil
	for _, item := range any.items {
		members.items = append(members.items, r.asProbe(item))
	}
	group := *n
	group.entries = slices.Clone(n.entries)
	for i := range group.entries {
		if group.entries[i].key == "any" {
			group.entries[i].value = &members
		}
	}
	return &group
}

// asProbe gives a bound on a measure as one on its probe, and leaves any other as it is.
func (r *dayReader) asProbe(n *node) *node {
	var measured []string
	for _, e := range n.entries {
		if slices.Contains(measureKeys, e.key) {
			measured = append(measured, e.key)
		}
	}
	if len(measured) == 0 || n.find("probe") != nil {
		return n
	}
	f, _ := r.fields(n, "measured", "the bound")
	if len(measured) > 1 {
		r.fail(n.pos, "make a bound of each", "the bound is on %s at once", strings.Join(measured, " and "))
		return &node{pos: n.pos}
	}
	m, ok := r.measure(f)
	if !ok || f.misspelt {
		return &node{pos: n.pos}
	}
	bound := *n
	bound.entries = nil
	bound.entries = append(bound.entries, entry{n.pos, "probe", &node{pos: n.pos, shape: scalar, text: m.Name}})
	for _, e := range n.entries {
		if slices.Contains(comparisons, Op(e.key)) {
			e.value = r.asNumber(m, e.value)
			bound.entries = append(bound.entries, e)
		}
	}
	return &bound
}

// measure reads what a bound is on, and declares its probe.
func (r *dayReader) measure(f fields) (*Measure, bool) {
	m := &Measure{}
	for _, key := range []string{"where", "before"} {
		if f.has(key) && !f.has("records") {
			r.fail(f.get(key).pos, "leave it out", "%s stands beside records", key)
		}
	}
	switch {
	case f.has("control"):
		name, c := r.controlNamed(f.get("control"))
		if c == nil {
			return nil, false
		}
		m.Name, m.Unit, m.Control = "control "+name, c.unit(), c
		if c.Kind == List {
			r.fail(f.at, "bound another control", "control %s is a list, which no bound compares", name)
			return nil, false
		}
	case f.has("score"):
		if !r.score(f.get("score"), m) {
			return nil, false
		}
	case f.has("records"):
		match := r.match(f)
		if match == nil {
			return nil, false
		}
		m.Name, m.Unit, m.Records = match.String(), "records", match
	}
	return r.declare(m), true
}

// declare keeps a measure once, and its probe under its name.
func (r *dayReader) declare(m *Measure) *Measure {
	for i := range r.day.Measures {
		if r.day.Measures[i].Name == m.Name {
			return &r.day.Measures[i]
		}
	}
	r.day.Measures = append(r.day.Measures, *m)
	r.probes[m.Name] = &Probe{Name: m.Name, Unit: m.Unit}
	return m
}

func (r *dayReader) score(n *node, m *Measure) bool {
	text, ok := r.raw(n, "score")
	if !ok {
		return false
	}
	var known []string
	for _, s := range DayScores {
		if s.Name == text {
			m.Name, m.Unit, m.Score = "score "+text, s.Unit, text
			return true
		}
		known = append(known, s.Name)
	}
	r.fail(n.pos, suggest(text, known, "the scores are "+strings.Join(known, ", ")), "there is no score %s", quote(text))
	return false
}

// match reads which records are counted.
func (r *dayReader) match(f fields) *RecordMatch {
	kinds := slices.Sorted(maps.Keys(r.names.Records))
	n := f.get("records")
	kind, ok := r.raw(n, "records")
	if !ok {
		return nil
	}
	if !slices.Contains(kinds, kind) {
		hint := suggest(kind, kinds, "the kinds are "+strings.Join(kinds, ", "))
		r.fail(n.pos, hint, "there is no kind of record %s", quote(kind))
		return nil
	}
	m := &RecordMatch{Kind: kind, Where: map[string]string{}}
	for _, e := range r.named(f.get("where"), "where") {
		top, _, _ := strings.Cut(e.key, ".")
		if fields := r.names.Records[kind]; !slices.Contains(fields, top) {
			hint := suggest(top, fields, "its fields are "+strings.Join(fields, ", "))
			r.fail(e.pos, hint, "records of kind %s have no field %s", kind, quote(top))
		}
		if text, ok := r.raw(e.value, printable(e.key)); ok {
			m.Where[e.key] = text
		}
	}
	if before := f.get("before"); before != nil {
		if b, ok := r.fields(before, "before", "before"); ok && b.need("records", "write before: {records: KIND}") != nil {
			m.Before = r.match(b)
		}
	}
	return m
}

// String names the records that are counted, as in "records held {cause: person}".
func (m *RecordMatch) String() string {
	text := "records " + m.Kind
	if len(m.Where) > 0 {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(m.Where)) {
			pairs = append(pairs, printable(key)+": "+printable(m.Where[key]))
		}
		text += " {" + strings.Join(pairs, ", ") + "}"
	}
	if m.Before != nil {
		text += " before " + m.Before.String()
	}
	return text
}

// asNumber writes a value of a switch or a choice as its place in the order of them.
func (r *dayReader) asNumber(m *Measure, n *node) *node {
	if m.Control == nil || m.Control.Kind.Numeric() || n.shape != scalar {
		return n
	}
	v, err := m.Control.Parse(n.text)
	if err != nil {
		r.fail(n.pos, "", "%s", err)
		return &node{pos: n.pos}
	}
	number := *n
	number.text, number.quoted = decimal(m.Control.Place(v)), false
	return &number
}

// Place is a value of the control as a number: of a switch 0 for off and 1 for on, of a
// choice its place in the order of the choices, from 0.
func (c *Control) Place(v Value) float64 {
	order := c.Choices
	if c.Kind == Switch {
		order = []string{"off", "on"}
	}
	if c.Kind.Numeric() {
		return v.Number
	}
	return float64(slices.Index(order, v.Text))
}

// expectKeys are the keys of an expectation that say of which kind it is.
var expectKeys = []ExpectationKind{ExpectAlways, ExpectNever, ExpectEventually, ExpectAt, ExpectFinally}

func (r *dayReader) readExpect(n *node) {
	names := map[string]bool{}
	for _, item := range r.list(n, "expect") {
		f, ok := r.fields(item, "expectation", "the expectation")
		if !ok {
			continue
		}
		e, ok := r.expectation(f)
		if !ok {
			continue
		}
		if names[e.Name] {
			r.fail(item.pos, "give it another name", "two expectations are named %s", quote(e.Name))
		}
		names[e.Name] = true
		r.day.Expect = append(r.day.Expect, e)
	}
}

func (r *dayReader) expectation(f fields) (Expectation, bool) {
	e := Expectation{Pos: f.at, Name: f.prose("name")}
	f.need("name", "name it for the verdicts")
	var kinds []string
	for _, kind := range expectKeys {
		if f.has(string(kind)) {
			kinds = append(kinds, string(kind))
		}
	}
	if len(kinds) != 1 {
		if !f.misspelt {
			r.fail(f.at, "write one of always, never, eventually, at and finally",
				"%s is of %d kinds, not of one", f.what, len(kinds))
		}
		return e, false
	}
	e.Kind = ExpectationKind(kinds[0])
	bounds := f.get(kinds[0])
	if e.Kind == ExpectAt {
		e.From = f.duration("at", 0)
		bounds = f.need("holds", "write holds: [{probe: NAME, at_most: VALUE}]")
	} else {
		e.From = f.duration("from", 0)
	}
	e.Until, e.Within = f.duration("until", 0), f.duration("within", 0)
	r.checkSpan(f, &e)
	e.Holds = r.dayGate(bounds, kinds[0])
	return e, len(e.Holds) > 0
}

// checkSpan requires that an expectation has the times of its kind, inside the day.
func (r *dayReader) checkSpan(f fields, e *Expectation) {
	over := e.Kind == ExpectAlways || e.Kind == ExpectNever
	for key, fits := range map[string]bool{
		"from": over || e.Kind == ExpectEventually, "until": over,
		"within": e.Kind == ExpectEventually, "holds": e.Kind == ExpectAt,
	} {
		if f.has(key) && !fits {
			r.fail(f.get(key).pos, "leave it out", "%s takes no %s", e.Kind, key)
		}
	}
	if e.Until > 0 && e.Until <= e.From {
		r.fail(f.get("until").pos, "write a later time", "until is not after from")
	}
	if last := max(e.From, e.Until, e.From+e.Within); r.day.Duration > 0 && last > r.day.Duration {
		r.fail(f.at, "lengthen the day, or shorten this", "%s reaches beyond the end of the day", f.what)
	}
}

package runbook

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// takeOut says what else has to go when a name was taken out on purpose.
var takeOut = map[string]string{
	"control": ", or take out this step, its guards and its entry in restore.order",
	"probe":   ", or take out what is bound to it",
}

// undeclared reports the use of a name that is declared nowhere.
func (d *decoder) undeclared(n *node, what, name string, known []string) {
	hint := "declare it under " + what + "s" + takeOut[what]
	if what == "control" && d.book != "" {
		hint = d.book + " declares " + strings.Join(known, ", ")
	}
	d.fail(n.pos, suggest(name, known, hint), "%s %s is not declared", what, printable(name))
}

func keysOf[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// readProbes reads the queries, and then the witnesses that may stand further
// down than the probes that name them.
func (d *decoder) readProbes(n *node) {
	entries := d.named(n, "probes")
	for _, e := range entries {
		d.probes[e.key] = nil
	}
	for _, e := range entries {
		problems := len(d.problems)
		p := d.probe(e)
		if len(d.problems) == problems {
			d.probes[e.key] = &p
			d.doc.Probes = append(d.doc.Probes, p)
		}
	}
}

func (d *decoder) probe(e entry) Probe {
	what := "probe " + printable(e.key)
	p := Probe{Pos: e.pos, Name: e.key}
	d.checkName(e.pos, "a probe", e.key)
	f, ok := d.fields(e.value, "probe", what)
	if !ok {
		return p
	}
	p.Unit = d.unitText(f.need("unit", "write the unit of the answer, like attempts/s or ratio"))
	p.Memory = f.duration("memory", 0)
	p.EmptyPass = f.word("empty", "", "pass") == "pass"
	p.Baseline = f.word("baseline", "", "start") == "start"
	if n := f.get("sources"); n != nil {
		p.Sources = d.sources(n)
	}
	if n := f.get("absent"); n != nil {
		p.Absent = d.absent(n, &p)
	}
	if n := f.get("second"); n != nil {
		p.Second = d.second(n)
	}
	d.queries(f, &p)
	p.Waive = d.waivers(f.get("waive"))
	return p
}

// queries reads what the probe asks and what tells that it is alive.
func (d *decoder) queries(f fields, p *Probe) {
	p.Alive = d.query(f.get("alive"), "alive")
	if n := f.get("alive"); (&Probe{Query: p.Alive}).UsesRung() {
		d.fail(n.pos, "use the rung in query alone", "alive: whether a source lives does not depend on a rung")
	}
	n := f.need("query", "write the PromQL to ask")
	p.Query = d.query(n, "query")
	if p.Query == "" {
		return
	}
	if idiom := zeroIdiom(p.parsed()); idiom != "" && !f.has("alive") {
		d.fail(n.pos, "add alive: QUERY, which has data only while the source has",
			"query: %s answers also when nothing was measured", idiom)
	}
	if p.Baseline && p.UsesRung() {
		d.fail(n.pos, "leave out baseline, or the rung", "query: a baseline is asked once and knows no rung")
	}
}

func (d *decoder) sources(n *node) int {
	f, ok := d.fields(n, "sources", "sources")
	if !ok {
		return 0
	}
	f.need("at_least", "write sources: {at_least: N}")
	return f.count("at_least", 0, 1_000_000)
}

// absent reads what the probe counts as without data, and the witness that it
// was really measured.
func (d *decoder) absent(n *node, p *Probe) *Absent {
	f, ok := d.fields(n, "absent", "absent")
	if !ok {
		return nil
	}
	a := &Absent{}
	if as := f.need("as", "write the value that no data counts as"); as != nil {
		a.As, _ = d.quantityIn(as, "as", p)
	}
	w := f.need("witness", "name a probe that has data whenever this one could have")
	name, ok := d.raw(w, "witness")
	if !ok {
		return nil
	}
	a.Witness = name
	switch _, declared := d.probes[name]; {
	case name == p.Name:
		d.fail(w.pos, "name another probe", "a probe cannot be its own witness")
	case !declared:
		d.undeclared(w, "probe", name, keysOf(d.probes))
	}
	return a
}

// quantityIn reads a number, with or without unit, in the unit of a probe.
func (d *decoder) quantityIn(n *node, what string, p *Probe) (float64, bool) {
	text, ok := d.raw(n, what)
	if !ok {
		return 0, false
	}
	if n.quoted && plainNumber.MatchString(text) {
		d.blame(n, what, quotedNumber(text))
		return 0, false
	}
	q, wrong := parseQuantity(text)
	if wrong != nil {
		d.blame(n, what, wrong)
		return 0, false
	}
	number, fits := convert(q.number, q.unit, p.Unit)
	if !fits {
		d.fail(n.pos, "write it in the unit of the probe", "%s: unit %s does not fit probe %s, which is in %s",
			what, quote(q.unit), printable(p.Name), quote(p.Unit))
	}
	return number, fits
}

// second reads the address of another Prometheus, which answers where the first cannot.
func (d *decoder) second(n *node) string {
	text, ok := d.raw(n, "second")
	if !ok || !d.checkURL(n, "second", text) {
		return ""
	}
	return text
}

// checkURL requires an absolute HTTP address without secrets. Its text is never
// shown, as it may hold one.
func (d *decoder) checkURL(n *node, what, text string) bool {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		d.fail(n.pos, "write http://HOST:PORT or https://HOST", "%s is not an HTTP address", what)
	case u.User != nil:
		d.fail(n.pos, "keep passwords in a file that a configuration names", "%s holds a user or a password", what)
	default:
		return true
	}
	return false
}

package runbook

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// The header that every runbook of this format starts with.
const (
	apiVersion = "rewarm/v1"
	kind       = "Runbook"
)

// decoder reads a document and collects everything that is wrong with it. The
// maps hold every declared name; a name whose declaration is broken stands there
// with nil, so that its uses are not reported as well.
type decoder struct {
	file       string
	problems   Problems
	doc        *Document
	figures    map[string]*Figure
	parameters map[string]*Parameter
	controls   map[string]*Control
	probes     map[string]*Probe
	book       string // the file that declares the controls, "" for this one
}

// Parse reads a runbook. The file's name is only used in messages; set gives
// parameters other values than their defaults. Either the document or the
// problems are nil: a document has been checked whole, and the problems are all
// that could be found, in the order of the file.
func Parse(file string, source []byte, set map[string]string) (*Document, Problems) {
	d := newDecoder(file, source)
	text, wrong := cleanSource(source)
	if wrong != nil {
		d.fail(wrong.pos, wrong.hint, "%s", wrong.message)
	} else if root := d.parseTree(text); root != nil {
		d.document(root, set)
	}
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return d.doc, nil
}

func newDecoder(file string, source []byte) *decoder {
	return &decoder{
		file:       file,
		doc:        &Document{File: file, Source: slices.Clone(source)},
		figures:    map[string]*Figure{},
		parameters: map[string]*Parameter{},
		controls:   map[string]*Control{},
		probes:     map[string]*Probe{},
	}
}

// fail reports a problem at a place.
func (d *decoder) fail(at Position, hint, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Pos: at, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// document reads the whole file, names before their uses.
func (d *decoder) document(root *node, set map[string]string) {
	if !d.header(root, kind) {
		return
	}
	f, _ := d.fields(root, "runbook", "the runbook")
	f.need("apiVersion", "write apiVersion: "+apiVersion)
	f.need("kind", "write kind: "+kind)
	d.doc.Name = f.slug("name")
	d.doc.Service = f.slug("service")
	d.doc.RecoverWithin = f.duration("recover_within", 0)
	if n := f.get("recover_within"); n != nil {
		d.doc.recoverWithinAt = n.pos
	}
	d.readFigures(f.get("figures"))
	d.readParameters(f.get("parameters"))
	d.applySet(f, set)
	d.readDefaults(f.get("defaults"))
	d.readControls(f.get("controls"))
	d.readProbes(f.get("probes"))
	d.readExit(f.get("exit"))
	d.readGuards(f.get("guards"))
	d.readStages(f.need("stages", "list the nine stages"))
	d.checkBrakes()
	d.doc.Waive = d.waivers(f.get("waive"))
}

// header checks the first two keys. Another format's file gets one problem, not
// one for each of its keys.
func (d *decoder) header(root *node, kind string) bool {
	good := true
	for _, e := range root.entries {
		want, isHeader := map[string]string{"apiVersion": apiVersion, "kind": kind}[e.key]
		if isHeader && e.value.shape == scalar && e.value.text != want {
			d.fail(e.value.pos, "write "+e.key+": "+want, "%s %s where %s is expected", e.key, quote(e.value.text), want)
			good = false
		} else if isHeader && e.value.shape != scalar && e.value.shape != null {
			d.wrongShape(e.value, e.key, scalar)
		}
	}
	return good
}

// readFigures reads the measured numbers of the service.
func (d *decoder) readFigures(n *node) {
	for _, e := range d.named(n, "figures") {
		problems := len(d.problems)
		d.figures[e.key] = nil
		figure := d.figure(e)
		if len(d.problems) == problems {
			d.figures[e.key] = &figure
			d.doc.Figures = append(d.doc.Figures, figure)
		}
	}
}

func (d *decoder) figure(e entry) Figure {
	what := "figure " + printable(e.key)
	figure := Figure{Pos: e.pos, Name: e.key}
	d.checkPlaceholder(e, "figure")
	f, ok := d.fields(e.value, "figure", what)
	if !ok {
		return figure
	}
	figure.Value, _ = d.number(f.need("value", "write value: NUMBER"), "value")
	figure.Unit = d.unitText(f.need("unit", "write unit: attempts/s, say"))
	figure.Measured = d.date(f.get("measured"))
	return figure
}

// checkPlaceholder checks a name that can stand in ${}.
func (d *decoder) checkPlaceholder(e entry, what string) {
	if d.checkName(e.pos, "a "+what, e.key) && slices.Contains(rungNames, e.key) {
		d.fail(e.pos, "give it another name", "a %s cannot be named %s, which is the rung's", what, e.key)
	}
}

// unitText reads a unit: a short text without spaces at its ends.
func (d *decoder) unitText(n *node) string {
	text, ok := d.raw(n, "unit")
	if ok && !isUnit(text) {
		d.fail(n.pos, "write letters, / and -, at most 40, like attempts/s", "unit cannot be %s", quote(text))
	}
	return text
}

func (d *decoder) date(n *node) string {
	text, ok := d.raw(n, "measured")
	if !ok {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		d.fail(n.pos, "write it like 2026-11-02", "measured: %s is not a date", quote(text))
	}
	return text
}

// readParameters reads the inputs of the runbook with their defaults.
func (d *decoder) readParameters(n *node) {
	for _, e := range d.named(n, "parameters") {
		what := "parameter " + printable(e.key)
		d.checkPlaceholder(e, "parameter")
		if _, twice := d.figures[e.key]; twice {
			d.fail(e.pos, "give it another name", "%s: a figure has the same name", what)
		}
		d.parameters[e.key] = nil
		f, ok := d.fields(e.value, "parameter", what)
		if !ok {
			continue
		}
		f.need("kind", "write kind: string, number or duration")
		p := &Parameter{Pos: e.pos, Name: e.key, Kind: f.word("kind", "", "string", "number", "duration")}
		if n := f.get("default"); n != nil {
			d.defaultValue(p, n)
		}
		if p.Kind != "" {
			d.parameters[e.key] = p
		}
	}
}

func (d *decoder) defaultValue(p *Parameter, n *node) {
	text, ok := d.raw(n, "default")
	if !ok {
		p.Kind = ""
		return
	}
	if wrong := p.assign(text); wrong != nil {
		d.blame(n, "default", wrong)
		p.Kind = ""
	}
}

// assign gives the parameter a value of its kind.
func (p *Parameter) assign(text string) (wrong *fault) {
	if r, bad := unprintable(text); bad {
		return faultf("take it out", "the text has the invisible character %U", r)
	}
	switch p.Kind {
	case "number":
		p.Number, wrong = parseNumber(text)
	case "duration":
		var v time.Duration
		v, wrong = parseDuration(text)
		p.Number = v.Seconds()
	}
	if wrong == nil {
		p.Value = text
	}
	return wrong
}

// applySet gives parameters the values from outside, and requires that every
// parameter has one.
func (d *decoder) applySet(f fields, set map[string]string) {
	at := f.at
	if n := f.get("parameters"); n != nil {
		at = n.pos
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		p, declared := d.parameters[name]
		if !declared {
			d.fail(at, suggest(name, slices.Sorted(maps.Keys(d.parameters)), "leave it out"),
				"--set %s: the runbook has no such parameter", printable(name))
		} else if p != nil {
			if wrong := p.assign(set[name]); wrong != nil {
				d.fail(p.Pos, wrong.hint, "--set %s: %s", name, wrong.message)
				d.parameters[name] = nil
			}
		}
	}
	for _, e := range entriesOf(f.get("parameters")) {
		p := d.parameters[e.key]
		if p != nil && p.Value == "" {
			d.fail(e.pos, "give it a default or pass --set "+p.Name+"=VALUE", "parameter %s has no value", printable(p.Name))
			d.parameters[e.key] = nil
		} else if p != nil {
			d.doc.Parameters = append(d.doc.Parameters, *p)
		}
	}
}

func entriesOf(n *node) []entry {
	if n == nil {
		return nil
	}
	return n.entries
}

// waivers reads accepted findings of the lint.
func (d *decoder) waivers(n *node) []Waiver {
	var all []Waiver
	for _, item := range d.list(n, "waive") {
		f, ok := d.fields(item, "waiver", "waive")
		if !ok {
			continue
		}
		rule, _ := d.raw(f.need("rule", "name the rule that lint prints"), "rule")
		f.need("reason", "say why the finding is accepted")
		all = append(all, Waiver{Pos: item.pos, Rule: rule, Reason: f.prose("reason")})
	}
	return all
}

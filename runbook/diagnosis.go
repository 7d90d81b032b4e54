package runbook

import (
	"maps"
	"slices"
)

// DiagnosisKind is the kind of a file of diagnostic rules.
const DiagnosisKind = "Diagnosis"

// Diagnosis is a set of rules by which signals speak for modes. Bounds, probes and
// figures are written as in a runbook. Rules are read file by file; a later file adds
// to the ones before and replaces what has the same name.
type Diagnosis struct {
	Figures   []Figure
	Probes    []Probe
	History   string // the probe of for how many seconds there have been samples; "" for none
	Questions []Question
	Modes     []ModeRule
	Pictures  []Picture

	known      map[string]*Figure // by name, whoever declares it
	parameters []Parameter
	timing     Timing
	service    string
}

// Sign is a gate with what it tells when it passes.
type Sign struct {
	Pos  Position
	When Gate
	Says string // one sentence, lower case, no full stop
}

// ModeRule tells which signs speak for one mode. The mode is likely when every need
// passes and nothing stands against it.
type ModeRule struct {
	Pos      Position
	Mode     Mode
	About    string
	Needs    []Sign
	Supports []Sign
	Against  []Sign // whatever passes here explains the needs otherwise
	Variants []Variant
	Checks   []string
	Runbook  string // the name of a bundled one, or a file
}

// Variant is a way in which a mode comes that another runbook recovers. Its sign supports
// the mode; the first variant whose sign passes has the runbook.
type Variant struct {
	Sign
	Runbook string
}

// Question is one that a person or a gate answers before anything else is done,
// since its answer may be the cheapest way out.
type Question struct {
	Pos  Position
	Name string
	Ask  string
	Why  string
	When Gate   // it does not arise when this fails; nil always
	Yes  Gate   // answers yes when it passes and no when it fails; nil when only a person can tell
	Then string // what to do on a yes
}

// Picture is a combination of signals that calls for a decision of its own.
type Picture struct {
	Pos      Position
	Name     string
	About    string
	Needs    []Sign
	Supports []Sign
	Advice   string
	Avoid    []Avoid
	Checks   []string
}

// Avoid is a tempting measure with the reason why it would do harm.
type Avoid struct{ Do, Why string }

// RuleFile is a file of diagnostic rules; its name is only used in messages.
type RuleFile struct {
	Name   string
	Source []byte
}

// ParseDiagnosis reads files of rules, each on top of those before. A figure that the
// runbook has measured stands; of those that only the files declare the last one
// counts, in the queries of all files. Either the rules or the problems are nil.
func ParseDiagnosis(book *Document, files ...RuleFile) (*Diagnosis, Problems) {
	r := &Diagnosis{parameters: book.Parameters, timing: book.Defaults, service: book.Service, known: map[string]*Figure{}}
	for _, file := range files {
		d := newDecoder(file.Name, file.Source)
		if text, wrong := cleanSource(file.Source); wrong == nil {
			if root := d.parseTree(text); root != nil {
				d.readFigures(root.find("figures"))
			}
		}
		r.learn(d.doc.Figures)
	}
	r.learn(book.Figures)
	for _, file := range files {
		var problems Problems
		if r, problems = r.extend(file); len(problems) > 0 {
			return nil, problems
		}
	}
	return r, nil
}

// learn takes figures in the place of those with their names.
func (r *Diagnosis) learn(figures []Figure) {
	r.Figures = replaced(r.Figures, figures, func(f Figure) string { return f.Name })
	for i := range r.Figures {
		r.known[r.Figures[i].Name] = &r.Figures[i]
	}
}

// Document is the rules' probes and figures as a document without stages, as the
// poller of package probes takes it.
func (r *Diagnosis) Document() *Document {
	return &Document{Service: r.service, Figures: r.Figures, Parameters: r.parameters, Probes: r.Probes,
		Defaults: r.timing}
}

// extend reads one file on top of these rules, which stay as they are.
func (r *Diagnosis) extend(file RuleFile) (*Diagnosis, Problems) {
	d := newDecoder(file.Name, file.Source)
	for i := range r.parameters {
		d.parameters[r.parameters[i].Name] = &r.parameters[i]
	}
	for i := range r.Probes {
		d.probes[r.Probes[i].Name] = &r.Probes[i]
	}
	var extended *Diagnosis
	text, wrong := cleanSource(file.Source)
	if wrong != nil {
		d.fail(wrong.pos, wrong.hint, "%s", wrong.message)
	} else if root := d.parseTree(text); root != nil && d.header(root, DiagnosisKind) {
		extended = d.diagnosis(root, r)
	}
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return extended, nil
}

// diagnosis reads the whole file, names before their uses.
func (d *decoder) diagnosis(root *node, onto *Diagnosis) *Diagnosis {
	f, _ := d.fields(root, "diagnosis", "the diagnosis")
	f.need("apiVersion", "write apiVersion: "+apiVersion)
	f.need("kind", "write kind: "+DiagnosisKind)
	f.slug("name")
	d.readFigures(f.get("figures"))
	maps.Copy(d.figures, onto.known)
	d.readProbes(f.get("probes"))
	d.checkUnits(onto.Document())
	r := *onto
	r.Probes = replaced(onto.Probes, d.doc.Probes, func(p Probe) string { return p.Name })
	r.History = d.history(f.get("history"), onto.History)
	r.Questions = replaced(onto.Questions, d.questions(f.get("questions")), func(q Question) string { return q.Name })
	r.Modes = replaced(onto.Modes, d.modeRules(f.get("modes")), func(m ModeRule) string { return string(m.Mode) })
	r.Pictures = replaced(onto.Pictures, d.pictures(f.get("pictures")), func(p Picture) string { return p.Name })
	return &r
}

// history reads the name of the probe that tells how far back samples reach.
func (d *decoder) history(n *node, before string) string {
	name, given := d.raw(n, "history")
	if !given {
		return before
	}
	switch p, declared := d.probes[name]; {
	case !declared:
		d.undeclared(n, "probe", name, keysOf(d.probes))
	case p != nil && p.Unit != "s":
		d.fail(n.pos, "give it a query in seconds and unit: s", "probe %s is in %s, history is in s", printable(name),
			quote(p.Unit))
	}
	return name
}

// checkUnits requires that a probe which replaces another keeps its unit: bounds that
// were read before are numbers in it.
func (d *decoder) checkUnits(before *Document) {
	for i := range d.doc.Probes {
		p := &d.doc.Probes[i]
		if old := before.Probe(p.Name); old != nil && old.Unit != p.Unit {
			d.fail(p.Pos, "write unit: "+old.Unit+", or give the probe another name",
				"probe %s replaces one in %s and is in %s", printable(p.Name), quote(old.Unit), quote(p.Unit))
		}
	}
}

// replaced gives a list with newer items in the place of those with their name, and
// the rest of them behind.
func replaced[T any](old, newer []T, name func(T) string) []T {
	list := slices.Clone(old)
	for _, item := range newer {
		i := slices.IndexFunc(list, func(other T) bool { return name(other) == name(item) })
		if i < 0 {
			list = append(list, item)
		} else {
			list[i] = item
		}
	}
	return list
}

func (d *decoder) questions(n *node) []Question {
	var list []Question
	for _, e := range d.named(n, "questions") {
		what := "question " + printable(e.key)
		d.checkName(e.pos, "a question", e.key)
		f, ok := d.fields(e.value, "question", what)
		if !ok {
			continue
		}
		f.need("ask", "write ask: QUESTION")
		f.need("then", "say what to do when the answer is yes")
		list = append(list, Question{
			Pos: e.pos, Name: e.key, Ask: f.prose("ask"), Why: f.prose("why"), Then: f.prose("then"),
			When: d.gate(f.get("when"), "when"), Yes: d.gate(f.get("yes"), "yes"),
		})
	}
	return list
}

func (d *decoder) modeRules(n *node) []ModeRule {
	var list []ModeRule
	allowed := make([]string, len(Modes))
	for i, mode := range Modes {
		allowed[i] = string(mode)
	}
	for _, e := range d.named(n, "modes") {
		d.oneOf(&node{pos: e.pos}, "a mode", e.key, "", allowed)
		f, ok := d.fields(e.value, "mode", "mode "+printable(e.key))
		if !ok {
			continue
		}
		f.need("runbook", "name the runbook that recovers it")
		list = append(list, ModeRule{
			Pos: e.pos, Mode: Mode(e.key), About: f.prose("about"), Runbook: f.prose("runbook"),
			Needs:    d.signs(f.need("needs", "write what must all hold for the mode to be likely"), "needs"),
			Supports: d.signs(f.get("supports"), "supports"),
			Against:  d.signs(f.get("against"), "against"),
			Variants: d.variants(f.get("variants")),
			Checks:   d.texts(f.get("checks"), "checks"),
		})
	}
	return list
}

func (d *decoder) pictures(n *node) []Picture {
	var list []Picture
	for _, e := range d.named(n, "pictures") {
		what := "picture " + printable(e.key)
		d.checkName(e.pos, "a picture", e.key)
		f, ok := d.fields(e.value, "picture", what)
		if !ok {
			continue
		}
		f.need("advice", "say what to do, in one sentence")
		list = append(list, Picture{
			Pos: e.pos, Name: e.key, About: f.prose("about"), Advice: f.prose("advice"),
			Needs:    d.signs(f.need("needs", "write what must all hold"), "needs"),
			Supports: d.signs(f.get("supports"), "supports"),
			Avoid:    d.avoids(f.get("avoid")),
			Checks:   d.texts(f.get("checks"), "checks"),
		})
	}
	return list
}

// signs reads gates with their sentences.
func (d *decoder) signs(n *node, what string) []Sign {
	var list []Sign
	for _, item := range d.list(n, what) {
		f, ok := d.fields(item, "sign", "the sign")
		if !ok {
			continue
		}
		list = append(list, d.sign(item, f))
	}
	return list
}

func (d *decoder) sign(n *node, f fields) Sign {
	f.need("says", "say in one sentence what it tells when it holds")
	return Sign{
		Pos: n.pos, Says: f.prose("says"),
		When: d.gate(f.need("when", "write when: [{probe: NAME, at_least: VALUE}]"), "when"),
	}
}

func (d *decoder) variants(n *node) []Variant {
	var list []Variant
	for _, item := range d.list(n, "variants") {
		f, ok := d.fields(item, "variant", "the variant")
		if !ok {
			continue
		}
		f.need("runbook", "name the runbook that recovers it")
		list = append(list, Variant{Sign: d.sign(item, f), Runbook: f.prose("runbook")})
	}
	return list
}

func (d *decoder) avoids(n *node) []Avoid {
	var list []Avoid
	for _, item := range d.list(n, "avoid") {
		f, ok := d.fields(item, "avoid", "avoid")
		if !ok {
			continue
		}
		f.need("do", "name the measure")
		f.need("why", "say what harm it would do")
		list = append(list, Avoid{Do: f.prose("do"), Why: f.prose("why")})
	}
	return list
}

func (d *decoder) texts(n *node, what string) []string {
	var list []string
	for _, item := range d.list(n, what) {
		list = append(list, d.prose(item, what))
	}
	return list
}

package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The header of scenario files.
const (
	scenarioVersion = "rewarm/v1"
	ScenarioKind    = "Scenario"
)

// ParseScenario reads a scenario file; unknown and missing keys are errors. The error
// is Mistakes, all that could be found.
func ParseScenario(file string, source []byte) (*Scenario, error) {
	return ParseScenarioAmong(file, source, Known{})
}

// Known tells what names mean outside of the lab; what is nil is not looked at.
type Known struct {
	Modes    []string
	Runbooks func(name string) error // nil for one that exists
}

// ParseScenarioAmong is ParseScenario and looks up the modes and the runbook that a
// scenario names, too.
func ParseScenarioAmong(file string, source []byte, known Known) (*Scenario, error) {
	tree, err := parser.ParseBytes(source, 0)
	if err != nil {
		return nil, notYAML(file, err)
	}
	d := &scenarioReader{file: file, known: known}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, Mistakes{{file, 1, 1, "the file holds no scenario, or more than one"}}
	}
	s := d.scenario(tree.Docs[0].Body)
	if len(d.mistakes) > 0 {
		return nil, d.mistakes.sorted()
	}
	return s, nil
}

func notYAML(file string, err error) error {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		at := syntax.GetToken().Position
		return Mistakes{{file, at.Line, at.Column, fmt.Sprintf("not YAML: %q", syntax.GetMessage())}}
	}
	return Mistakes{{file, 1, 1, fmt.Sprintf("not YAML: %q", err.Error())}}
}

// scenarioReader collects what is wrong with a file.
type scenarioReader struct {
	file     string
	known    Known
	mistakes Mistakes
}

func (d *scenarioReader) fail(at *token.Token, format string, args ...any) {
	d.mistakes = append(d.mistakes, Mistake{d.file, at.Position.Line, at.Position.Column, fmt.Sprintf(format, args...)})
}

// first is where a node begins. A mapping in block style has the token of its first colon.
func first(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return first(n.Values[0])
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// entries calls a function for every key of a mapping. Each may stand once.
func (d *scenarioReader) entries(n ast.Node, what string, key func(name string, at *token.Token, value ast.Node)) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		d.fail(n.GetToken(), "%s is a mapping of keys to values", what)
	}
	for _, v := range values {
		key(v.Key.GetToken().Value, v.Key.GetToken(), v.Value)
	}
}

func (d *scenarioReader) items(n ast.Node, what string) []ast.Node {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(n.GetToken(), "%s is a list", what)
		return nil
	}
	return list.Values
}

func (d *scenarioReader) text(n ast.Node) string {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value)
	case ast.ScalarNode:
		return n.GetToken().Value
	}
	d.fail(n.GetToken(), "a text is expected here")
	return ""
}

// scenarioKeys are all needed but those that end in ?.
var scenarioKeys = []string{"apiVersion", "kind", "name", "about", "modes", "runbook", "seed", "start",
	"controls?", "events"}

func (d *scenarioReader) scenario(body ast.Node) *Scenario {
	s := &Scenario{}
	seen := map[string]bool{}
	d.entries(body, "a scenario", func(name string, at *token.Token, value ast.Node) {
		seen[name] = true
		switch name {
		case "apiVersion":
			d.expect(value, scenarioVersion)
		case "kind":
			d.expect(value, ScenarioKind)
		case "name":
			s.Name = d.text(value)
		case "about":
			s.About = d.text(value)
		case "runbook":
			s.Runbook = d.runbook(value)
		case "modes":
			for _, item := range d.items(value, "modes") {
				s.Modes = append(s.Modes, d.mode(item))
			}
		case "seed":
			s.Seed = uint64(d.whole(value))
		case "controls":
			s.Controls = d.controls(value)
		case "start":
			s.Start = d.timeOfDay(value)
		case "events":
			for _, item := range d.items(value, "events") {
				s.Events = append(s.Events, d.event(item))
			}
		default:
			d.fail(at, "a scenario has no key %q; its keys are %s", name,
				strings.ReplaceAll(strings.Join(scenarioKeys, ", "), "?", ""))
		}
	})
	for _, key := range scenarioKeys {
		if !seen[key] && !strings.HasSuffix(key, "?") {
			d.fail(first(body), "the scenario lacks the key %s", key)
		}
	}
	if !sorted(s.Events) {
		d.fail(first(body), "events stand in the order of their times")
	}
	return s
}

func (d *scenarioReader) runbook(n ast.Node) string {
	name := d.text(n)
	if d.known.Runbooks == nil {
		return name
	}
	if err := d.known.Runbooks(name); err != nil {
		d.fail(n.GetToken(), "%v", err)
	}
	return name
}

func (d *scenarioReader) mode(n ast.Node) string {
	name := d.text(n)
	if d.known.Modes != nil && !slices.Contains(d.known.Modes, name) {
		d.fail(n.GetToken(), "there is no mode %q; the modes are %s", name, strings.Join(d.known.Modes, ", "))
	}
	return name
}

// controls reads what is set from the beginning on, as Redis would hold it.
func (d *scenarioReader) controls(n ast.Node) map[string]string {
	known := absent(&catalog)
	set := map[string]string{}
	d.entries(n, "controls", func(name string, at *token.Token, value ast.Node) {
		if _, ok := known[name]; !ok {
			d.fail(at, "the service has no control %q", name)
		}
		set[name] = d.text(value)
	})
	return set
}

func (d *scenarioReader) expect(value ast.Node, want string) {
	if got := d.text(value); got != want {
		d.fail(value.GetToken(), "%q is not %s", got, want)
	}
}

// eventKeys are what each kind of event has beside at and event; those that end
// in ? may be left out.
var eventKeys = map[EventKind][]string{
	Launch: {"share"}, HotKey: {"share"}, Concentrate: {"share"},
	Expire:            {"bucket", "share", "copies", "over?"},
	LoseCell:          {"cell", "copies"},
	KillCell:          {"cell", "copies"},
	ReviveCell:        {"cell"},
	LoseTier:          {"copies"},
	BulkImport:        {"keys", "over", "every?"},
	NewFormat:         {"share"},
	SlowQueries:       {"share", "factor"},
	ForbidStale:       {},
	LoseInvalidations: {"over"},
	LoseDetector:      {"over"},
	BatchPrewarm:      {"keys", "over"},
	AddClients:        {"processes"},
	Variants:          {"bucket", "locales", "classes", "modes"},
	EditHotKey:        {"every?"},
	Crawl:             {"share", "keys"},
	CreateProducts:    {"keys"},
	ReplaceCell:       {"cell", "over", "share?"},
}

// mostAdded bounds how many processes one event adds.
const mostAdded = 1000

func (d *scenarioReader) event(n ast.Node) Event {
	var e Event
	seen := map[string]bool{}
	d.entries(n, "an event", func(name string, at *token.Token, value ast.Node) {
		seen[name] = true
		switch name {
		case "at":
			e.At = d.timeOfDay(value)
		case "event":
			e.Kind = EventKind(d.text(value))
		case "share":
			e.Share = d.share(value)
		case "bucket":
			if e.Bucket = d.text(value); depthOf(e.Bucket) == 0 {
				d.fail(value.GetToken(), "bucket is one of %s, not %q", strings.Join(depths[1:], ", "), e.Bucket)
			}
		case "cell":
			if e.Cell = d.text(value); !isCell(e.Cell) {
				d.fail(value.GetToken(), "there is no cell %q", e.Cell)
			}
		case "copies":
			e.Copies = d.kept(value)
		case "keys":
			e.Keys = d.whole(value)
		case "over":
			e.Over = d.duration(value)
		case "processes":
			if e.Processes = d.whole(value); e.Processes < 1 || e.Processes > mostAdded {
				d.fail(value.GetToken(), "%q is no number of processes from 1 to %d", d.text(value), mostAdded)
			}
		case "every":
			e.Every = d.duration(value)
		case "locales":
			e.Locales = d.ways(value)
		case "classes":
			e.Classes = d.ways(value)
		case "modes":
			e.Modes = d.ways(value)
		case "factor":
			e.Factor = d.number(value)
		default:
			d.fail(at, "an event has no key %q", name)
		}
	})
	d.checkEvent(n, e.Kind, seen)
	return e
}

// checkEvent demands the keys of the event's kind, and no others.
func (d *scenarioReader) checkEvent(n ast.Node, kind EventKind, seen map[string]bool) {
	keys, known := eventKeys[kind]
	if !known {
		d.fail(first(n), "event is one of %s, not %q", strings.Join(eventKinds(), ", "), string(kind))
		return
	}
	delete(seen, "event")
	for _, key := range append([]string{"at"}, keys...) {
		name, optional := strings.CutSuffix(key, "?")
		if !seen[name] && !optional {
			d.fail(first(n), "the event %s lacks the key %s", kind, name)
		}
		delete(seen, name)
	}
	for name := range seen {
		d.fail(first(n), "the event %s has no key %q", kind, name)
	}
}

func eventKinds() []string {
	var names []string
	for kind := range eventKeys {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return names
}

func isCell(name string) bool {
	return slices.ContainsFunc(catalog.Cells[:], func(c cellParams) bool { return c.Name == name })
}

func (d *scenarioReader) timeOfDay(n ast.Node) time.Duration {
	t, err := time.Parse(time.TimeOnly, d.text(n))
	if err != nil {
		d.fail(n.GetToken(), "%q is no time of day like 10:07:30", d.text(n))
		return 0
	}
	at := clock(t.Hour(), t.Minute(), t.Second())
	if at < caseBegins {
		d.fail(n.GetToken(), "a scenario begins at %s or later", clockTime(caseBegins))
	}
	return at
}

func (d *scenarioReader) duration(n ast.Node) time.Duration {
	v, err := time.ParseDuration(d.text(n))
	if err != nil || v < time.Second || v%time.Second != 0 {
		d.fail(n.GetToken(), "%q is no duration of whole seconds like 30s", d.text(n))
	}
	return v
}

func (d *scenarioReader) share(n ast.Node) float64 {
	text, percent := strings.CutSuffix(d.text(n), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !percent || !(v >= 0 && v <= 100) {
		d.fail(n.GetToken(), "%q is no share like 28%%", d.text(n))
	}
	return v / 100
}

func (d *scenarioReader) number(n ast.Node) float64 {
	v, err := strconv.ParseFloat(d.text(n), 64)
	if err != nil || !(v >= 1 && v <= 1000) {
		d.fail(n.GetToken(), "%q is no number from 1 to 1000", d.text(n))
	}
	return v
}

// ways is in how many ways something is asked for.
func (d *scenarioReader) ways(n ast.Node) int {
	v := d.whole(n)
	if v < 1 || v > 20 {
		d.fail(n.GetToken(), "%q is no number of ways from 1 to 20", d.text(n))
	}
	return v
}

func (d *scenarioReader) whole(n ast.Node) int {
	v, err := strconv.ParseUint(d.text(n), 10, 31)
	if err != nil {
		d.fail(n.GetToken(), "%q is no whole number", d.text(n))
	}
	return int(v)
}

// kept reads whether last-good copies outlive an event.
func (d *scenarioReader) kept(n ast.Node) bool {
	switch text := d.text(n); text {
	case "kept":
		return true
	case "gone":
	default:
		d.fail(n.GetToken(), "copies are kept or gone, not %q", text)
	}
	return false
}

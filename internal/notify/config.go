package notify

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/rewarm/rewarm/runbook"
)

// Receiver is one place that is told. Its address and token are secrets.
type Receiver struct {
	Name      string // of a-z, 0-9 and -
	Kind      string // a key of formats
	Events    []Kind // that it is told of; all of them when empty
	Dashboard string // of Grafana: where annotations are shown; everywhere when empty
	Panel     int64  // of that dashboard, 0 for all
	Tags      []string

	address *url.URL
	token   string
}

// Place is the kind and the host of a receiver: what may be shown of its address.
func (r Receiver) Place() string { return r.Kind + " at " + r.address.Host }

// wants reports whether a receiver is told of a kind.
func (r Receiver) wants(kind Kind) bool { return len(r.Events) == 0 || slices.Contains(r.Events, kind) }

// Secrets gives what stands in no configuration: files, named relative to it, and the environment.
type Secrets struct {
	File func(name string) ([]byte, error)
	Env  func(name string) string
}

// maxConfig bounds a file of receivers, in bytes.
const maxConfig = 1 << 20

// Parse reads a file of receivers. What is wrong is an error with file, line and column, never with a line of the
// file, which may hold what should have been in a file of its own.
func Parse(file string, source []byte, secrets Secrets) ([]Receiver, error) {
	if len(source) > maxConfig {
		return nil, runbook.Problems{{File: file, Pos: placeOf(nil), Message: "the file is larger than 1 MiB",
			Hint: "is it the right file?"}}
	}
	var c, second struct {
		Receivers []*entry `yaml:"receivers"`
	}
	documents := yaml.NewDecoder(bytes.NewReader(source), yaml.Strict())
	if err := documents.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return nil, notYAML(file, err)
	}
	d := &decoder{file: file, secrets: secrets}
	if err := documents.Decode(&second); !errors.Is(err, io.EOF) {
		d.fail(nil, "keep one document", "a second document begins after ---, or the first has something behind it")
	}
	if len(c.Receivers) == 0 {
		d.fail(nil, "write a key receivers with a list; docs/notifications.md has one", "the file has no receivers")
	}
	var list []Receiver
	for _, w := range c.Receivers {
		list = append(list, d.receiver(w))
	}
	d.unique(c.Receivers)
	slices.SortStableFunc(d.problems, func(a, b runbook.Problem) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return list, d.problems.Err()
}

func notYAML(file string, err error) error {
	p := runbook.Problem{File: file, Pos: placeOf(nil), Message: "this is no YAML that can be read",
		Hint: "docs/notifications.md has an example"}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		p.Pos, p.Message = placeOf(at.GetToken()), strings.Join(strings.Fields(at.GetMessage()), " ")
	}
	return runbook.Problems{p}
}

// entry is a receiver as it stands in the file.
type entry struct {
	Name      word   `yaml:"name"`
	Kind      word   `yaml:"kind"`
	URL       word   `yaml:"url"`
	URLFile   word   `yaml:"url_file"`
	URLEnv    word   `yaml:"url_env"`
	TokenFile word   `yaml:"token_file"`
	TokenEnv  word   `yaml:"token_env"`
	Events    []word `yaml:"events"`
	Dashboard word   `yaml:"dashboard"`
	Panel     number `yaml:"panel"`
	Tags      []word `yaml:"tags"`
}

// word is a text of the file with its place; at is nil when it is missing.
type word struct {
	text string
	at   *token.Token
}

func (w *word) UnmarshalYAML(n ast.Node) error {
	w.at = n.GetToken()
	return yaml.NodeToValue(n, &w.text, yaml.Strict())
}

// number is a number of the file with its place.
type number struct {
	value int64
	at    *token.Token
}

func (w *number) UnmarshalYAML(n ast.Node) error {
	w.at = n.GetToken()
	return yaml.NodeToValue(n, &w.value, yaml.Strict())
}

// place is where a receiver stands: at its name, or at what it has.
func (w *entry) place() *token.Token {
	for _, one := range []word{w.Name, w.Kind, w.URL, w.URLFile, w.URLEnv} {
		if one.at != nil {
			return one.at
		}
	}
	return nil
}

// decoder collects what is wrong with a file.
type decoder struct {
	file     string
	secrets  Secrets
	problems runbook.Problems
}

func (d *decoder) fail(at *token.Token, hint, format string, args ...any) {
	d.problems = append(d.problems,
		runbook.Problem{File: d.file, Pos: placeOf(at), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func placeOf(at *token.Token) runbook.Position {
	if at == nil || at.Position == nil {
		return runbook.Position{Line: 1, Column: 1}
	}
	return runbook.Position{Line: max(at.Position.Line, 1), Column: max(at.Position.Column, 1)}
}

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`) })

func (d *decoder) receiver(w *entry) Receiver {
	if w == nil {
		d.fail(nil, "take it out", "a receiver is empty")
		return Receiver{}
	}
	r := Receiver{Name: w.Name.text, Kind: w.Kind.text, Dashboard: w.Dashboard.text, Panel: w.Panel.value}
	if !nameForm().MatchString(r.Name) {
		d.fail(w.place(), "give it a name of a-z, 0-9 and -", "the receiver has no name that can be used")
	}
	if _, known := formats[r.Kind]; !known {
		d.fail(cmp.Or(w.Kind.at, w.place()), "the kinds are grafana, slack and webhook", "%q is no kind of receiver", r.Kind)
	}
	d.grafanaOnly(w)
	for _, event := range w.Events {
		if !slices.Contains(Kinds, Kind(event.text)) {
			d.fail(event.at, "the events are "+kindList(), "%q is no event", event.text)
		}
		r.Events = append(r.Events, Kind(event.text))
	}
	for _, tag := range w.Tags {
		r.Tags = append(r.Tags, tag.text)
	}
	r.address = d.address(w)
	r.token = d.secret(w.TokenFile, w.TokenEnv, "token_file", "token_env")
	return r
}

func kindList() string {
	var names []string
	for _, kind := range Kinds {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// grafanaOnly refuses keys that only mean something to Grafana.
func (d *decoder) grafanaOnly(w *entry) {
	if w.Kind.text == kindGrafana {
		if w.Panel.value < 0 || w.Panel.value > 0 && w.Dashboard.at == nil {
			d.fail(w.Panel.at, "give the dashboard's uid with the panel's number", "a panel belongs to a dashboard")
		}
		return
	}
	keys := map[string]*token.Token{"dashboard": w.Dashboard.at, "panel": w.Panel.at, "tags": firstOf(w.Tags)}
	for name, at := range keys {
		if at != nil {
			d.fail(at, "leave it out", "%s is for grafana alone", name)
		}
	}
}

func firstOf(words []word) *token.Token {
	if len(words) == 0 {
		return nil
	}
	return words[0].at
}

// address is where a receiver is, from one of three places.
func (d *decoder) address(w *entry) *url.URL {
	const hint = "give one of url, url_file and url_env: an address like https://host/path"
	text, at := w.URL.text, w.URL.at
	given := 0
	for _, one := range []word{w.URL, w.URLFile, w.URLEnv} {
		if one.at != nil {
			given, at = given+1, one.at
		}
	}
	if given != 1 {
		d.fail(w.place(), hint, "the receiver has %d addresses, it needs one", given)
		return nil
	}
	if w.URL.at == nil {
		before := len(d.problems)
		if text = d.secret(w.URLFile, w.URLEnv, "url_file", "url_env"); len(d.problems) > before {
			return nil
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" { // the error would repeat the address
		d.fail(at, hint, "the address does not begin with https:// or http:// and a host")
		return nil
	}
	if w.URL.at != nil && u.User != nil {
		d.fail(at, "put the whole address into a url_file, or the password into a token_file", "the address holds a password")
		return nil
	}
	return u
}

// secret reads what a file or a variable holds; one line end behind it does not count.
func (d *decoder) secret(file, env word, fileKey, envKey string) string {
	switch {
	case file.at != nil && env.at != nil:
		d.fail(env.at, "keep one of them", "both %s and %s are given", fileKey, envKey)
		return ""
	case env.at != nil:
		return d.usable(env.at, d.secrets.Env(env.text), "the environment variable")
	case file.at == nil:
		return ""
	}
	text, err := d.secrets.File(file.text)
	if err != nil {
		d.fail(file.at, "make the file readable; it is looked for beside this one", "%s: %s", fileKey, err)
		return ""
	}
	return d.usable(file.at, strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), "the file")
}

// usable refuses a secret that cannot be sent as it is, without repeating it.
func (d *decoder) usable(at *token.Token, text, what string) string {
	switch {
	case text == "":
		d.fail(at, "put the secret there", "%s is empty", what)
	case len(text) > 8<<10 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		d.fail(at, "keep the secret alone, on one line", "%s holds more than one line, or control characters", what)
	default:
		return text
	}
	return ""
}

// unique refuses two receivers of one name.
func (d *decoder) unique(list []*entry) {
	seen := map[string]bool{}
	for _, w := range list {
		if w != nil && seen[w.Name.text] && w.Name.at != nil {
			d.fail(w.Name.at, "give it a name of its own", "two receivers are called %s", w.Name.text)
		}
		if w != nil {
			seen[w.Name.text] = true
		}
	}
}

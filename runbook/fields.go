package runbook

import (
	"slices"
	"strings"
	"time"
)

// fields is a table whose keys have been checked against the schema.
type fields struct {
	d     *decoder
	at    Position
	what  string // how messages name it, like `step "declare"`
	byKey map[string]*node

	misspelt bool // it has a key that the section does not know
}

// fields takes a node as a table of one section of the schema. It reports keys
// that the section does not know and keys without a value.
func (d *decoder) fields(n *node, section, what string) (fields, bool) {
	f := fields{d: d, at: n.pos, what: what, byKey: map[string]*node{}}
	if n.shape != table {
		d.wrongShape(n, what, table)
		return f, false
	}
	for _, e := range n.entries {
		if !slices.Contains(schema[section], e.key) {
			d.fail(e.pos, suggest(e.key, schema[section], "the keys are "+strings.Join(schema[section], ", ")),
				"%s has no key %s", what, quote(e.key))
			f.misspelt = true
			continue
		}
		if e.value.shape == null {
			d.fail(e.pos, "give it a value or leave it out", "%s has no value", e.key)
			e.value = &node{pos: e.pos}
		}
		f.byKey[e.key] = e.value
	}
	return f, true
}

// named gives the entries of a table whose keys are names of the writer's own.
func (d *decoder) named(n *node, what string) []entry {
	if n == nil {
		return nil
	}
	if n.shape != table {
		d.wrongShape(n, what, table)
		return nil
	}
	if len(n.entries) == 0 {
		d.fail(n.pos, "give it an entry or leave it out", "%s is empty", what)
	}
	return n.entries
}

// list gives the items of a list that may not be empty.
func (d *decoder) list(n *node, what string) []*node {
	if n == nil {
		return nil
	}
	if n.shape != sequence {
		d.wrongShape(n, what, sequence)
		return nil
	}
	if len(n.items) == 0 {
		d.fail(n.pos, "give it an item or leave it out", "%s is empty", what)
	}
	return n.items
}

// wrongShape says what stands at a place and what was wanted. An invalid node has
// been reported already.
func (d *decoder) wrongShape(n *node, what string, want shape) {
	if n.shape != invalid {
		d.fail(n.pos, shapeHints[want], "%s is %s, not %s", what, shapeNames[n.shape], shapeNames[want])
	}
}

// get gives the value of a key, nil when the table does not have it.
func (f fields) get(key string) *node { return f.byKey[key] }

// has reports whether the key stands in the table, with a good value or not.
func (f fields) has(key string) bool { return f.byKey[key] != nil }

// need gives the value of a key that must be there. Beside a key that nobody
// knows its absence is not reported: it is likely the same mistake.
func (f fields) need(key, hint string) *node {
	n := f.byKey[key]
	if n == nil && !f.misspelt {
		f.d.fail(f.at, hint, "%s has no %s", f.what, key)
	}
	return n
}

// raw gives the text of a single value as it stands.
func (d *decoder) raw(n *node, what string) (string, bool) {
	if n == nil {
		return "", false
	}
	if n.shape != scalar {
		d.wrongShape(n, what, scalar)
		return "", false
	}
	if strings.TrimSpace(n.text) == "" {
		d.fail(n.pos, "write something or leave it out", "%s is empty", what)
		return "", false
	}
	return n.text, true
}

// prose gives a text for people on one line, with parameters replaced.
func (f fields) prose(key string) string { return f.d.prose(f.get(key), key) }

func (d *decoder) prose(n *node, what string) string {
	text, ok := d.raw(n, what)
	if !ok {
		return ""
	}
	text, _ = d.expand(n, what, text, asText)
	return strings.Join(strings.Fields(text), " ")
}

var (
	namePattern    = lazily(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	servicePattern = lazily(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

// checkName reports a name that is not made of the letters that names have.
func (d *decoder) checkName(at Position, what, name string) bool {
	if namePattern.MatchString(name) {
		return true
	}
	d.fail(at, "use letters, digits, dots, dashes and underscores, at most 128", "%s cannot be named %s",
		what, quote(name))
	return false
}

// slug gives a text of the form that services and runbooks are named in.
func (f fields) slug(key string) string {
	n := f.need(key, "")
	text, ok := f.d.raw(n, key)
	if ok && !servicePattern.MatchString(text) {
		f.d.fail(n.pos, "use lower case letters, digits and dashes, at most 63", "%s cannot be %s", key, quote(text))
	}
	return text
}

// word gives one of the allowed words, the fallback when the key is absent.
func (f fields) word(key, fallback string, allowed ...string) string {
	n := f.get(key)
	text, ok := f.d.raw(n, key)
	if !ok {
		return fallback
	}
	return f.d.oneOf(n, key, text, fallback, allowed)
}

func (d *decoder) oneOf(n *node, what, text, fallback string, allowed []string) string {
	if slices.Contains(allowed, text) {
		return text
	}
	d.fail(n.pos, suggest(text, allowed, "write "+alternatives(allowed)), "%s cannot be %s", what, quote(text))
	return fallback
}

// alternatives joins words as in "none, one or two".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// flag gives true or false.
func (f fields) flag(key string, fallback bool) bool {
	word := "false"
	if fallback {
		word = "true"
	}
	return f.word(key, word, "true", "false") == "true"
}

// duration gives a duration of more than zero, the fallback when the key is absent.
func (f fields) duration(key string, fallback time.Duration) time.Duration {
	n := f.get(key)
	text, ok := f.d.raw(n, key)
	if !ok {
		return fallback
	}
	v, wrong := parseDuration(text)
	if wrong == nil && v == 0 {
		wrong = faultf("write a duration of more than zero", "%s lasts no time", quote(text))
	}
	if wrong != nil {
		f.d.blame(n, key, wrong)
		return fallback
	}
	return v
}

// count gives a whole number of at least one, the fallback when the key is absent.
func (f fields) count(key string, fallback, most int) int {
	n := f.get(key)
	if n == nil {
		return fallback
	}
	v, ok := f.d.number(n, key)
	if !ok {
		return fallback
	}
	if v != float64(int(v)) || v < 1 || v > float64(most) {
		f.d.fail(n.pos, "write a whole number from 1 to "+decimal(float64(most)), "%s cannot be %s", key, decimal(v))
		return fallback
	}
	return int(v)
}

// number gives a plain number that is not in quotes.
func (d *decoder) number(n *node, what string) (float64, bool) {
	text, ok := d.raw(n, what)
	if !ok {
		return 0, false
	}
	if n.quoted {
		d.blame(n, what, quotedNumber(text))
		return 0, false
	}
	v, wrong := parseNumber(text)
	if wrong != nil {
		d.blame(n, what, wrong)
	}
	return v, wrong == nil
}

func quotedNumber(text string) *fault {
	return faultf("write it without quotes", "%s is a text, not a number", quote(text))
}

// blame reports a fault of the value of a key.
func (d *decoder) blame(n *node, what string, wrong *fault) {
	d.fail(n.pos, wrong.hint, "%s: %s", what, wrong.message)
}

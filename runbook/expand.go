package runbook

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// expansion says how a parameter is written where it is used.
type expansion int

const (
	asText  expansion = iota // in texts, names of controls and arguments: as it is
	asQuery                  // in queries: texts quoted; ${from} and ${to} stay
	asURL                    // in addresses: escaped
)

// rungNames are filled in when a rung is considered, not when a file is parsed.
var rungNames = []string{"from", "to"}

// expand replaces ${NAME} by figures and parameters, and $${ by a literal ${.
func (d *decoder) expand(n *node, what, text string, form expansion) (string, bool) {
	var out strings.Builder
	ok := true
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			out.WriteString(text)
			return out.String(), ok
		}
		if start > 0 && text[start-1] == '$' {
			ok = d.literal(n, what, text[start:], form) && ok
			out.WriteString(text[:start-1] + "${")
			text = text[start+2:]
			continue
		}
		out.WriteString(text[:start])
		name, rest, closed := strings.Cut(text[start+2:], "}")
		if !closed {
			d.fail(n.pos, "close it with }, or write $${ for the characters themselves", "%s: ${ is not closed", what)
			return "", false
		}
		replaced, found := d.replacement(n, what, name, form)
		ok = ok && found
		out.WriteString(replaced)
		text = rest
	}
}

// literal refuses the two literals that Expand would take for a rung.
func (d *decoder) literal(n *node, what, text string, form expansion) bool {
	for _, name := range rungNames {
		if form == asQuery && strings.HasPrefix(text, "${"+name+"}") {
			d.fail(n.pos, `write "$\x7b`+name+`}" in the query`, "%s: a literal ${%s} cannot be told from the rung", what, name)
			return false
		}
	}
	return true
}

// replacement finds what a placeholder stands for.
func (d *decoder) replacement(n *node, what, name string, form expansion) (string, bool) {
	if slices.Contains(rungNames, name) {
		if form == asQuery {
			return "${" + name + "}", true
		}
		d.fail(n.pos, "use it in the query of a probe", "%s: ${%s} is only known in queries", what, name)
		return "", false
	}
	if figure, declared := d.figures[name]; declared {
		if figure == nil {
			return "", false
		}
		return decimal(figure.Value), true
	}
	if parameter, declared := d.parameters[name]; declared {
		if parameter == nil {
			return "", false
		}
		return parameter.write(form), true
	}
	d.fail(n.pos, suggest(name, d.placeholders(), "declare it under figures or parameters, or write $${ for the characters themselves"),
		"%s: ${%s} is not declared", what, printable(name))
	return "", false
}

// placeholders lists every name that may stand in ${}.
func (d *decoder) placeholders() []string {
	var names []string
	for name := range d.figures {
		names = append(names, name)
	}
	for name := range d.parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// write gives the parameter's value as it stands where it is used.
func (p *Parameter) write(form expansion) string {
	switch {
	case form == asQuery && p.Kind == "string":
		return strings.ReplaceAll(strconv.Quote(p.Value), "${", `$\x7b`)
	case form == asQuery && p.Kind == "duration":
		return promDuration(time.Duration(p.Number * float64(time.Second)))
	case form == asURL:
		return url.PathEscape(p.Value)
	}
	return p.Value
}

// promDuration writes a duration as PromQL reads it, which has no fractions.
func promDuration(v time.Duration) string {
	if v%time.Second == 0 {
		return fmt.Sprintf("%ds", int64(v/time.Second))
	}
	return fmt.Sprintf("%dms", v.Milliseconds())
}

// UsesRung reports whether the query asks about a rung: whether it has ${from} or
// ${to}.
func (p *Probe) UsesRung() bool {
	return strings.Contains(p.Query, "${from}") || strings.Contains(p.Query, "${to}")
}

// Expand gives the query to ask, with ${from} and ${to} replaced by the numbers of
// the rung or lift being considered. It fails when the query needs a number that
// is missing or is not a plain decimal.
func (p *Probe) Expand(from, to string) (string, error) {
	query := p.Query
	for i, number := range []string{from, to} {
		placeholder := "${" + rungNames[i] + "}"
		if !strings.Contains(query, placeholder) {
			continue
		}
		if _, wrong := parseNumber(number); wrong != nil {
			return "", fmt.Errorf("probe %s needs a number for %s: %w", p.Name, placeholder, wrong)
		}
		query = strings.ReplaceAll(query, placeholder, number)
	}
	return query, nil
}

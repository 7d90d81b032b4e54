package runbook

import (
	"strconv"
	"strings"
)

var opWords = map[Op]string{
	Above: "above", AtLeast: "at least", Below: "below", AtMost: "at most", Equals: "equal to",
	Between: "between", Falling: "falling", Rising: "rising",
}

// String says the bound in words, like "queue-age at most 250ms".
func (b Bound) String() string {
	var s strings.Builder
	if b.Any {
		s.WriteString("any of ")
	}
	s.WriteString(b.Probe + " " + opWords[b.Op])
	switch b.Op {
	case Falling, Rising:
	case Between:
		s.WriteString(" " + b.Operand.String() + " and " + b.High.String())
	default:
		s.WriteString(" " + b.Operand.String())
	}
	if b.Series > 0 {
		s.WriteString(" in " + strconv.Itoa(b.Series) + " series")
	}
	return s.String()
}

// String gives the operand as a person would write it.
func (o Operand) String() string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Probe != "":
		return "probe " + o.Probe
	case o.Control != "":
		return "control " + o.Control
	}
	return decimal(o.Number)
}

// String says the group in words, its alternatives joined by "or".
func (g Group) String() string {
	words := make([]string, len(g))
	for i, b := range g {
		words[i] = b.String()
	}
	return strings.Join(words, " or ")
}

// String says the gate in words, its groups joined by "and".
func (g Gate) String() string {
	words := make([]string, len(g))
	for i, group := range g {
		words[i] = group.String()
		if len(group) > 1 && len(g) > 1 {
			words[i] = "(" + words[i] + ")"
		}
	}
	return strings.Join(words, " and ")
}

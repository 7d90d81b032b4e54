package probes

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	longestLabel = 120 // bytes of a label's value that are kept
	longestText  = 240 // bytes of a foreign sentence that are kept
)

// printable makes foreign text one short line: control characters, escapes, C1 and
// bidirectional overrides become visible, and what is too long is cut with a mark.
func printable(text string, longest int) string {
	text = strings.TrimSpace(text)
	cut := len(text) > longest
	if cut {
		text = cutAtRune(text, longest)
	}
	if !plain(text) {
		text = escape(text)
	}
	if cut {
		text += "…"
	}
	return text
}

func cutAtRune(text string, at int) string {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at]
}

func plain(text string) bool {
	for _, r := range text {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

// escape is strconv.Quote without the quotes around it and without touching the
// quotes inside.
func escape(text string) string {
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func printableAll(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, printable(text, longestText))
	}
	return out
}

// seriesName writes labels as PromQL would, sorted by name: `up{job="a"}`, or "{}"
// when there are none. A long value is cut, with its length in its place, so that two
// values of different length never look the same.
func seriesName(labels map[string]string) string {
	names := make([]string, 0, len(labels))
	for name := range labels {
		if name != "__name__" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(printable(labels["__name__"], longestLabel))
	if b.Len() > 0 && len(names) == 0 {
		return b.String()
	}
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(labelName(name))
		b.WriteByte('=')
		b.WriteString(labelValue(labels[name]))
	}
	b.WriteByte('}')
	return b.String()
}

func labelName(name string) string {
	if len(name) > longestLabel {
		return labelValue(name)
	}
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return labelValue(name)
		}
	}
	return name
}

func labelValue(value string) string {
	if len(value) <= longestLabel {
		return strconv.Quote(value)
	}
	return strconv.Quote(cutAtRune(value, longestLabel)) + "…" + strconv.Itoa(len(value))
}

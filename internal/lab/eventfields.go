package lab

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// EventField is one key of an event that stands in another file than a scenario's.
// Line and column are those of its value, counted from 1.
type EventField struct {
	Key, Value   string
	Line, Column int
}

// ParseEvent reads an event without its time from its keys, as they stand in a file at
// line and column. The error is Mistakes, all that could be found.
func ParseEvent(file string, line, column int, kind EventKind, fields []EventField) (Event, error) {
	d := &scenarioReader{file: file}
	at := tokenAt("event", line, column)
	mapping := ast.Mapping(at, true)
	put := func(key, value string, line, column int) {
		k, v := tokenAt(key, line, column), tokenAt(value, line, column)
		mapping.Values = append(mapping.Values, ast.MappingValue(at, ast.String(k), ast.String(v)))
	}
	put("at", clockTime(caseBegins), line, column)
	put("event", string(kind), line, column)
	for _, f := range fields {
		put(f.Key, f.Value, f.Line, f.Column)
	}
	e := d.event(mapping)
	if len(d.mistakes) > 0 {
		return Event{}, d.mistakes.sorted()
	}
	e.At = 0
	return e, nil
}

func tokenAt(text string, line, column int) *token.Token {
	return token.New(text, text, &token.Position{Line: line, Column: column})
}

// EventKinds are the words for what can happen, in the order of the alphabet.
func EventKinds() []string { return eventKinds() }

// EventKeys are what a kind of event takes beside its time, needed ones first.
func EventKeys(kind EventKind) []string {
	var keys []string
	for _, key := range eventKeys[kind] {
		keys = append(keys, strings.TrimSuffix(key, "?"))
	}
	return slices.Clip(keys)
}

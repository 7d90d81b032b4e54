package gameday

import (
	"encoding/json"
	"strings"

	"github.com/rewarm/rewarm/runbook"
)

// counter counts the records that a measure is on.
type counter struct {
	measure *runbook.Measure
	n       int
	ended   bool // what they must come before has come
}

func newCounter(m *runbook.Measure) *counter { return &counter{measure: m} }

// take looks at one record.
func (c *counter) take(kind string, body json.RawMessage) {
	m := c.measure.Records
	if before := m.Before; before != nil && !c.ended {
		c.ended = before.Kind == kind && matches(before.Where, body)
	}
	if !c.ended && m.Kind == kind && matches(m.Where, body) {
		c.n++
	}
}

func (j *judge) count(m *runbook.Measure) float64 {
	for _, c := range j.counters {
		if c.measure == m {
			return float64(c.n)
		}
	}
	return 0
}

// countEvent counts what the day itself has done.
func (j *judge) countEvent(e Event) {
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	for _, c := range j.counters {
		c.take(KindEvent, body)
	}
}

// matches reports whether all fields have their values. A field that a record leaves out
// is false, 0 or empty.
func matches(where map[string]string, body json.RawMessage) bool {
	if len(where) == 0 {
		return true
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return false
	}
	for path, want := range where {
		got, there := fieldText(fields, path)
		if there && got != want || !there && want != "false" && want != "0" {
			return false
		}
	}
	return true
}

// fieldText is the value at a path of names with dots between them.
func fieldText(fields map[string]any, path string) (string, bool) {
	name, rest, deeper := strings.Cut(path, ".")
	value, there := fields[name]
	if !there || value == nil {
		return "", false
	}
	if inner, ok := value.(map[string]any); deeper && ok {
		return fieldText(inner, rest)
	}
	if text, ok := value.(string); ok {
		return text, true
	}
	text, err := json.Marshal(value)
	return string(text), err == nil
}

package lab

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// append writes an answer as Prometheus' HTTP interface spells it. It is
// written by hand because a gate asks many queries a second.
func (e *evaluated) append(b []byte, query string) []byte {
	b = append(b, `{"status":"success","data":{"resultType":"`...)
	b = append(b, e.value.Type()...)
	b = append(b, `","result":`...)
	switch v := e.value.(type) {
	case promql.Scalar:
		b = appendPoint(b, v.T, v.V)
	case promql.String:
		b = append(appendTime(append(b, '['), v.T), ',')
		b = append(appendString(b, v.V), ']')
	case promql.Vector:
		b = appendVector(b, v)
	case promql.Matrix:
		b = appendMatrix(b, v)
	}
	b = append(b, '}')
	warnings, infos := e.warnings.AsStrings(query, 10, 10)
	b = appendNotes(b, "warnings", warnings)
	b = appendNotes(b, "infos", infos)
	return append(b, '}')
}

func appendVector(b []byte, v promql.Vector) []byte {
	b = append(b, '[')
	for i, s := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendMetric(b, s.Metric), `,"value":`...)
		b = append(appendPoint(b, s.T, s.F), '}')
	}
	return append(b, ']')
}

func appendMatrix(b []byte, m promql.Matrix) []byte {
	b = append(b, '[')
	for i, s := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendMetric(b, s.Metric), `,"values":[`...)
		for j, p := range s.Floats {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendPoint(b, p.T, p.F)
		}
		b = append(b, "]}"...)
	}
	return append(b, ']')
}

// appendMetric opens an object with a series' labels.
func appendMetric(b []byte, l labels.Labels) []byte {
	b = append(b, `{"metric":{`...)
	first := true
	l.Range(func(l labels.Label) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, l.Name), ':')
		b = appendString(b, l.Value)
	})
	return append(b, '}')
}

func appendPoint(b []byte, ms int64, value float64) []byte {
	b = append(appendTime(append(b, '['), ms), `,"`...)
	switch {
	case math.IsInf(value, 1):
		b = append(b, "+Inf"...)
	case value == 0 || 1e-6 <= math.Abs(value) && math.Abs(value) < 1e21 || math.IsInf(value, -1) || math.IsNaN(value):
		b = strconv.AppendFloat(b, value, 'f', -1, 64)
	default:
		b = strconv.AppendFloat(b, value, 'e', -1, 64)
	}
	return append(b, `"]`...)
}

// appendTime writes milliseconds as seconds, with a fraction only where there is one.
func appendTime(b []byte, ms int64) []byte {
	if ms < 0 {
		b = append(b, '-')
		ms = -ms
	}
	b = strconv.AppendInt(b, ms/1000, 10)
	if part := ms % 1000; part > 0 {
		b = append(b, '.', byte('0'+part/100), byte('0'+part/10%10), byte('0'+part%10))
	}
	return b
}

// appendString writes a JSON string.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' || s[i] == '<' || s[i] == '>' || s[i] == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings always encode
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendNotes writes annotations in the order of their words; the engine has them in none.
func appendNotes(b []byte, name string, notes []string) []byte {
	if len(notes) == 0 {
		return b
	}
	slices.Sort(notes)
	b = append(b, `,"`+name+`":[`...)
	for i, n := range notes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, n)
	}
	return append(b, ']')
}

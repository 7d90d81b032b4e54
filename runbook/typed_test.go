package runbook

import (
	"strings"
	"testing"
)

// TestParseValue: a value that a person types has its unit where another could be meant.
func TestParseValue(t *testing.T) {
	for _, test := range []struct {
		unit, text string
		want       float64
		wrong      string
	}{
		{unit: "s", text: "400ms", want: 0.4},
		{unit: "s", text: "1m30s", want: 90},
		{unit: "s", text: "400", wrong: `"400" has no unit, and p is in s`},
		{unit: "ratio", text: "97%", want: 0.97},
		{unit: "ratio", text: "97", wrong: "has no unit"},
		{unit: "percent", text: "97%", want: 97},
		{unit: "attempts/s", text: "1800", want: 1800},
		{unit: "attempts/s", text: "1800 attempts/s", want: 1800},
		{unit: "attempts/s", text: "1800 leaders", wrong: "does not fit"},
		{unit: "attempts/s", text: "-1", wrong: "-1"},
		{unit: "attempts/s", text: "NaN", wrong: "NaN"},
		{unit: "attempts/s", text: "017", wrong: "octal"},
		{unit: "attempts/s", text: "", wrong: "number"},
	} {
		got, err := (&Probe{Name: "p", Unit: test.unit}).ParseValue(test.text)
		switch {
		case test.wrong == "" && (err != nil || got != test.want):
			t.Errorf("%q in %s: %v, %v; want %v", test.text, test.unit, got, err, test.want)
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%q in %s: error %v, want one with %q", test.text, test.unit, err, test.wrong)
		}
	}
}

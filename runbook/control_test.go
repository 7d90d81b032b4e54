package runbook

import (
	"errors"
	"math"
	"testing"
)

// TestControlParse reads values as people type them.
func TestControlParse(t *testing.T) {
	rate := &Control{Name: "admission", Kind: Rate, Unit: "attempts/s", Min: 400, Max: 4000}
	bare := &Control{Name: "workers", Kind: Count, Max: math.Inf(1)}
	share := &Control{Name: "retries", Kind: Percent, Max: 20}
	ttl := &Control{Name: "ttl", Kind: Duration, Max: 120}
	jobs := &Control{Name: "jobs", Kind: Switch}
	list := &Control{Name: "blocked", Kind: List}
	tests := []struct {
		control *Control
		text    string
		want    string // as Format writes it; the error when refused
		refused bool
	}{
		{rate, "3200", "3200 attempts/s", false},
		{rate, "3200 attempts/s", "3200 attempts/s", false},
		{rate, "3200 reads/s", `control admission: unit "reads/s" does not fit control admission, which is in "attempts/s" (write it in the unit of the control)`, true},
		{rate, "4001", "control admission: 4001 attempts/s is above the maximum of 4000 attempts/s (write a value from 400 attempts/s to 4000 attempts/s)", true},
		{rate, "unlimited", "control admission: unlimited is not a value that can be written (only absent may say it)", true},
		{rate, "", `control admission: "" is not a number (write a number like 3200 or 0.5)`, true},
		{rate, "\x1b[31m", `control admission: "\x1b[31m" is not a number (write a number like 3200 or 0.5)`, true},
		{bare, "5", "5", false},
		{bare, "5 jobs", `control workers: unit "jobs" does not fit control workers, which is in no unit (write it in the unit of the control)`, true},
		{bare, "5.5", "control workers: 5.5 is not a whole number (write a whole number)", true},
		{share, "10", "10%", false},
		{share, "10%", "10%", false},
		{share, "0.1 ratio", "10%", false},
		{ttl, "2m", "120s", false},
		{ttl, "1500ms", "1.5s", false},
		{ttl, "0s", "0s", false},
		{ttl, "90", `control ttl: "90" is a duration without a unit (write 90s or 90ms)`, true},
		{jobs, "off", "off", false},
		{jobs, "no", `control jobs: a switch is on or off, not "no" (write off)`, true},
		{jobs, "0", `control jobs: a switch is on or off, not "0" (write on or off)`, true},
		{list, "a, b", `["a","b"]`, false},
		{list, `["a b","c"]`, `["a b","c"]`, false},
		{list, "", "[]", false},
		{list, "[1]", `control blocked: "[1]" is not a list of texts (write a list like ["a","b"])`, true},
		{list, "[null", `control blocked: "[null" is not a list of texts (write a list like ["a","b"])`, true},
		{list, `["\u001b"]`, `control blocked: item "\x1b" has the character U+001B (leave it out)`, true},
	}
	for _, test := range tests {
		v, err := test.control.Parse(test.text)
		got := test.control.Format(v)
		var bad *BadValue
		if errors.As(err, &bad) {
			got = bad.Error() + " (" + bad.WayOut() + ")"
		}
		if got != test.want || (err != nil) != test.refused {
			t.Errorf("%s %q\ngot  %s\nwant %s", test.control.Name, test.text, got, test.want)
		}
	}
}

func TestDocumentFindsByName(t *testing.T) {
	d := mustParse(t, spliceAt(t, "expand", "- {step: look, when: [{probe: offered, at_most: 1}]}").source, nil)
	if d.Step("look") == nil || d.Control("routing.cell-c") == nil || d.Probe("offered") == nil || d.Figure("knee") == nil {
		t.Error("a declared name is not found")
	}
	if d.Step("x") != nil || d.Control("routing.${cell}") != nil || d.Probe("x") != nil || d.Figure("x") != nil {
		t.Error("an undeclared name is found")
	}
	if Problems(nil).Err() != nil || (Problems{{}}).Err() == nil {
		t.Error("problems are an error when there are some")
	}
}

func TestFormatQuantity(t *testing.T) {
	tests := []struct {
		number float64
		unit   string
		want   string
	}{
		{3200, "attempts/s", "3200 attempts/s"}, {10, "%", "10%"}, {10, "percent", "10%"}, {0.95, "ratio", "0.95"},
		{50, "", "50"}, {60, "s", "60s"}, {0.8, "s", "800ms"}, {2.7, "s", "2.7s"}, {0, "s", "0s"}, {250, "ms", "250ms"},
		{512, "MiB", "512 MiB"}, {math.Inf(1), "s", "+Infs"}, {-0.5, "s", "-0.5s"},
	}
	for _, test := range tests {
		if got := FormatQuantity(test.number, test.unit); got != test.want {
			t.Errorf("%v in %q is %q, want %q", test.number, test.unit, got, test.want)
		}
	}
}

package actions

import "testing"

// TestShown reads values as the sentences about a flip write them.
func TestShown(t *testing.T) {
	tests := []struct{ raw, unit, want string }{
		{"0.3", "s", "300ms"}, {"120", "s", "120s"}, {"10", "%", "10%"}, {"3200", "attempts/s", "3200 attempts/s"},
		{"5", "", "5"}, {"off", "", "off"}, {"top-10", "", "top-10"}, {`["a"]`, "", `"[\"a\"]"`},
		{"4000\x1b[2J", "attempts/s", `"4000\x1b[2J"`}, {"", "s", `""`}, {"on\u202e", "", `"on\u202e"`},
	}
	for _, test := range tests {
		if got := (Plan{Unit: test.unit}).shown(&test.raw); got != test.want {
			t.Errorf("%q in %q is %s, want %s", test.raw, test.unit, got, test.want)
		}
	}
	if got := (Plan{}).shown(nil); got != "no value" {
		t.Errorf("a missing field is %s", got)
	}
}

package steps

import "testing"

// TestGoOn: nothing is told to resume that cannot be resumed.
func TestGoOn(t *testing.T) {
	for want, begun := range map[string]Begun{
		"rewarm resume RUN": {Run: "RUN"},
		"start again with rewarm demo: the lab ended with this one":        {Run: "RUN", Lab: true},
		"start again with rewarm gameday run: the lab ended with this one": {Run: "RUN", Lab: true, Again: "rewarm gameday run"},
	} {
		if got := (&State{Begun: begun}).goOn(); got != want {
			t.Errorf("%+v: go on with %q, want %q", begun, got, want)
		}
	}
}

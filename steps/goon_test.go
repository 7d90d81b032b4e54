package steps

import "testing"

// TestGoOn: nothing is told to resume that cannot be resumed.
func TestGoOn(t *testing.T) {
	for lab, want := range map[bool]string{
		false: "rewarm resume RUN",
		true:  "start again with rewarm demo: the lab ended with this one",
	} {
		s := &State{Begun: Begun{Run: "RUN", Lab: lab}}
		if got := s.goOn(); got != want {
			t.Errorf("lab %v: go on with %q, want %q", lab, got, want)
		}
	}
}

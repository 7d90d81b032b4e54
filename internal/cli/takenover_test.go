package cli

import (
	"strings"
	"testing"
	"time"
)

// TestARunThatWasTakenOverOwesNothing: also one whose log does not know it, as its process was gone by then.
func TestARunThatWasTakenOverOwesNothing(t *testing.T) {
	state := stretched(t)
	now := state.LastAt.Add(time.Minute)
	over := &takenOver{run: "NEXT", sentence: "run NEXT has taken over: ana on ops-2, at noon: nobody answers"}
	text := standing{state: state, now: now, past: true, over: over}.text(200)
	for _, want := range []string{"undo not made: leaders-per-cell: ", "; run NEXT took over before\n",
		"TAKEN OVER: run NEXT has taken over: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, never := range []string{"undo waits", "blocks:", "may:", "costs:"} {
		if strings.Contains(text, never) {
			t.Errorf("%q in:\n%s", never, text)
		}
	}
	p := newProgram(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, madeUp(nil))
	s := p.statusOf(state, false).after(over, state)
	if s.TakenBy != "NEXT" || s.Undos != nil || len(s.NotMade) != 1 ||
		s.NotMade[0].NotMade != "run NEXT took over before" {
		t.Errorf("status %+v", s)
	}
}

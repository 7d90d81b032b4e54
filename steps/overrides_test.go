package steps

import "testing"

// TestAnAbortNamesTheHand: a value that a hand wrote is the hand's, also when a person gives the walk up between the
// poll that saw it and the judgement on it.
func TestAnAbortNamesTheHand(t *testing.T) {
	w := newWalker(t, mustParse(t, incident))
	w.quiet = true
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	if err := w.walk(duration("5s")); err != nil {
		t.Fatal(err)
	}
	w.redis.edit("admission", "4000")
	state := w.machine.State()
	for range mostMoves {
		if _, err := w.step(w.clock.now.Add(lookAgain)); err != nil {
			t.Fatal(err)
		}
		if raw := state.Control("admission").Raw; raw != nil && *raw == "4000" {
			break
		}
	}
	seen := w.clock.now
	if state.drifts["admission"] != nil {
		t.Fatal("it is judged already")
	}
	if err := w.machine.Order(Order{Kind: OrderAbort, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	if err := w.walk(duration("5s")); err != nil {
		t.Fatal(err)
	}
	for _, o := range state.Overrides() {
		if o.Control == "admission" && o.By == byHand && o.Since.Equal(seen) {
			return
		}
	}
	t.Errorf("the hand is not named: %+v", state.Overrides())
}

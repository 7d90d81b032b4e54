package steps

import (
	"testing"
	"time"
)

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

// TestAnIncidentIsOlder: what earlier runs have left first tells how much older the incident is than the run.
func TestAnIncidentIsOlder(t *testing.T) {
	began := time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)
	s := &State{Doc: mustParse(t, incident), BegunAt: began, controls: map[string]*ControlState{}, steps: map[string]*StepState{}}
	if _, _, older := s.FoundLeft(); older {
		t.Error("nothing was left, and the incident is older")
	}
	s.takeOver(Left{Control: "admission", Run: "second", Since: began.Add(-time.Minute)})
	s.takeOver(Left{Control: "stale", Run: "first", Since: began.Add(-4 * time.Minute)})
	if left, before, older := s.FoundLeft(); !older || left.Run != "first" || before != 4*time.Minute {
		t.Errorf("older %v by %s, left by %s", older, before, left.Run)
	}
}

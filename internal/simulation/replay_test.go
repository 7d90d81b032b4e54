package simulation

import (
	"testing"

	"github.com/rewarm/rewarm/steps"
)

// TestReplayByTheSameRunbook judges what simulated runs observed again by their own runbooks: every gate passes by
// the very observation by which it did, whatever went wrong meanwhile.
func TestReplayByTheSameRunbook(t *testing.T) {
	gates, passed := 0, 0
	for seed := range *seeds / 50 {
		w, err := newWorld(Draw(*first+seed), warp{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.play(); err != nil {
			t.Fatal(err)
		}
		for _, g := range replayed(t, w) {
			gates++
			if !g.Recorded.Never() {
				passed++
			}
			if g.Recorded.At != g.Would.At || g.RecordedVerdict != g.WouldVerdict || g.After {
				t.Errorf("seed %d: %s from %q to %q: recorded %+v %s, would %+v %s, after %v", *first+seed, g.Gate, g.From, g.To,
					g.Recorded, g.RecordedVerdict, g.Would, g.WouldVerdict, g.After)
			}
		}
	}
	if passed == 0 {
		t.Error("no gate passed")
	}
	t.Logf("%d gates, %d of them passed", gates, passed)
}

func replayed(t *testing.T, w *world) []steps.Replayed {
	t.Helper()
	state, err := steps.Fold(w.disk.records())
	if err != nil {
		t.Fatal(err)
	}
	r := steps.NewReplay(state.Doc)
	for record, err := range w.disk.records() {
		if err != nil {
			t.Fatal(err)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Follow(record, body); err != nil {
			t.Fatal(err)
		}
	}
	return r.Gates()
}

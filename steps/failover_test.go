package steps

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/rewarm/rewarm/actions/controls"
)

// stepOver makes one move, with a replica that has everything but the flip that it makes.
func (w *walker) stepOver(t *testing.T) (flipped bool) {
	t.Helper()
	move := Next(w.machine.State(), w.clock.now)
	apply, isFlip := move.(ApplyFlip)
	if isFlip {
		w.redis.replicate()
	}
	if _, err := w.step(w.clock.now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return isFlip && !apply.Planned.Plan.Nothing()
}

// lossNamed reports whether the log names a control that Redis has lost.
func (w *walker) lossNamed(control string) bool {
	return slices.ContainsFunc(w.drifts(control), func(d DriftDecision) bool { return d == DriftLost || d == DriftReverted })
}

// TestAFailoverAfterEachFlip loses each acknowledged flip of a whole incident, right after
// it was settled and after the next polls. Each loss is named, and in the end the controls
// are those of the walk that nobody disturbed.
//
// https://github.com/redis/redis/issues/6062
// https://github.com/dapr/dapr/issues/7291
func TestAFailoverAfterEachFlip(t *testing.T) {
	whole := closedWalk(t)
	want := whole.redis.values()
	for n := range whole.redis.writes {
		for _, later := range []time.Duration{0, 2500 * time.Millisecond} {
			t.Run(fmt.Sprintf("flip %d after %s", n, later), func(t *testing.T) {
				w := incidentWalker(t)
				if err := w.begin(""); err != nil {
					t.Fatal(err)
				}
				for len(w.redis.writes) <= n {
					w.stepOver(t)
				}
				lost := w.redis.writes[n].Control
				if err := w.walk(later); err != nil {
					t.Fatal(err)
				}
				moved := len(w.redis.writes) > n+1 // then the replica lacks more than one
				w.redis.failOver()
				w.mustClose(t)
				if got := w.redis.values(); got != want {
					t.Errorf("controls %s, want %s", got, want)
				}
				if !moved && !w.lossNamed(lost) {
					t.Errorf("the log does not name the loss of %s", lost)
				}
			})
		}
	}
}

// What is lost between the last poll and the end is found by the look before closing.
func TestALossAtTheLastMomentIsFoundBeforeClosing(t *testing.T) {
	w := incidentWalker(t)
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	closing := func() bool {
		move, ok := Next(w.machine.State(), w.clock.now).(Write)
		return ok && move.Kind == KindClosed
	}
	for !closing() {
		w.stepOver(t)
	}
	before := w.redis.values()
	w.redis.failOver()
	if w.redis.values() == before {
		t.Fatal("nothing was lost")
	}
	if _, err := w.machine.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.machine.State().Ending != "" {
		t.Fatal("the run has closed on a value that redis does not hold")
	}
	w.mustClose(t)
	if got := w.redis.values(); got != before {
		t.Errorf("controls %s, want %s", got, before)
	}
}

// TestAReadBackDoesNotSayWhoWroteIt: in a failover the answer that a flip was made may come from one node and what is
// read back from another, which never had it. Whether it was lost or a hand has changed it, its meta tells at the next poll.
func TestAReadBackDoesNotSayWhoWroteIt(t *testing.T) {
	w := newWalker(t, mustParse(t, incident))
	w.quiet = true
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	if err := w.walk(duration("3s")); err != nil {
		t.Fatal(err)
	}
	s := w.machine.State()
	flip, older := s.latestFlip(), "older"
	body := &Settled{Target: flip.Target, Plan: flip.Plan, Digest: flip.Digest, Result: ResultApplied, Version: flip.Version + 1, Seen: true, Found: &older}
	if err := s.settled(body); err != nil {
		t.Fatal(err)
	}
	if move, isWrite := Next(s, w.clock.now).(Write); isWrite && move.Kind == KindDrifted {
		t.Errorf("it is taken for the work of a hand: %+v", move.Body)
	}
	if blocker := (&next{s: s, doc: s.Doc, now: w.clock.now}).blocker(); !strings.Contains(blocker, "who has moved it is still to be read") {
		t.Errorf("releases wait for %q", blocker)
	}
}

// TestANodeThatLagsIsNoHand: while Redis fails over, the first answer can come from a node that lags far behind, and the
// next from the one that is promoted, which lacks less. What is there then is this run's own flip and nobody's loosening.
//
// https://github.com/redis/redis/issues/6062
func TestANodeThatLagsIsNoHand(t *testing.T) {
	want := closedWalk(t).redis.values()
	w := incidentWalker(t)
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	lagging := w.nodeBefore(t, "routing", "50")
	promoted := w.nodeBefore(t, "routing", "100")
	for _, node := range []*miniredis.Miniredis{lagging, promoted} {
		w.redis.replica = node
		w.redis.failOver()
		if err := w.walk(2 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	decisions := w.drifts("routing")
	if !slices.Contains(decisions, DriftReverted) || !slices.Contains(decisions, DriftReturned) || slices.Contains(decisions, DriftHolds) {
		t.Errorf("drifts of routing: %q", decisions)
	}
	w.mustClose(t)
	if got := w.redis.values(); got != want {
		t.Errorf("controls %s, want %s", got, want)
	}
}

// nodeBefore walks until a control has a value, and gives a node with all that there was before that flip.
func (w *walker) nodeBefore(t *testing.T, control, value string) *miniredis.Miniredis {
	t.Helper()
	for {
		node := miniredis.NewMiniRedis()
		copyKeys(w.redis.server, node)
		w.stepOver(t)
		if w.redis.server.HGet(controls.Keys(serviceName).Controls, control) == value {
			return node
		}
	}
}

// drifts gives what was decided of a control that moved.
func (w *walker) drifts(control string) (decisions []DriftDecision) {
	for _, r := range w.journal.records {
		body, err := DecodeBody(r.Kind, r.Body)
		if d, ok := body.(*Drifted); err == nil && ok && d.Control == control {
			decisions = append(decisions, d.Decision)
		}
	}
	return decisions
}

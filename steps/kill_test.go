package steps

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// incident is a whole recovery in little: a call, brakes with something owed, warming, a
// ladder and a restore.
const incident = `
defaults: {every: 1s, passes: 2, timeout: 20s, stale_after: 5s, approval: {protect: none, release: one}}
controls:
  admission: {kind: rate, unit: attempts/s, min: 100, max: 10000, absent: unlimited, steady: 3200, protects: lower, temporary: false}
  stale: {kind: duration, max: 120s, absent: 10s, steady: 10s, protects: higher, review: 30m}
  jobs: {kind: switch, absent: on, steady: on, protects: off}
  prewarm: {kind: rate, unit: attempts/s, max: 3200, absent: 0, steady: 0, protects: lower, dead_man: 0}
  routing: {kind: percent, absent: 100, steady: 100, protects: lower}
exit: {intervals: 2, interval: 2s, when: [{probe: demand, at_most: 2000}]}
guards:
  - {probe: peak, at_most: 4000, from: rank-warmth, to: restore, passes: 2, otherwise: {flip: {control: prewarm, to: 0}}}
stages:
  declare-mode:
    - step: freeze
      call: {do: [deployctl, freeze], undo: [deployctl, thaw]}
  protect-origin:
    - step: admission
      flip: {control: admission, to: 3200}
      expect: [{probe: peak, at_most: {control: admission}}]
      if_unmet: {to: 1600, after: 10s}
    - step: route
      flip: {control: routing, to: 0%}
    - step: jobs
      when: [{probe: demand, above: 0}]
      flip: {control: jobs, to: off}
  preserve-stale:
    - step: stale
      flip: {control: stale, to: 120s}
      expect: [{probe: errors, at_most: 0.1}]
      undo_if: [{probe: forbidden, above: 0}]
  rank-warmth:
    - step: warm
      when: [{probe: queue, at_most: 500ms}]
      flip: {control: prewarm, to: 1000}
      expect: [{probe: queue, at_most: 500ms}]
  expand:
    - step: back
      when: [{probe: predicted, at_most: 3000}]
      flip: {control: routing, through: [50%, 100%]}
      expect: [{probe: errors, at_most: 0.1}]
  restore:
    - step: lift
      restore: {order: [prewarm, stale]}
      when: [{probe: queue, at_most: 500ms}]
      expect: [{probe: queue, at_most: 500ms}]
`

func incidentWalker(t tester) *walker {
	w := newWalker(t, mustParse(t, incident))
	w.autoCalls, w.quiet = true, true
	w.signal("peak").set(point{at: start, values: []float64{2000}})
	w.signal("demand").set(point{at: start.Add(-time.Minute), values: []float64{500}})
	return w
}

func closedWalk(t *testing.T) *walker {
	w := incidentWalker(t)
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	w.mustClose(t)
	return w
}

func (w *walker) mustClose(t tester) {
	t.Helper()
	if err := w.walk(10 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if w.ended != EndedClosed {
		s := w.machine.State()
		t.Fatalf("it did not close, %s: stage %s, holds %v, blocking %+v", w.since(), s.Stage, s.Holds(), Next(s, w.clock.now))
	}
}

// TestFoldIsTheWalk folds the records anew after every one of them.
func TestFoldIsTheWalk(t *testing.T) {
	w := incidentWalker(t)
	if err := w.begin(""); err != nil {
		t.Fatal(err)
	}
	for w.ended == "" {
		before := len(w.journal.records)
		if _, err := w.step(w.clock.now.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if len(w.journal.records) > before {
			sameFold(t, w.journal, w.machine.State())
		}
	}
}

// TestKilledAnywhere kills the walk at every record of a whole incident, before and after
// it is written, and resumes it. However it was killed, no flip goes without its intent
// (the Redis of the test insists on it), nothing is released twice without its gate, and
// in the end the controls are those of the walk that nobody disturbed.
//
// https://github.com/StackStorm/st2/issues/4716
// https://github.com/hiero-ledger/solo/issues/4699
// https://github.com/xataio/pgroll/issues/468
func TestKilledAnywhere(t *testing.T) {
	whole := closedWalk(t)
	want, length := whole.redis.values(), len(whole.journal.records)
	for at := 2; at <= length; at++ {
		for _, after := range killings(whole.journal.records[at-1].Kind) {
			t.Run(fmt.Sprintf("record %d after=%v", at, after), func(t *testing.T) {
				w := incidentWalker(t)
				w.journal.killAt, w.journal.killAfter = at, after
				err := w.begin("")
				if err == nil {
					err = w.walk(10 * time.Minute)
				}
				if !errors.Is(err, errKilled) {
					t.Fatalf("it was to be killed, and ended with %v", err)
				}
				w.goOn(t)
				if got := w.redis.values(); got != want {
					t.Errorf("controls %s, want %s", got, want)
				}
			})
		}
	}
}

// killings: before a record is written is after the one before it and whatever that
// led to; only where something outside follows does the moment between matter.
func killings(kind Kind) []bool {
	if kind == KindIntended || kind == KindCalled {
		return []bool{false, true}
	}
	return []bool{false}
}

// goOn resumes a walk that was killed and drives it to its end. A call whose outcome
// nobody knows is settled by a person.
func (w *walker) goOn(t *testing.T) {
	w.journal.killAt = 0
	w.clock.moveTo(w.clock.now.Add(3 * time.Second))
	if last := w.journal.records[len(w.journal.records)-1]; last.Kind == KindClosed {
		return
	}
	if err := w.resume(); err != nil {
		t.Fatal(err)
	}
	if err := w.walk(time.Second); err != nil {
		t.Fatal(err)
	}
	called := slices.ContainsFunc(w.machine.State().Holds(), func(h *HoldState) bool { return h.Cause == causeCall("freeze") })
	if called {
		if err := w.machine.Order(Order{Kind: OrderRelease, By: "ben"}); err != nil {
			t.Fatal(err)
		}
	}
	w.mustClose(t)
	sameFold(t, w.journal, w.machine.State())
}

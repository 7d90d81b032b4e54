//go:build !race

package lab

import (
	"testing"
	"time"
)

// lapsing lets the launch key lapse everywhere, and edits it, under some controls;
// it counts the most leaders that one cell has for it.
func lapsing(t *testing.T, controls map[string]string, events ...Event) (m *model, leaders int) {
	t.Helper()
	story := &Scenario{Events: append(events,
		Event{At: launch, Kind: Launch, Share: 0.28},
		Event{At: launch + 5*time.Second, Kind: Expire, Bucket: "top-1", Share: 1},
		Event{At: launch + 6*time.Second, Kind: EditHotKey})}
	s := newPaper()
	for control, value := range controls {
		s.set(control, value)
	}
	m = newModel(small(), story, 1, launch-5*time.Second)
	m.fleet.start(from(s))
	for m.time() < launch+12*time.Second {
		m.step(from(s))
		if err := m.check(); err != nil {
			t.Fatalf("at %s: %v", clockTime(m.time()), err)
		}
		leaders = max(leaders, m.cells[2].groups[0].coldLeaders)
	}
	return m, leaders
}

// Coalescing by the full identity takes a leader for each value; by the key alone
// it takes one for all, and hands most readers a value that is not theirs.
func TestCoalescingIdentity(t *testing.T) {
	asked := Event{At: launch - time.Second, Kind: Variants, Bucket: "top-1", Locales: 3, Classes: 2, Modes: 2}
	full, many := lapsing(t, nil, asked)
	key, few := lapsing(t, map[string]string{"coalescing.identity": "key"}, asked)
	if many < 200 || few > 48 || few < 20 {
		t.Errorf("%d leaders for twelve values in 24 domains, and %d for one key", many, few)
	}
	if full.mixed != [identityParts]int{} {
		t.Errorf("the full identity makes mistakes: %v", full.mixed)
	}
	for part, n := range key.mixed {
		if n < 100 {
			t.Errorf("%d readers get a value with another %s", n, partNames[part])
		}
	}
	if key.outcomes[failed] < full.outcomes[failed]+key.mixed[authorization] {
		t.Error("mistakes are no errors")
	}
}

// Without variants and edits, the key is the whole identity.
func TestTheKeyIsEnoughForOneValue(t *testing.T) {
	m, _ := lapsing(t, map[string]string{"coalescing.identity": "key"})
	if n := m.mixed; n[authorization]+n[freshness]+n[locale] != 0 || n[version] == 0 {
		t.Errorf("mistakes with one value that is edited: %v", n)
	}
}

// Shadows of the hottest key spread its reads, less evenly than placed copies do;
// each is refreshed by itself, and an edit misses some.
func TestShadowsOfTheHottestKey(t *testing.T) {
	shadows, many := lapsing(t, map[string]string{"hotkey.splits": "16"})
	copies, few := lapsing(t, map[string]string{"hotkey.copies": "16"})
	if shadows.spread >= copies.spread || shadows.spread < 4 {
		t.Errorf("16 shadows spread reads over %v nodes, 16 copies over %v", shadows.spread, copies.spread)
	}
	if many < 3*few {
		t.Errorf("%d leaders for four shadows a cell, and %d for one key", many, few)
	}
	edited(shadows)
	edited(copies)
	if shadows.unmarked < 1000 || copies.unmarked != 0 {
		t.Errorf("after edits %d reads get an outdated shadow, and %d an outdated copy", shadows.unmarked, copies.unmarked)
	}
}

// edited lets the hottest product be edited every six seconds for three minutes.
func edited(m *model) {
	obeyed := m.fleet.past(0)
	for i := range 180 * ticksPerSecond {
		if i%(6*ticksPerSecond) == 0 {
			m.editHotKey()
		}
		m.step(func() heard { return *obeyed })
	}
}

//go:build !race

package lab

import (
	"testing"
	"time"
)

// killed lets cell-c die, and other things happen, under some controls.
func killed(t *testing.T, spare float64, controls map[string]string, events ...Event) *model {
	t.Helper()
	story := &Scenario{Events: append([]Event{{At: launch, Kind: KillCell, Cell: "cell-c", Copies: true}}, events...)}
	s := newPaper()
	for control, value := range controls {
		s.set(control, value)
	}
	p := small()
	p.CellSpare = spare
	m := newModel(p, story, 1, launch-2*time.Second)
	m.fleet.start(from(s))
	for m.time() < launch+60*time.Second {
		m.step(from(s))
		if err := m.check(); err != nil {
			t.Fatalf("at %s: %v", clockTime(m.time()), err)
		}
	}
	return m
}

func (m *model) evicted() int {
	n := 0
	for _, c := range m.cells {
		n += c.evicted
	}
	return n
}

// The reads of a dead cell find nothing, unless its keys fail over.
func TestDeadCell(t *testing.T) {
	none := killed(t, 1.6, map[string]string{"origin.bypass": "off"})
	if n := none.cells[2].failures; n < 36_000*55 {
		t.Errorf("%d lookups fail in a minute without a cell for 36,000/s", n)
	}
	for _, to := range []string{"gutter", "survivors"} {
		m := killed(t, 1.6, map[string]string{"origin.bypass": "off", "cells.failover": to})
		if n := m.cells[2].failures; n != 0 {
			t.Errorf("%d lookups fail although keys go to the %s", n, to)
		}
		if n, limit := m.outcomes[failed]+m.outcomes[rejected], (none.outcomes[failed]+none.outcomes[rejected])/5; n > limit {
			t.Errorf("%d reads fail although keys go to the %s", n, to)
		}
	}
}

// The survivors have room for one lost cell; with less memory, or for two of them,
// they evict their own coldest values.
func TestSurvivorsEvict(t *testing.T) {
	survive := map[string]string{"cells.failover": "survivors", "prewarm.rate": "50000", "prewarm.bucket": "working-set"}
	if n := killed(t, 1.6, survive).evicted(); n != 0 {
		t.Errorf("%d values are evicted although there is room", n)
	}
	m := killed(t, 1.2, survive)
	if m.evicted() < 500 {
		t.Errorf("%d values are evicted for want of room", m.evicted())
	}
	if hot, cold := m.cells[0].groups[5], m.cells[0].groups[groupCount-1]; ratio(hot.warm(), hot.keys) < 0.9 || ratio(cold.warm(), cold.keys) > 0.8 {
		t.Errorf("%d of %d hot values are left, and %d of %d cold ones", hot.warm(), hot.keys, cold.warm(), cold.keys)
	}
	second := Event{At: launch + 10*time.Second, Kind: KillCell, Cell: "cell-a", Copies: true}
	if n := killed(t, 1.6, survive, second).evicted(); n < 500 {
		t.Errorf("%d values are evicted for a second cell", n)
	}
}

// Copies that are kept in the cells take their room, and go with them.
func TestCopiesInTheCell(t *testing.T) {
	inside := func(kept string) *model {
		return killed(t, 1.2, map[string]string{
			"stale.place": "cell", "stale.kept": kept, "stale.product-detail": "120", "cells.failover": "survivors", "leaders.region": "0",
		}, Event{At: launch + 5*time.Second, Kind: Expire, Bucket: "working-set", Share: 0.5, Copies: true})
	}
	if n := inside("300").cells[2].stales; n != 0 {
		t.Errorf("%d reads get a copy that died with its cell", n)
	}
	outside := killed(t, 1.6, map[string]string{"stale.product-detail": "120", "leaders.region": "0", "cells.failover": "survivors"})
	if n := outside.cells[2].stales; n < 1_000_000 {
		t.Errorf("%d reads get a copy that outlived its cell", n)
	}
	long, short := inside("300"), inside("2")
	if l, s := long.used(0), short.used(0); l < 1.5*s {
		t.Errorf("copies kept for five minutes take the cell to %v bytes, for two seconds to %v", l, s)
	}
}

// The gutter is small, its values live briefly, and no invalidation arrives there.
func TestGutter(t *testing.T) {
	m := killed(t, 1.6, map[string]string{"cells.failover": "gutter", "gutter.ttl": "20", "prewarm.rate": "50000", "prewarm.bucket": "working-set"})
	if used := m.bytesAt(gutter); used > m.gutterLimit() || used < 0.5*m.gutterLimit() {
		t.Errorf("the gutter holds %v bytes of %v", used, m.gutterLimit())
	}
	if m.evictedThere < 500 {
		t.Errorf("%d values are evicted from a gutter that is too small", m.evictedThere)
	}
	if m.evicted() != 0 {
		t.Errorf("%d values are evicted from the cells", m.evicted())
	}
	if m.unmarked == 0 {
		t.Error("no reader gets a value that an edit has overtaken")
	}
	back := Event{At: launch + 40*time.Second, Kind: ReviveCell, Cell: "cell-c"}
	if m := killed(t, 1.6, map[string]string{"cells.failover": "gutter"}, back); m.dead != 0 || m.bytesAt(gutter) != 0 || m.cells[2].generation != 2 {
		t.Errorf("after a revival %d cells are dead, the gutter holds %v bytes, generation %d", m.dead, m.bytesAt(gutter), m.cells[2].generation)
	}
}

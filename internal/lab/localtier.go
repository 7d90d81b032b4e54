package lab

// The process-local tier holds copies of promoted keys for local.ttl. A key is
// promoted where clients count it at PromoteAt reads a second or more, before the
// local lookup, so that promotion does not hide its own reason. It is demoted
// below half of that for DemoteAfter windows in a row. The hottest key is on a
// static list; nothing is counted while the detector is down. Past the size cap only the hottest keys are held, and
// where every answer must carry a current flag nothing is. While invalidations do not arrive
// everything is flushed, for a copy could be overtaken unnoticed.

// promotion is where a group of keys stands. All keys of a group are alike.
type promotion struct {
	reads    int // in this window of a second
	promoted bool
	news     int // windows until every process knows of the promotion
	low      int // windows in a row below half the threshold
}

// turn ends a window.
func (t *promotion) turn(m *model, g *group) {
	perKey := t.reads / g.keys
	t.reads = 0
	t.news = max(0, t.news-1)
	switch {
	case perKey >= m.p.PromoteAt:
		t.low = 0
		if !t.promoted {
			t.promoted, t.news = true, 1
		}
	case 2*perKey < m.p.PromoteAt:
		t.low++
		if t.low >= m.p.DemoteAfter {
			t.promoted = false
		}
	default:
		t.low = 0
	}
}

// held reports whether the processes hold a group's keys.
func (m *model) held(g *group) bool {
	switch {
	case m.orders.local <= 0 || m.current || m.second() < m.deafUntil || g.unknown():
		return false
	case g.rank == 0:
		return true
	}
	return g.tier.promoted && g.tier.news == 0
}

// localShare is the part of n lookups that find a copy in their own process: one
// lookup in each process and each life of a local copy does not.
func (m *model) localShare(g *group, n int) float64 {
	if m.second() >= m.blindUntil {
		g.tier.reads += n
	}
	if !m.held(g) {
		return 0
	}
	perSecond := float64(n*ticksPerSecond) / float64(g.keys) / float64(len(m.fleet.delays))
	expected := perSecond * m.orders.local
	return expected / (1 + expected) * min(1, float64(m.p.LocalKeys)/float64(m.promotedUpTo(g)))
}

// promotedUpTo is how many keys are held when those of a group are, hotter ones
// included. The hundred hottest keys are the same in every cell.
func (m *model) promotedUpTo(last *group) int {
	n := 0
	for _, g := range m.cells[0].groups[:last.rank+1] {
		if m.held(g) {
			n += g.keys
		}
	}
	return max(n, 1)
}

// localKeys is how many keys each process holds.
func (m *model) localKeys() int {
	n := 0
	for _, g := range m.cells[0].groups {
		if m.held(g) {
			n += g.keys
		}
	}
	return min(n, m.p.LocalKeys)
}

// staleBound is how old, in seconds, a value can be that a reader gets as fresh:
// the life of a local copy and the time that an invalidation takes to arrive.
func (m *model) staleBound() float64 {
	if m.localKeys() == 0 {
		return m.p.InvalidationDelay.Seconds()
	}
	return m.orders.local + m.p.InvalidationDelay.Seconds()
}

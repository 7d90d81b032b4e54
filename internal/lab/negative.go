package lab

import "math"

// Reads of keys that do not exist miss every time, for there is nothing to cache,
// unless the answer "there is none" is cached. Those answers live for negative.ttl,
// are not refreshed ahead of time, and leave no copy behind. A product that is
// created meanwhile is denied until its invalidation arrives, or the answer's life
// ends.

// unknownRank is the place of the keys that do not exist, behind the others.
const unknownRank = groupCount

// unknown reports whether the keys of a group do not exist.
func (g *group) unknown() bool { return g.rank == unknownRank }

// known are the groups of the keys that exist.
func (c *cell) known() []*group { return c.groups[:groupCount] }

// meetCrawler makes room for the keys that a crawler asks for.
func (m *model) meetCrawler() {
	if m.popular.unknownKeys == 0 {
		return
	}
	for i, c := range m.cells[:cellCount] {
		keys := max(1, m.popular.unknownKeys*m.p.Cells[i].Percent/100)
		if len(c.groups) == groupCount {
			g := m.newGroup(place{uint8(i), unknownRank}, newBarePool(m.life))
			g.life, g.answer = &m.denied, negative
			c.groups = append(c.groups, g)
		}
		c.groups[unknownRank].grow(keys - c.groups[unknownRank].keys)
	}
}

// underNegative is the life of an answer that there is no such key.
func (l life) underNegative(o *orders) life {
	l.untilDue = min(int(math.Ceil(o.negative)), int(l.soft))
	l.jitter = o.jitter
	return l
}

// longestUntilDue is the longest time until a refresh becomes due.
func (l life) longestUntilDue() int {
	shortest, spread := l.span()
	return shortest + spread
}

// deny keeps the answer that n keys do not exist, if such answers are cached.
func (m *model) deny(g *group, n int) int {
	n = min(n, g.bare)
	if m.denied.untilDue > 0 {
		g.bare -= n
		g.renew(n, m.second(), m.denied, m.random)
	}
	return n
}

// forget ends the life of answers at the start of a second. Products that were
// denied though they exist are unknown no more: an even part of them every second,
// for the answers about them were of all ages, and the last when theirs must end.
func (g *group) forget(second int) {
	slot := second % len(g.due)
	n := g.due[slot]
	g.due[slot] = 0
	g.fresh -= n
	g.bare += n
	left := max(1, g.wrongUntil-second)
	existing := max(min(n, (g.outdated+left-1)/left), g.outdated-g.fresh)
	g.outdated -= existing
	g.drop(existing)
}

// create makes products of so many unknown keys, which readers know as soon as
// nothing in the cache denies them.
func (m *model) create(keys int) {
	for i, c := range m.cells {
		if len(c.groups) == groupCount {
			continue
		}
		g := c.groups[unknownRank]
		n := min(keys*m.p.Cells[i].Percent/100, g.keys-1)
		denied := min(n*g.warm()/g.keys, g.warm()-g.outdated)
		g.revoke(n)
		if m.second() < m.deafUntil {
			g.outdated += denied
			g.wrongUntil = m.second() + m.denied.longestUntilDue()
		} else {
			m.removed[singleEdit] += g.invalidate(denied, m.random)
			g.drop(denied)
		}
		g.drop(n - denied)
	}
}

// grow adds n keys that have no value yet.
func (p *pool) grow(n int) {
	p.keys += max(0, n)
	p.bare += max(0, n)
}

// drop takes up to n bare keys out for good, but never the last key.
func (p *pool) drop(n int) {
	n = min(n, p.bare, p.keys-1)
	p.bare -= n
	p.keys -= n
}

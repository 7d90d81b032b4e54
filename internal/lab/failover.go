package lab

// A cell can die without another in its place. Its keys then lie nowhere, and each
// read of them fails there, or they fail over: onto the surviving cells, which have
// to make room for them, or into the gutter, a small spare pool where values live
// briefly and no invalidation arrives.

// failovers are where the keys of a dead cell go, the order of a choice.
var failovers = []string{"none", "gutter", "survivors"}

// host is where the keys of a cell lie.
type host uint8

const (
	home host = iota
	nowhere
	gutter
	survivors
)

// killCell takes a cell away, and a replacement beside it. Last-good copies outlive
// it where they lie elsewhere.
func (m *model) killCell(name string, copies bool) {
	i := cellIndex(name)
	if m.cells[i].host != home {
		return
	}
	if m.migration != nil && m.migration.home == i {
		m.endMigration(rolledBack)
	}
	m.dead++
	m.move(m.cells[i], nowhere, copies && !m.copiesInside())
}

// reviveCell puts an empty cell in the place of a dead one.
func (m *model) reviveCell(name string) {
	c := m.cells[cellIndex(name)]
	if c.host == home {
		return
	}
	m.dead--
	c.generation++
	m.move(c, home, !m.copiesInside())
}

// nowhere reports whether there is no place for the keys of a group.
func (m *model) nowhere(g *group) bool {
	return m.dead > 0 && m.cells[g.place.cell].host == nowhere
}

// move lets the keys of a cell lie elsewhere. Values do not move with them.
func (m *model) move(c *cell, to host, copies bool) {
	c.host = to
	for _, g := range c.groups {
		if !g.unknown() {
			g.life = m.lifeAt(to)
		}
		if copies {
			g.lose(m.second())
		} else {
			g.expire()
		}
	}
}

func (m *model) lifeAt(h host) *life {
	if h == gutter {
		return &m.brief
	}
	return &m.life
}

// inGutter is the life of values there.
func (l life) inGutter(o *orders) life {
	seconds := min(o.gutterTTL, l.soft)
	l.untilDue = max(1, int(seconds*(1-o.early)))
	l.dueToLapse = int(seconds * o.early)
	return l
}

// failOver lets the keys of dead cells lie where most processes look for them.
func (m *model) failOver() {
	to := nowhere
	switch {
	case m.orders.gutter > 0.5:
		to = gutter
	case m.orders.survive > 0.5 && m.dead < cellCount:
		to = survivors
	}
	m.brief = m.life.inGutter(m.orders)
	for _, c := range m.cells {
		if c.host != home && c.host != to {
			m.move(c, to, !m.copiesInside())
		}
	}
}

// findNoCell answers reads whose keys lie nowhere: with a last-good copy, or past
// the cache.
func (m *model) findNoCell(c *cell, g *group, n, again int) {
	stale := 0
	if !m.current {
		stale = g.stalePart.split(n+again, ratio(g.usable(), g.keys))
	}
	m.serveStale(g, stale, g.usable())
	c.failures += n
	g.retries.missed = 1
	m.goPast(g, n+again-stale, failed)
}

// bear gives the lookups of dead cells to the cells that answer them.
func (m *model) bear() {
	for _, c := range m.cells {
		if c.host == survivors {
			m.share(c.recent, func(s *cell) *int { return &s.recent })
			m.share(c.hottest, func(s *cell) *int { return &s.hottest })
		}
		if c.host != home {
			c.recent, c.hottest = 0, 0
		}
	}
}

// alive is the percent of the reads whose cell is there.
func (m *model) alive() int {
	percent := 0
	for i, c := range m.cells[:cellCount] {
		if c.host == home {
			percent += m.p.Cells[i].Percent
		}
	}
	return percent
}

// share adds n to a count of the surviving cells, by their shares of the reads.
func (m *model) share(n int, count func(*cell) *int) {
	total, before := m.alive(), 0
	for i, c := range m.cells[:cellCount] {
		if c.host == home {
			upTo := before + m.p.Cells[i].Percent
			*count(c) += n*upTo/total - n*before/total
			before = upTo
		}
	}
}

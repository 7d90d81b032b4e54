package lab

import "math"

// complete brings the answers of the origin back: to the cache, and to the reads
// that waited for them.
func (m *model) complete(b batch, age int) {
	m.observe(b, age)
	if b.kind == background || b.kind == startup {
		return
	}
	c := m.cells[b.cell]
	g := c.groups[b.group]
	m.end(fresh, b.readers)
	switch b.kind {
	case coldRefresh:
		m.settleCold(c, g, b.n)
	case earlyRefresh:
		c.leaders -= b.n
		g.earlyLeaders -= b.n
		g.renew(g.early.takeYoung(distinct(g.early.len(), b.n)), m.second(), m.life, m.rand.IntN)
	case prewarm:
		g.fetching -= b.n
		m.warm(g, b.n)
		if g.cold() == 0 {
			m.answerFollowers(g, 1)
		}
	}
}

// settleCold ends the refresh of cold keys by their leaders. Several domains may
// have asked for the same key; it is warmed once, and every follower of it has
// its value.
func (m *model) settleCold(c *cell, g *group, n int) {
	asked := distinct(g.cold(), g.coldLeaders)
	warmed := m.warm(g, distinct(g.cold(), n))
	c.leaders -= n
	g.coldLeaders -= n
	share := 1.0
	if asked > 0 && g.cold() > 0 {
		share = ratio(warmed, asked)
	}
	m.answerFollowers(g, share)
}

// warm makes n cold keys of a group fresh.
func (m *model) warm(g *group, n int) int {
	n = g.takeCold(n, &g.usablePart)
	g.renew(n, m.second(), m.life, m.rand.IntN)
	return n
}

// answerFollowers gives a share of the followers their value.
func (m *model) answerFollowers(g *group, share float64) {
	if g.following == 0 {
		return
	}
	for i := range g.followers {
		n := g.answerPart.split(g.followers[i], share)
		g.followers[i] -= n
		g.following -= n
		m.served += n
		m.end(fresh, n)
	}
}

// distinct is how many keys are hit when n attempts fall evenly on them: at
// least one, at most all.
func distinct(keys, n int) int {
	if n <= 1 || keys <= 1 {
		return min(n, keys)
	}
	if n < keys/50 {
		return n
	}
	hit := float64(keys) * -math.Expm1(float64(n)*math.Log1p(-1/float64(keys)))
	return max(1, min(n, int(math.Round(hit))))
}

// giveUp ends attempts for which nobody waits any longer.
func (m *model) giveUp(b batch, age int) {
	if b.kind == background || b.kind == startup {
		return
	}
	c := m.cells[b.cell]
	g := c.groups[b.group]
	switch b.kind {
	case coldRefresh:
		g.coldLeaders -= b.n
		c.leaders -= b.n
	case earlyRefresh:
		g.earlyLeaders -= b.n
		c.leaders -= b.n
	case prewarm:
		g.fetching -= b.n
	}
	if b.kind == coldRefresh || b.kind == earlyRefresh {
		m.refreshTimes.observe(seconds64(age), b.n)
	}
	m.fail(g, b.readers, failed)
}

// observe measures completed attempts.
func (m *model) observe(b batch, age int) {
	if b.kind == coldRefresh || b.kind == earlyRefresh {
		m.refreshTimes.observe(seconds64(age), b.n)
	}
	class := detailCost
	if m.origin.serviceTicks(b) > ticks(m.p.Service) {
		class = launchCost
	}
	// A loaded origin works more slowly on each of them.
	took := seconds64(m.origin.serviceTicks(b)) / m.origin.efficiency()
	m.serviceTimes[class].observe(took, b.n)
}

func seconds64(ticks int) float64 { return float64(ticks) * tickLength.Seconds() }

const (
	detailCost = iota
	launchCost
	costClasses
)

var costNames = [costClasses]string{"detail", "launch"}

package lab

import "math"

// complete brings the answers of the origin back: to the cache, and to the reads
// that waited for them.
func (m *model) complete(b batch, age int) {
	m.observe(b, age)
	if b.kind == background || b.kind == startup {
		return
	}
	c, g := m.at(b.of)
	m.end(g.answer, b.readers)
	switch b.kind {
	case coldRefresh:
		m.settleCold(c, g, b.n)
	case earlyRefresh:
		valid := b.n - m.refuseFills(g, b.n, g.earlyLeaders+g.coldLeaders)
		c.leaders -= b.n
		g.earlyLeaders -= b.n
		n := g.early.takeYoung(distinct(g.early.len(), valid))
		g.rewrite(n)
		g.renew(n, m.second(), *g.life, m.random)
		g.written(n, m.orders.readable)
	case prewarm:
		g.fetching -= b.n
		m.warm(g, b.n, m.worthPrewarming(g), 1)
		if m.wanting(g) == 0 {
			m.answerFollowers(g, 1)
		}
	}
}

// settleCold ends the refresh of cold keys by their leaders. Several domains may
// have asked for the same key; it is warmed once, and every follower of it has
// its value.
func (m *model) settleCold(c *cell, g *group, n int) {
	wanting := m.wanting(g)
	asked := distinct(wanting, g.coldLeaders)
	revoked := m.refuseFills(g, n, g.earlyLeaders+g.coldLeaders)
	warmed := m.warm(g, distinct(wanting, n-revoked), wanting, m.orders.readable)
	c.leaders -= n
	g.coldLeaders -= n
	share := 1.0
	if asked > 0 && m.wanting(g) > 0 {
		share = ratio(warmed, asked)
	}
	m.answerFollowers(g, share)
	m.misanswer(g, share, ratio(distinct(wanting, revoked), max(1, asked)))
}

// warm makes n keys fresh, out of those that were wanted: cold ones, and such as
// some process could not read. In a replacement a share of their writers use the
// new format.
func (m *model) warm(g *group, n, wanted int, inNew float64) int {
	if m.nowhere(g) {
		m.unfilled += n
		return 0
	}
	if g.unknown() {
		return m.deny(g, n)
	}
	readable := 0
	if wanted > g.cold() {
		readable = min(g.unread, g.unreadPart.split(n, ratio(g.unread, wanted)))
		g.unread -= readable
	}
	n = g.takeCold(n-readable, &g.usablePart)
	g.renew(n, m.second(), *g.life, m.random)
	g.written(n+readable, inNew)
	return n + readable
}

// wanting is how many keys of a group some process cannot read.
func (m *model) wanting(g *group) int {
	if g.unread == 0 || m.blind(g) == 0 {
		return g.cold()
	}
	return g.cold() + g.unread
}

// rewrite takes the marks off n warm keys that get a new value.
func (g *group) rewrite(n int) {
	if warm := g.warm() + n; warm > 0 {
		g.unread -= min(g.unread, g.unread*n/warm)
		g.outdated -= min(g.outdated, g.outdated*n/warm)
	}
}

// answerFollowers gives a share of the followers their value.
func (m *model) answerFollowers(g *group, share float64) {
	n := m.dismiss(g, share)
	m.served += n
	m.end(g.answer, n)
}

// dismiss takes a share of the followers out, for their wait is over, and says how
// many they were.
func (m *model) dismiss(g *group, share float64) int {
	if g.following == 0 {
		return 0
	}
	over, part := 0, g.answerPart
	for i, waiting := range g.followers {
		if waiting == 0 {
			continue
		}
		n := part.split(waiting, share)
		g.followers[i] -= n
		over += n
	}
	g.answerPart = part
	g.following -= over
	return over
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
	c, g := m.at(b.of)
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
	g.revoked = min(g.revoked, g.coldLeaders+g.earlyLeaders)
	if b.kind == coldRefresh || b.kind == earlyRefresh {
		m.refreshTimes.observe(seconds64(age), b.n)
	}
	m.fail(g, b.readers, failed)
}

// observe measures completed attempts.
func (m *model) observe(b batch, age int) {
	slow := m.slowPart.split(b.n, m.origin.slow.share)
	extra := seconds64(m.origin.serviceTicks(b)) * (m.origin.slow.factor - 1)
	if b.kind == coldRefresh || b.kind == earlyRefresh {
		m.refreshTimes.observe(seconds64(age), b.n-slow)
		m.refreshTimes.observe(seconds64(age)+extra, slow)
	}
	class := detailCost
	if m.origin.serviceTicks(b) > ticks(m.p.Service) {
		class = launchCost
	}
	// A loaded origin works more slowly on each of them.
	took := seconds64(m.origin.serviceTicks(b)) / m.origin.efficiency()
	m.serviceTimes[class].observe(took, b.n-slow)
	m.serviceTimes[class].observe(took*m.origin.slow.factor, slow)
}

func seconds64(ticks int) float64 { return float64(ticks) * tickLength.Seconds() }

const (
	detailCost = iota
	launchCost
	costClasses
)

var costNames = [costClasses]string{"detail", "launch"}

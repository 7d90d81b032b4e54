package lab

import "math"

// lookUp lets the reads of one tick arrive and answers those that can be
// answered at once. The rest is left in each group's turn.
func (m *model) lookUp() {
	m.addRetryTokens()
	arrivals := m.reads.deal()
	for _, c := range m.cells {
		m.beginTick(c)
	}
	for i, c := range m.cells[:cellCount] {
		for j, g := range c.groups {
			n := arrivals[i][j]
			m.arrived += n
			m.byBucket[bucketOf(j)] += n
			c.reads += n
			n = m.admitLaunch(g, n)
			routed := g.routedPart.split(n, m.orders.routed[i]*m.orders.region)
			m.turnAway(g, n-routed)
			if m.migration != nil && m.migration.home == i && !g.unknown() {
				routed -= m.migration.lookUp(m, j, routed)
			}
			anew, missing := m.dueRetries(g, routed)
			m.lookUpGroup(c, g, routed+anew, missing)
		}
	}
}

// admitLaunch is how many of n reads of the hottest key may look it up. The
// others are refused with a hint when to come back.
func (m *model) admitLaunch(g *group, n int) int {
	if g.rank > 0 || m.orders.launch >= 1 {
		return n
	}
	admitted := g.admittedPart.split(n, m.orders.launch)
	m.end(rejected, n-admitted)
	return admitted
}

// turnAway answers reads that may not look up in their cell: with the last-good
// copy, declared stale, or with a refusal. They never reach the origin.
func (m *model) turnAway(g *group, n int) {
	old := g.keys - g.warm() - g.usable()
	if m.current || g.unknown() {
		old = g.keys
	}
	refused := g.answerPart.split(n, ratio(old, g.keys))
	m.serveStale(g, n-refused, g.keys-old)
	m.end(rejected, refused)
}

// serveStale counts reads served from the last-good copies of so many keys, and
// how many of those were older than the class approves.
func (m *model) serveStale(g *group, n, keys int) {
	if n == 0 {
		return
	}
	m.end(declaredStale, n)
	approved := seconds(m.p.ApprovedAge)
	if m.orders.staleWindow() <= approved {
		return
	}
	beyond := 0
	g.lapsed.each(func(second, n int) {
		if age := m.second() - second; age > approved && age <= m.orders.staleWindow() {
			beyond += n
		}
	})
	m.violating += g.violatePart.split(n, ratio(beyond, keys))
}

// lookUpGroup answers n reads that may look up, and says what they ask for, together
// with those that try again because their key is still missing: these repeat their
// query, not their lookup.
func (m *model) lookUpGroup(c *cell, g *group, n, again int) {
	g.turn = turn{}
	if n+again == 0 {
		return
	}
	if c.host == nowhere {
		m.findNoCell(c, g, n, again)
		return
	}
	local := m.localShare(g, n)
	full := m.overflow(c, g, n, local)
	n -= full
	cold := g.coldPart.split(n, ratio(g.cold(), g.keys))
	found := n - cold
	unread := m.refuse(g, found)
	hits := found - unread - m.validate(g, found-unread)
	m.end(g.answer, hits)
	due := g.earlyPart.split(hits, ratio(g.early.len(), g.warm()))
	stale, staleAgain := 0, 0
	if !m.current {
		stale = g.stalePart.split(cold, ratio(g.usable(), g.cold()))
		staleAgain = g.staleAgainPart.split(again, ratio(g.usable(), g.cold()))
	}
	m.serveStale(g, stale+staleAgain, g.usable())
	absorbed := g.localPart.split(hits+stale, local)

	missed := n - hits - stale
	g.turn.blocked = missed + again - staleAgain
	g.retries.missed = ratio(g.turn.blocked, g.turn.blocked+full)
	g.turn.demand = g.turn.blocked + int(float64(stale+staleAgain)*(1-local)+0.5)
	g.turn.wantCold = wanted(g.turn.demand, m.refreshable(g, m.wanting(g)), m.domains(), g.coldLeaders, &g.wantCold)
	g.turn.wantEarly = wanted(due, m.refreshable(g, g.early.len()), m.domains(), g.earlyLeaders, &g.wantEarly)
	c.countLookups(g, hits, stale, missed, absorbed)
}

// validate has every answer's flag checked where it must be current: a value that
// an edit has overtaken is refused, and gone. It says how many of n hits found
// one. Elsewhere they are served as if they were fresh, which is counted.
func (m *model) validate(g *group, n int) int {
	if g.outdated == 0 {
		return 0
	}
	if !m.current {
		m.unmarked += g.unmarkedPart.split(n, ratio(g.outdated, g.warm()))
		return 0
	}
	refused := g.outdatedPart.split(n, ratio(g.outdated, g.warm()))
	m.outdated += refused
	gone := min(distinct(g.outdated, refused), g.outdated)
	g.outdated -= gone
	g.dropMarked(gone, m)
	return refused
}

// countLookups counts the lookups that reached the cell; the processes' local
// tier absorbs some of those that have an answer.
func (c *cell) countLookups(g *group, hits, stale, misses, absorbed int) {
	answered := hits + stale
	kept := absorbed
	if answered > 0 {
		kept = absorbed * hits / answered
	}
	if g.unknown() {
		c.denials += hits
	} else {
		c.hits += hits - kept
	}
	g.turn.hits = hits - kept
	c.stales += stale - (absorbed - kept)
	c.misses += misses
	c.load(g, answered-absorbed+misses)
}

// domains is the number of coalescing domains.
func (m *model) domains() int {
	return (len(m.fleet.delays) + m.p.PerDomain - 1) / m.p.PerDomain
}

// wanted is how many lookups become leaders when they fall evenly on the keys
// in all coalescing domains, of which some already have a leader on the way. A
// lookup where nothing is on the way always wants to lead.
func wanted(lookups, keys, domains, onTheWay int, c *carry) int {
	if lookups == 0 || keys == 0 {
		return 0
	}
	places := float64(keys * domains)
	free := max(0, places-float64(onTheWay))
	n := c.take(free * atLeastOne(float64(lookups)/places))
	if onTheWay == 0 {
		n = max(n, 1)
	}
	return min(n, lookups)
}

// atLeastOne is the chance that a place is hit at least once when so many hits
// fall on each in the mean.
func atLeastOne(mean float64) float64 {
	if mean < 1e-3 {
		return mean * (1 - mean/2) // to ten digits
	}
	return -math.Expm1(-mean)
}

// grantLeaders gives out the slots for refreshes, up to the caps of each cell
// and of the region, and decides what the reads without a value do: lead, follow,
// go past the cache, or be refused.
func (m *model) grantLeaders() {
	slots := m.leaderSlots()
	for i, c := range m.cells {
		deal := m.apportion(slots[i], c.wanted())
		for _, g := range c.groups {
			t := &g.turn
			t.cold = deal.deal(t.wantCold)
			t.early = deal.deal(t.wantEarly)
			ahead := min(t.early, t.hits)
			c.hits -= ahead
			c.ahead += ahead
			m.assign(g)
			m.expire(g)
		}
	}
}

// leaderSlots is how many refreshes each cell may start.
func (m *model) leaderSlots() (slots [cellCount + 1]int) {
	total := 0
	for i, c := range m.cells {
		slots[i] = min(c.wanted(), max(0, int(m.orders.perCell)-c.leaders))
		total += slots[i]
	}
	deal := m.apportion(max(0, int(m.orders.perRegion)-m.leaders()), total)
	for i := range slots {
		slots[i] = deal.deal(slots[i])
	}
	return slots
}

// wanted is how many refreshes the lookups of this tick want to lead.
func (c *cell) wanted() int {
	n := 0
	for _, g := range c.groups {
		n += g.turn.wantCold + g.turn.wantEarly
	}
	return n
}

// leaders is the number of refreshes on their way in the region.
func (m *model) leaders() int {
	n := 0
	for _, c := range m.cells {
		n += c.leaders
	}
	return n
}

// assign splits the reads without a value into leaders, followers and those for
// whom there is neither.
func (m *model) assign(g *group) {
	t := &g.turn
	if t.blocked == 0 {
		return
	}
	t.readers = min(t.cold, g.leadPart.split(t.cold, ratio(t.blocked, t.demand)), t.blocked)
	rest := t.blocked - t.readers
	unled := rest
	if g.coldLeaders+t.cold > 0 {
		places := float64(max(1, m.refreshable(g, m.wanting(g))) * m.domains())
		free := max(0, places-float64(g.coldLeaders)) / places
		unled = g.unledPart.split(rest, free*(1-ratio(t.cold, t.wantCold)))
	}
	t.joining = rest - unled
	m.goPast(g, unled, rejected)
}

// goPast sends reads past the cache, in the processes that do so, and refuses the others.
func (m *model) goPast(g *group, n int, otherwise outcome) int {
	past := g.bypassPart.split(n, m.orders.bypass)
	g.turn.bypass += past
	m.fail(g, n-past, otherwise)
	return past
}

// expire ends the wait of followers at their deadline.
func (m *model) expire(g *group) {
	if g.following == 0 {
		return
	}
	deadline := max(1, min(m.orders.followerTicks(), len(g.followers)-1))
	oldest := deadline
	if deadline < g.deadline {
		oldest = len(g.followers) - 1 // those who joined under a longer deadline
	}
	g.deadline = deadline
	for age := deadline; age <= oldest; age++ {
		slot := &g.followers[(m.tick-age)%len(g.followers)]
		n := *slot
		if n == 0 {
			continue
		}
		*slot = 0
		g.following -= n
		past := m.goPast(g, n, failed)
		m.released += past
		m.timedOut += n - past
	}
}

package lab

// enterOrigin brings the attempts of one tick past the edge, where admission
// stands, to the door of the origin, where there may be no room, and inside.
// Within the admission limit refreshes come first, then reads that go past the
// cache, then background jobs, and prewarm takes what is left.
func (m *model) enterOrigin() {
	leaders, past := m.offered()
	work := m.jobs.take(float64(m.p.Background) / ticksPerSecond * m.orders.jobs)
	fills := m.dueFills()

	tokens := m.admission.take(m.orders.admission / ticksPerSecond)
	e := entrance{m: m}
	passing := 0
	for i, n := range [edgeClasses]int{leaders, past + fills, work} {
		admitted := m.admit(n, &tokens)
		passing += admitted
		e.edge[i] = m.apportion(admitted, n)
	}
	batched := m.batchAsks()
	passing += batched
	e.door = m.apportion(m.origin.room(), passing)
	m.origin.knock(passing)

	for _, c := range m.cells {
		for _, g := range c.groups {
			e.leaders(c, g)
			e.past(g)
		}
	}
	e.others(startup, fills, &e.edge[pastClass])
	e.others(background, work, &e.edge[workClass])
	e.runBatch(batched)
	m.startPrewarm(tokens)
}

const (
	leaderClass = iota
	pastClass
	workClass
	edgeClasses
)

// admit is how many of n attempts pass the edge. Processes that know no limit
// let theirs pass; the others share the tokens.
func (m *model) admit(n int, tokens *int) int {
	free := m.freePart.split(n, m.orders.unlimited)
	charged := min(n-free, *tokens)
	*tokens -= charged
	return free + charged
}

// offered counts what live reads ask of the origin in this tick.
func (m *model) offered() (leaders, past int) {
	for _, c := range m.cells {
		for _, g := range c.groups {
			leaders += g.turn.cold + g.turn.early
			past += g.turn.bypass
		}
	}
	return leaders, past
}

// entrance deals the room at the edge and at the door out to those who ask.
type entrance struct {
	m    *model
	edge [edgeClasses]apportion
	door apportion
}

// pass splits a batch into what gets inside, what the edge refuses and what the
// door refuses, and counts them.
func (e *entrance) pass(b batch, edge *apportion, readers *carry) (inside, atEdge, atDoor batch) {
	m := e.m
	m.sources[b.kind.source()] += b.n
	m.origin.catalog.attempts += b.n
	through := b.part(edge.deal(b.n), readers)
	inside = through.part(e.door.deal(through.n), readers)
	m.origin.catalog.rejected += b.n + through.n
	m.origin.enter(m.tick, inside)
	return inside, b, through
}

// leaders lets the refreshes of a group ask, and their followers with them.
func (e *entrance) leaders(c *cell, g *group) {
	t := &g.turn
	if t.cold > 0 {
		led := g.coldLeaders + t.cold
		b := batch{kind: coldRefresh, of: g.place, n: t.cold, readers: t.readers}
		inside, edge, door := e.pass(b, &e.edge[leaderClass], &g.readerPart)
		g.coldLeaders += inside.n
		c.leaders += inside.n
		lost := g.followPart.split(t.joining, ratio(edge.n+door.n, led))
		byEdge := g.edgePart.split(lost, ratio(edge.n, edge.n+door.n))
		t.joining -= lost
		e.m.fail(g, edge.readers+byEdge, rejected)
		e.m.fail(g, door.readers+lost-byEdge, failed)
	}
	e.m.join(g, t.joining)
	if t.early > 0 {
		inside, _, _ := e.pass(batch{kind: earlyRefresh, of: g.place, n: t.early}, &e.edge[leaderClass], &g.readerPart)
		g.earlyLeaders += inside.n
		c.leaders += inside.n
	}
}

// join makes reads wait for a leader, as many as may.
func (m *model) join(g *group, n int) {
	n -= m.refuseFollowers(g, n)
	g.followers[m.tick%len(g.followers)] += n
	g.following += n
	m.joined += n
}

// refuseFollowers is how many of n reads may not follow, for enough wait for each
// leader already. The bound says how many reads a stalled leader holds up.
func (m *model) refuseFollowers(g *group, n int) int {
	if n == 0 || m.orders.boundless >= 1 {
		return 0
	}
	places := int(m.orders.perLeader*float64(g.coldLeaders)) - g.following
	over := g.crowdPart.split(n-min(n, max(0, places)), 1-m.orders.boundless)
	m.crowded += over
	m.fail(g, over, rejected)
	return over
}

// past lets the reads of a group that go past the cache ask.
func (e *entrance) past(g *group) {
	n := g.turn.bypass
	if n == 0 {
		return
	}
	_, edge, door := e.pass(batch{kind: bypass, of: g.place, n: n, readers: n}, &e.edge[pastClass], &g.readerPart)
	e.m.fail(g, edge.readers, rejected)
	e.m.fail(g, door.readers, failed)
}

// others lets attempts ask that no read waits for.
func (e *entrance) others(k kind, n int, edge *apportion) {
	if n > 0 {
		e.pass(batch{kind: k, n: n}, edge, &e.m.noReaders)
	}
}

// startPrewarm fetches cold keys in the order of their rank, as the lowest
// class: with the tokens that are left, and not while anything waits.
func (m *model) startPrewarm(tokens int) {
	n := m.prewarmPart.take(m.orders.prewarm / ticksPerSecond)
	if m.orders.unlimited < 1 {
		n = min(n, tokens)
	}
	n = min(n, m.origin.room())
	if n <= 0 || m.origin.waited(m.tick) > ticks(m.p.PrewarmYields) {
		return
	}
	started := 0
	for j := range groupsOf(m.orders.depth) {
		for _, c := range m.cells {
			started += m.prewarm(c.groups[j], n-started)
		}
	}
	started += m.prewarmShadowed(n - started)
	m.countPrewarm(started)
	m.origin.knockMore(started)
}

// prewarm fetches up to n cold keys of a group, and says how many.
func (m *model) prewarm(g *group, n int) int {
	if n = min(n, m.unfetched(g)); n <= 0 {
		return 0
	}
	m.origin.enter(m.tick, batch{kind: prewarm, of: g.place, n: n})
	g.fetching += n
	return n
}

// unfetched are the keys to warm that neither prewarm nor a leader is fetching.
func (m *model) unfetched(g *group) int {
	if m.nowhere(g) {
		return 0
	}
	wanting := m.worthPrewarming(g)
	return wanting - g.fetching - distinct(wanting, g.coldLeaders)
}

// worthPrewarming are the keys that some process misses and prewarm can help: what
// it writes in a replacement has the replacement's format, readable or not.
func (m *model) worthPrewarming(g *group) int {
	if g.next {
		return g.cold()
	}
	return m.wanting(g)
}

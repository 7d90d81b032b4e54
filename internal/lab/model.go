package lab

import "time"

// outcome is how a read ends.
type outcome int

const (
	fresh outcome = iota
	declaredStale
	rejected
	failed
	negative // there is no such key
	outcomeCount
)

var outcomeNames = [outcomeCount]string{"fresh", "declared_stale", "rejected", "error", "negative"}

// model is the catalog service. It moves in ticks, knows no clock but its own,
// and every count in it is a whole number that adds up (see check).
type model struct {
	p      *params
	story  *Scenario
	life   life
	brief  life // of a value in the gutter
	denied life // of an answer that there is no such key
	random dice
	tick   int // since midnight of the day of the case
	reads  *schedule
	cells  []*cell // in the order of the parameters, then a replacement while there is one
	origin *origin
	fleet  *fleet
	orders *orders
	ops    operators

	popular  popularity
	nodes    nodes
	dead     int     // cells that are gone without another in their place
	tight    bool    // a cell could have more to hold than it has room for
	split    int     // shadows of the hottest key,
	even     float64 // and nodes over which they spread its reads
	spread   float64 // nodes over which its copies were spread when the schedule was made
	expiring []*expiry
	bulkRate int // keys a second of the bulk import under way

	newcomers  float64    // share of the processes that cannot read the format before
	current    bool       // every answer must carry a current flag, so none may be stale
	deafUntil  int        // second until which single invalidations go astray
	blindUntil int        // second until which no read of a key is counted for the local tier
	migration  *migration // nil unless a deployment replaces a cell
	batch      *batchJob  // nil unless a batch job prewarms past admission

	arrived      int // reads so far
	outcomes     [outcomeCount]int
	byBucket     [4]int // arrived reads
	violating    int    // reads that were served a copy older than approved
	sources      [sourceCount]int
	joined       int                // followers so far
	served       int                // followers that got their leader's value
	timedOut     int                // followers that were refused at their deadline
	released     int                // followers that went to the origin at their deadline
	crowded      int                // reads that were refused because enough follow each leader
	mixed        [identityParts]int // reads that were handed a value that is not theirs
	hints        [2]int             // refused reads that obeyed their hint, or ignored it
	removed      [2]int             // invalidated keys, single and bulk
	refused      [2]int             // lookups that found a format they could not read, the one before and the new one
	unfilled     int                // fills that came with a revoked lease
	evictedThere int                // values that the gutter had no room for
	unmarked     int                // reads served an outdated value as fresh
	outdated     int                // reads that found, by its version, that a value was outdated
	bulkLeft     int                // keys that the bulk import under way still invalidates

	entered    int // reads that looked up in a replacement
	shadowed   [shadowResults]int
	compared   [comparisons]int
	migrations [migrationEnds]int

	retryTokens float64 // tries left in the budget
	filling     int     // attempts that new processes still have to make
	fillRate    float64 // attempts of theirs in a tick

	jobs, admission, fills, freePart, prewarmPart, noReaders, slowPart carry

	lapsed lapsedKeys // for the metrics

	refreshTimes histogram              // refresh leaders, in seconds
	serviceTimes [costClasses]histogram // origin, in seconds
}

// source says for whom the origin is asked.
type attemptSource int

const (
	live attemptSource = iota
	warming
	working
	sourceCount
)

var sourceNames = [sourceCount]string{"live", "prewarm", "background"}

func (k kind) source() attemptSource {
	switch k {
	case prewarm:
		return warming
	case background:
		return working
	}
	return live
}

// cell is one cache cell.
type cell struct {
	*lookups
	name       string
	reads      int     // arrived reads whose home it is
	leaders    int     // refreshes on their way
	recent     int     // lookups in the last tick
	hottest    int     // of those, for the hottest key
	offered    int     // lookups in the tick before,
	offeredHot int     // and of those for the hottest key
	full       float64 // part of the lookups at the node of the hottest key that it does not answer
	generation int
	host       host
	limit      float64 // bytes of memory
	evicted    int
	groups     []*group // by rank; behind them, once somebody asks for such, the keys that do not exist
}

// lookups are those in a cell so far, and in its replacement.
type lookups struct {
	hits     int
	ahead    int // found their value and refresh it ahead of time
	misses   int
	failures int // a full node did not answer
	stales   int // answered with a last-good copy
	denials  int // found that there is no such key
}

// place says which group is meant: the index of its cell, and its rank there.
type place struct{ cell, rank uint8 }

// at finds a group and its cell.
func (m *model) at(p place) (*cell, *group) {
	c := m.cells[p.cell]
	return c, c.groups[p.rank]
}

// group is the keys of one popularity in one cell, and the reads that wait for them.
type group struct {
	*pool
	place        place
	rank         int // its index
	products     int // of which each has one key for every value and shadow
	variety      variety
	life         *life
	answer       outcome // of a read that gets its value
	unread       int     // warm keys in a format that some processes cannot read
	outdated     int     // warm keys that an edit has overtaken unnoticed, or that were written wrong
	wrongUntil   int     // second at which the last of them ends, where they do not exist
	revoked      int     // refreshes on their way whose key an edit has overtaken since
	tier         promotion
	coldLeaders  int   // refreshes on their way, of cold keys by leaders,
	earlyLeaders int   // of fresh keys by leaders,
	fetching     int   // and by prewarm
	followers    []int // reads that wait for a leader, ring by tick of joining
	following    int   // sum of followers
	deadline     int   // of followers, in ticks, as it was in the tick before
	retries      retries

	// What is left over from splitting this group's counts.
	routedPart, coldPart, earlyPart, stalePart, localPart    carry
	wantCold, wantEarly, leadPart, unledPart, followPart     carry
	usablePart, bypassPart, edgePart, readerPart, answerPart carry
	violatePart, refusedPart, dropPart, unreadPart           carry
	outdatedPart, unmarkedPart, fullPart, admittedPart       carry
	revokedPart, crowdPart, hintPart, astrayPart             carry
	againPart, staleAgainPart                                carry

	mixedParts             [identityParts]carry
	next                   bool    // values are written in the new format of a replacement
	faulty                 float64 // share of those that are written wrong
	formatPart, faultyPart carry

	turn turn
}

// turn is what one tick asks of a group.
type turn struct {
	demand      int // cold lookups that would lead a refresh
	blocked     int // of those, reads with nothing to serve
	hits        int // lookups in the cell that found their value
	wantCold    int
	wantEarly   int
	cold, early int // leaders that were granted a slot
	readers     int // of the cold leaders, those with a read waiting
	joining     int // reads that wait for a leader
	bypass      int // reads that go to the origin themselves
}

// newModel is the service at a time of the case, in the middle of what it did
// until then: keys of all ages, and nothing has gone wrong.
func newModel(p *params, story *Scenario, seed uint64, at time.Duration) *model {
	m := &model{
		p:            p,
		story:        story,
		popular:      story.popularity(p, at),
		nodes:        newNodes(p),
		life:         newLife(p),
		random:       newDice(seed),
		tick:         ticks(at),
		origin:       newOrigin(p),
		refreshTimes: newHistogram(0.05, 0.1, 0.25, 0.5, 1, 2, 5),
	}
	for i := range m.serviceTimes {
		m.serviceTimes[i] = newHistogram(0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1, 2.5, 5, 10)
	}
	m.split, m.even = 1, 1
	m.fleet = newFleet(p, m.random)
	m.fleet.start(m.fleet.untouchedSource())
	m.orders = &m.fleet.obeyed
	m.reschedule()
	shares := groupShares(p, m.popular)
	for i, c := range p.Cells {
		m.cells = append(m.cells, m.newCell(i, c, shares))
	}
	m.meetCrawler()
	for i := range story.Events {
		if e := &story.Events[i]; e.Kind == Variants && e.At <= at {
			m.vary(e)
		}
	}
	return m
}

func (m *model) newCell(index int, c cellParams, shares [groupCount]float64) *cell {
	n := &cell{name: c.Name, generation: 1, lookups: &lookups{}}
	for i, keys := range groupKeys(m.p.Keys / 100 * c.Percent) {
		reads := float64(m.p.ReadsPerSecond*c.Percent) / 100 * shares[i]
		pool := newPool(keys, m.life, m.second(), float64(keys)/reads, m.random)
		n.groups = append(n.groups, m.newGroup(place{uint8(index), uint8(i)}, pool))
	}
	n.limit = float64(n.keys()*m.p.ValueSize) * m.p.CellSpare
	return n
}

func (m *model) newGroup(at place, keys *pool) *group {
	return &group{
		pool:      keys,
		place:     at,
		rank:      int(at.rank),
		products:  keys.keys,
		life:      &m.life,
		followers: make([]int, ticksPerSecond*maxFollowSeconds),
		retries:   newRetries(m.p),
	}
}

// maxFollowSeconds bounds how long a follower waits, whatever its control says.
const maxFollowSeconds = 2

func (m *model) second() int { return m.tick / ticksPerSecond }

// time is the time of day in the case.
func (m *model) time() time.Duration { return time.Duration(m.tick) * tickLength }

// step advances the model by one tick under the controls of s. It is the same
// in virtual time and on real ports.
func (m *model) step(s source) {
	m.tick++
	m.orders = m.fleet.hear(s)
	if m.split != m.orders.shadows(m.p) {
		m.splitKey()
	}
	if m.copies() != m.spread {
		m.reschedule()
	}
	if m.tick%ticksPerSecond == 0 {
		m.turnSecond()
	}
	m.life = m.life.under(m.orders)
	if m.dead > 0 {
		m.failOver()
	}
	if m.popular.unknownKeys > 0 {
		m.denied = m.life.underNegative(m.orders)
	}
	m.origin.work(m.tick, m.complete, m.giveUp)
	m.lookUp()
	m.grantLeaders()
	m.enterOrigin()
	if m.dead > 0 || m.tight {
		m.bear()
		m.evict()
	}
}

// turnSecond does what happens once a second: keys grow older, the story goes
// on, editors edit.
func (m *model) turnSecond() {
	m.tellStory()
	m.ops.watch(m)
	m.invalidate()
	m.turnMigration()
	window := m.orders.staleWindow()
	for _, c := range m.cells {
		for _, g := range c.groups {
			g.tier.turn(m, g)
			if g.unknown() {
				g.forget(m.second())
				continue
			}
			before := g.warm()
			g.age(m.second(), window, *g.life)
			g.shrink(before)
		}
	}
	m.tight = m.tightens()
}

// shrink keeps the marks of warm keys in proportion when there are fewer of them.
func (g *group) shrink(before int) {
	if now := g.warm(); now < before {
		g.unread = g.unread * now / before
		g.outdated = g.outdated * now / before
	}
}

// lapse, invalidate, lose and expire are those of the pool, and keep the marks right.
func (g *group) lapse(n, second int, copies bool, random dice) {
	before := g.warm()
	g.pool.lapse(n, second, copies, random)
	g.shrink(before)
}

func (g *group) invalidate(n int, random dice) int {
	before := g.warm()
	n = g.pool.invalidate(n, random)
	g.shrink(before)
	return n
}

// lose makes every warm key lapsed, as if at the given second.
func (g *group) lose(second int) {
	if g.unknown() {
		g.expire()
		return
	}
	g.pool.lose(second)
	g.unread, g.outdated = 0, 0
}

func (g *group) expire() {
	g.pool.expire()
	g.unread, g.outdated = 0, 0
}

// dropMarked makes n warm keys bare that carried a mark, which is off already.
func (g *group) dropMarked(n int, m *model) {
	g.pool.lapse(n, m.second(), false, m.random)
	g.unread, g.outdated = min(g.unread, g.warm()), min(g.outdated, g.warm())
}

// end counts reads that have ended.
func (m *model) end(how outcome, n int) { m.outcomes[how] += n }

// waiting counts the reads that have arrived and not ended.
func (m *model) waiting() int {
	n := 0
	for _, c := range m.cells {
		for _, g := range c.groups {
			n += g.following + g.retries.waiting
		}
	}
	for _, slot := range m.origin.queue {
		for _, b := range slot.batches {
			n += b.readers
		}
	}
	return n
}

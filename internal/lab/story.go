package lab

import "time"

// tellStory lets happen what happens in the scenario at this second.
func (m *model) tellStory() {
	now := m.time()
	for i := range m.story.Events {
		if e := &m.story.Events[i]; e.happens(now) {
			m.happen(e)
		}
	}
	for _, x := range m.expiring {
		x.turn(m)
	}
}

func (m *model) happen(e *Event) {
	switch e.Kind {
	case Launch, HotKey, Concentrate, Crawl:
		m.popular.follow(e)
		m.reschedule()
		m.meetCrawler()
		if e.Kind == HotKey {
			m.forgetCopies()
		}
	case Expire:
		m.expiring = append(m.expiring, newExpiry(e))
	case LoseCell:
		m.loseCell(e.Cell, e.Copies)
	case KillCell:
		m.killCell(e.Cell, e.Copies)
	case ReviveCell:
		m.reviveCell(e.Cell)
	case LoseTier:
		for _, c := range m.cells {
			m.loseCell(c.name, e.Copies)
		}
	case BulkImport:
		if m.orders.bulk > 0.5 {
			m.bulkLeft, m.bulkRate = e.Keys, e.Keys/max(1, seconds(e.Over))
		}
	case NewFormat:
		m.changeFormat(e.Share)
	case SlowQueries:
		m.origin.slow = slowness{share: e.Share, factor: e.Factor}
	case ForbidStale:
		m.current = true
	case Variants:
		m.vary(e)
	case EditHotKey:
		m.editHotKey()
	case CreateProducts:
		m.create(e.Keys)
	case ReplaceCell:
		m.replaceCell(e)
	case AddClients:
		m.addClients(e.Processes)
	case LoseInvalidations:
		m.deafUntil = m.second() + seconds(e.Over)
	case LoseDetector:
		m.blindUntil = m.second() + seconds(e.Over)
	case BatchPrewarm:
		m.batch = newBatchJob(e)
	}
}

// loseCell replaces a cell by an empty one. Its last-good copies lie elsewhere,
// a little older than what is lost, or are lost with it.
func (m *model) loseCell(name string, copies bool) {
	for _, c := range m.cells {
		if c.name != name || c.host != home {
			continue
		}
		c.generation++
		for _, g := range c.groups {
			if copies && !m.copiesInside() {
				g.lose(m.second() - seconds(m.p.SnapshotLag))
			} else {
				g.expire()
			}
		}
	}
}

// expiry is keys that were written with one life and lapse together.
type expiry struct {
	share  float64 // of the keys, every second
	left   int     // seconds
	groups int
	copies bool
	parts  [cellCount + 1][groupCount]carry
}

func newExpiry(e *Event) *expiry {
	left := max(1, seconds(e.Over))
	return &expiry{share: e.Share / float64(left), left: left, groups: groupsOf(depthOf(e.Bucket)), copies: e.Copies}
}

// turn lets a second's share of them lapse.
func (x *expiry) turn(m *model) {
	if x.left == 0 {
		return
	}
	x.left--
	for i, c := range m.cells {
		for j, g := range c.groups[:x.groups] {
			n := x.parts[i][j].take(float64(g.keys) * x.share)
			g.lapse(n, m.second(), x.copies, m.random)
		}
	}
}

// invalidate lets a second's edits take their keys out, one by one and in bulk.
func (m *model) invalidate() {
	bulk := 0
	if m.orders.bulk <= 0.5 {
		m.bulkLeft = 0
	}
	if m.bulkLeft > 0 {
		bulk = min(m.bulkLeft, m.bulkRate)
		m.bulkLeft -= bulk
	}
	for k, n := range [...]int{m.p.Invalidations, bulk} {
		deal := m.apportion(n, m.p.Keys)
		for _, c := range m.cells[:cellCount] {
			for _, g := range c.known() {
				m.edit(g, k, deal.deal(g.products))
			}
		}
	}
}

// edit overtakes the values of n products of a group, in a replacement, too.
func (m *model) edit(g *group, kind, n int) {
	if n == 0 {
		return
	}
	n *= g.keys / g.products
	m.removed[kind] += m.overtake(g, kind, n)
	if m.migration != nil {
		m.migration.edit(m, g, kind, n)
	}
}

// overtake makes n values of a group outdated. Their invalidations take them out,
// unless the stream that carries them is broken. It says how many were taken out.
func (m *model) overtake(g *group, kind, n int) int {
	unheard := m.second() < m.deafUntil || m.cells[g.place.cell].host == gutter
	if kind == singleEdit && unheard {
		g.outdated = min(g.outdated+n, g.warm())
		return 0
	}
	missed := m.missed(g, n)
	g.revoke(n - missed)
	removed := g.invalidate(n-missed, m.random)
	g.outdated = min(g.outdated+missed, g.warm())
	return removed
}

const (
	singleEdit = iota
	bulkEdit
)

// operators are the people who look at the service when nobody runs a runbook:
// they answer a slow origin with more clients, and then with restarts.
type operators struct {
	frozen bool // told to leave deployments alone
	slow   int  // seconds for which the origin has been slow
}

// watch is their look at the dashboard, once a second.
func (o *operators) watch(m *model) {
	if m.origin.waited(m.tick) <= ticks(m.p.SlowOrigin) || o.frozen || !m.fleet.untouched() {
		o.slow = 0
		return
	}
	o.slow++
	if o.slow%seconds(m.p.ClientsEvery) != 0 {
		return
	}
	if len(m.fleet.delays) < m.p.ClientsAtMost {
		m.addClients(m.p.ClientsAdded)
		return
	}
	m.startUp(m.p.Restarted)
}

// addClients lets more processes serve reads.
func (m *model) addClients(n int) {
	m.fleet.grow(n, m.p, m.random)
	m.startUp(n)
}

// startUp lets processes begin with empty tables of their own.
func (m *model) startUp(processes int) {
	m.filling += processes * m.p.StartupFills
	m.fillRate = float64(m.filling) / float64(m.p.StartupSpread/time.Second) / ticksPerSecond
}

// dueFills are the attempts that new processes make in this tick.
func (m *model) dueFills() int {
	n := min(m.filling, m.fills.take(m.fillRate))
	m.filling -= n
	if m.filling == 0 {
		m.fillRate = 0
	}
	return n
}

// obeyCall does what people do when a runbook calls them.
func (m *model) obeyCall(program, verb string) {
	switch program + " " + verb {
	case "deployctl freeze":
		m.ops.frozen = true
	case "deployctl thaw":
		m.ops.frozen = false
	case "deployctl rollback":
		m.rollBack()
	case "planctl pin":
		m.origin.slow = slowness{}
	case "batchctl pause":
		m.expiring = nil
	}
}

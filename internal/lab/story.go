package lab

import "time"

// tellStory lets happen what happens in the case at this second.
func (m *model) tellStory() {
	now := m.time()
	switch now {
	case launch:
		m.reads = newSchedule(m.p, m.p.LaunchShare, m.reads)
	case launchLapses:
		// It was written once, for all cells and copies, with one expiry.
		for _, c := range m.cells {
			c.groups[0].expire()
		}
	case cellLost:
		m.loseCell(lostCell)
	}
	if since := now - firstBulk; since >= 0 && since%m.p.BulkEvery == 0 && m.orders.bulk > 0.5 {
		m.bulkLeft = m.p.BulkKeys
	}
}

// loseCell replaces a cell by an empty one.
func (m *model) loseCell(name string) {
	for _, c := range m.cells {
		if c.name != name {
			continue
		}
		c.generation++
		for _, g := range c.groups {
			g.lose(m.second() - seconds(m.p.SnapshotLag))
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
		bulk = min(m.bulkLeft, m.p.BulkKeys/seconds(m.p.BulkTakes))
		m.bulkLeft -= bulk
	}
	for k, n := range [...]int{m.p.Invalidations, bulk} {
		deal := m.apportion(n, m.p.Keys)
		for _, c := range m.cells {
			for _, g := range c.groups {
				m.removed[k] += g.invalidate(deal.deal(g.keys), m.rand.IntN)
			}
		}
	}
}

// operators are the people who look at the service when nobody runs a runbook:
// they answer a slow origin with more clients.
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
	if o.slow%seconds(m.p.ClientsEvery) == 0 && len(m.fleet.delays) < m.p.ClientsAtMost {
		for range m.p.ClientsAdded {
			m.fleet.join(m.p, m.rand.IntN)
		}
		if m.fleet.joined != nil {
			m.fleet.joined()
		}
		m.filling += m.p.ClientsAdded * m.p.StartupFills
		m.fillRate = float64(m.filling) / float64(m.p.StartupSpread/time.Second) / ticksPerSecond
	}
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

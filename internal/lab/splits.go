package lab

import (
	"math"
	"strconv"
)

// The hottest key can be split into shadow copies, of which each read picks one at
// random. Each shadow is a key of its own: it lies where the ring puts it, which is
// less even than copies that are placed; it lapses and is refreshed by itself; and
// an edit has to reach every one. Some do not arrive, and that shadow goes on
// being served.

// shadows is how many shadows of a group's key lie in a cell.
func (m *model) shadows(g *group) int {
	if g.rank > 0 {
		return 1
	}
	return max(1, (m.split+cellCount-1)/cellCount)
}

// splitKey makes the hottest key have as many shadows as is ordered.
func (m *model) splitKey() {
	m.split = m.orders.shadows(m.p)
	m.even = m.nodes.evenness(m.p, m.split)
	for _, c := range m.cells {
		m.fit(c.groups[0])
	}
	m.reschedule()
}

// shadows is how many of them are read, in the mean over the processes.
func (o *orders) shadows(p *params) int {
	return max(1, min(int(math.Round(o.splits)), cellCount*p.Nodes))
}

// evenness is over how many nodes so many shadows spread their reads, going by the
// node with the most of them.
func (n *nodes) evenness(p *params, shadows int) float64 {
	if n.region == nil {
		n.region = newRing(cellCount*p.Nodes, p.RingPoints)
	}
	most, held := 0, map[int]int{}
	for i := range shadows {
		node := n.region.owner(hashOf(hottestKey + ":shadow:" + strconv.Itoa(i)))
		held[node]++
		most = max(most, held[node])
	}
	return float64(shadows) / float64(most)
}

// editHotKey is an edit of the hottest product.
func (m *model) editHotKey() {
	for _, c := range m.cells[:cellCount] {
		m.edit(c.groups[0], singleEdit, 1)
	}
}

// missed is how many of n invalidations of a split key's shadows do not arrive.
func (m *model) missed(g *group, n int) int {
	if m.shadows(g) == 1 {
		return 0
	}
	return g.astrayPart.split(n, m.p.ShadowMissed)
}

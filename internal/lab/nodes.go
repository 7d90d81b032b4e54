package lab

import (
	"fmt"
	"slices"
)

// A cell is some nodes. The tail's keys lie on them evenly enough that the cell
// as a whole says how they fare; the hottest key does not: all its lookups in a
// cell go to the one node that holds it. More than a node can answer fails, for
// this key and for the others on that node.

// beginTick starts to count a tick's lookups.
func (m *model) beginTick(c *cell) {
	c.offered, c.offeredHot = c.recent, c.hottest
	c.recent, c.hottest = 0, 0
	c.full = m.fullPart(c)
}

// load counts lookups that reach the cell.
func (c *cell) load(g *group, n int) {
	c.recent += n
	if g.rank == 0 {
		c.hottest += n
	}
}

// nodes says how the keys of each cell lie on its nodes.
type nodes struct {
	shares []float64 // of a cell's tail
	order  []int     // nodes that hold the hottest key, as its copies grow
	region *ring     // of the nodes of all cells, once shadows are placed on it
}

// hottestKey is the key whose popularity stands out, as the ring knows it.
const hottestKey = "product:launch"

func newNodes(p *params) nodes {
	r := newRing(p.Nodes, p.RingPoints)
	return nodes{shares: r.shares(p.Nodes), order: r.owners(hashOf(hottestKey), p.Nodes)}
}

// nodeLoad is the lookups a second at a cell's node with the hottest key, from
// those of the tick before.
func (m *model) nodeLoad(c *cell) float64 {
	rest := float64(c.offered-c.offeredHot) * m.nodes.shares[m.nodes.order[0]]
	return (float64(c.offeredHot)/m.perCell() + rest) * ticksPerSecond
}

// perCell is how many nodes of a cell hold the hottest key.
func (m *model) perCell() float64 {
	return min(float64(m.p.Nodes), max(1, m.spread/cellCount))
}

// fullPart is the part of the lookups at that node that are more than it answers.
func (m *model) fullPart(c *cell) float64 {
	load := m.nodeLoad(c)
	if load <= float64(m.p.NodeSpeed) {
		return 0
	}
	return 1 - float64(m.p.NodeSpeed)/load
}

// overflow is how many of n lookups find their node full and get no answer. They
// count as a load of the cell, for the node is asked.
func (m *model) overflow(c *cell, g *group, n int, local float64) int {
	if c.full == 0 {
		return 0
	}
	reach := 1.0
	if g.rank > 0 {
		reach = m.nodes.shares[m.nodes.order[0]]
	}
	full := g.fullPart.split(n, reach*(1-local)*c.full)
	c.failures += full
	c.load(g, full)
	m.goPast(g, full, failed)
	return full
}

// copies is on how many nodes the hottest key is read.
func (m *model) copies() float64 {
	n := max(m.orders.copies, m.even)
	if m.popular.alone {
		return n
	}
	return max(n, float64(m.p.Copies))
}

// reschedule lets reads arrive as popularity and copies now are.
func (m *model) reschedule() {
	m.spread = m.copies()
	m.reads = newSchedule(m.p, m.popular, m.spread, m.reads)
}

// forgetCopies leaves the hottest key with its home node alone.
func (m *model) forgetCopies() {
	for i, c := range m.cells {
		if i != homeCell {
			c.groups[0].expire()
		}
	}
}

// homeCell is where the one copy of a key that is not spread lies.
const homeCell = 2

// nodeCPU is how busy a node of a cell is.
func (m *model) nodeCPU(c *cell, node int) float64 {
	load := float64(c.recent-c.hottest) * m.nodes.shares[node]
	if rank := slices.Index(m.nodes.order, node); float64(rank) < m.perCell() {
		load += float64(c.hottest) / m.perCell()
	}
	return min(1, load*ticksPerSecond/float64(m.p.NodeSpeed))
}

func nodeName(cell, node, nodes int) string { return fmt.Sprintf("node-%02d", cell*nodes+node+1) }

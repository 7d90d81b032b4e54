package lab

import "math"

// A cell holds values up to its memory; beyond it the coldest go, and are asked for
// at the origin again. The cells together have room for all keys and for what a
// lost cell leaves to the others; they may not have it for two, or for what is kept
// beside the fresh values.

// memory is what some cells have to lie in together: each its own, the survivors
// with their guests, or the gutter with its.
type memory struct {
	limit float64 // bytes
	cells []*cell
}

// copyPlaces are where last-good copies lie, the order of a choice.
var copyPlaces = []string{"snapshot", "cell"}

// copiesInside reports whether last-good copies lie in the cells themselves.
func (m *model) copiesInside() bool { return m.orders.inside > 0.5 }

func (m *model) memories() []memory {
	gutterPool := memory{limit: m.gutterLimit()}
	var homes, guests []*cell
	for _, c := range m.cells[:cellCount] {
		switch c.host {
		case home:
			homes = append(homes, c)
		case survivors:
			guests = append(guests, c)
		case gutter:
			gutterPool.cells = append(gutterPool.cells, c)
		}
	}
	all := append(make([]memory, 0, len(m.cells)+1), gutterPool)
	for _, replacement := range m.cells[cellCount:] {
		all = append(all, memory{replacement.limit, []*cell{replacement}})
	}
	if len(guests) > 0 {
		shared := memory{cells: append(homes, guests...)}
		for _, c := range homes {
			shared.limit += c.limit
		}
		return append(all, shared)
	}
	for _, c := range homes {
		all = append(all, memory{c.limit, []*cell{c}})
	}
	return all
}

// gutterLimit is the memory of the gutter: some nodes like those of the cells.
func (m *model) gutterLimit() float64 {
	perNode := float64(m.p.Keys*m.p.ValueSize) * m.p.CellSpare / float64(cellCount*m.p.Nodes)
	return perNode * float64(m.p.GutterNodes)
}

// values are how many values of a group lie in its cell, copies among them.
func (m *model) values(g *group) int {
	if m.copiesInside() {
		return g.warm() + g.pool.lapsed.len()
	}
	return g.warm()
}

// bytes is the memory that a cell's values take, wherever they lie.
func (m *model) bytes(c *cell) float64 {
	n := 0
	for _, g := range c.known() {
		n += m.values(g)
	}
	return float64(n*m.p.ValueSize + c.deniedKeys()*m.p.DenialSize)
}

// used is the memory of a cell in use: its own values, and its part of its guests'.
func (m *model) used(i int) float64 {
	c := m.cells[i]
	if c.host != home {
		return 0
	}
	used := m.bytes(c)
	if m.dead > 0 {
		used += m.bytesAt(survivors) * ratio(m.p.Cells[i].Percent, m.alive())
	}
	return used
}

// bytesAt is the memory that the values of dead cells take where they lie now.
func (m *model) bytesAt(h host) float64 {
	sum := 0.0
	for _, c := range m.cells {
		if c.host == h {
			sum += m.bytes(c)
		}
	}
	return sum
}

// tightens reports whether a cell could have more to hold than it has room for.
func (m *model) tightens() bool {
	for _, c := range m.cells {
		most := c.keys() * m.p.ValueSize
		for _, g := range c.groups[groupCount:] {
			most += g.keys * m.p.DenialSize
		}
		if float64(most) > c.limit {
			return true
		}
	}
	return false
}

// evict makes room where more lies than fits.
func (m *model) evict() {
	for _, where := range m.memories() {
		over := -where.limit
		for _, c := range where.cells {
			over += m.bytes(c)
		}
		for rank := unknownRank; rank >= 0 && over > 0; rank-- {
			over -= m.evictFrom(where.cells, rank, over)
		}
	}
}

// evictFrom drops values of one popularity for so many bytes, from all cells alike,
// and says how many bytes they took.
func (m *model) evictFrom(cells []*cell, rank int, over float64) float64 {
	size := m.p.ValueSize
	if rank == unknownRank {
		size = m.p.DenialSize
	}
	total := 0
	for _, c := range cells {
		if rank < len(c.groups) {
			total += m.values(c.groups[rank])
		}
	}
	deal := m.apportion(int(math.Ceil(over/float64(size))), total)
	for _, c := range cells {
		if rank < len(c.groups) {
			n := deal.deal(m.values(c.groups[rank]))
			m.drop(c.groups[rank], n)
			m.countEvicted(c, n)
		}
	}
	return float64(deal.part * size)
}

// drop evicts n values of a group: its copies first, where they lie in the cell. A
// fresh value leaves its copy behind where copies lie elsewhere.
func (m *model) drop(g *group, n int) {
	if m.copiesInside() {
		k := g.pool.lapsed.takeOld(n)
		k += g.pool.lapsed.takeYoung(n - k)
		g.bare += k
		n -= k
	}
	g.lapse(n, m.second(), !m.copiesInside() && !g.unknown(), m.random)
}

func (m *model) countEvicted(c *cell, n int) {
	switch c.host {
	case home:
		c.evicted += n
	case survivors:
		m.share(n, func(s *cell) *int { return &s.evicted })
	case gutter:
		m.evictedThere += n
	}
}

package lab

// A deployment can bring a new format of the cached values. Processes of the new
// version that cannot read the format before refuse such values. What they do
// with them is a control: drop them, so that they are gone for every process, or
// isolate them, so that the others go on reading them while values of the new
// format are fetched within the budget of refreshes.

// changeFormat lets a share of the processes read only values written from now on.
func (m *model) changeFormat(share float64) {
	m.newcomers = share
	m.markUnread(func(g *group) int { return g.warm() })
}

// rollBack brings the version before back, which reads both formats, and takes a
// replacement away. What the old cell still has takes its reads again.
func (m *model) rollBack() {
	m.newcomers = 0
	m.markUnread(func(*group) int { return 0 })
	if m.migration != nil {
		m.endMigration(rolledBack)
	}
}

// markUnread sets how many values newcomers cannot read. Those of a replacement
// they can.
func (m *model) markUnread(count func(*group) int) {
	for _, c := range m.cells {
		for _, g := range c.known() {
			if !g.next {
				g.unread = count(g)
			}
		}
	}
}

// blind is the share of the processes that cannot read the marked values of a
// group: newcomers those of the format before, and in a replacement processes
// that read only one format the new one's.
func (m *model) blind(g *group) float64 {
	if g.next {
		return 1 - m.orders.readable
	}
	return m.newcomers
}

// written marks n values that were written in a replacement, by how many of
// their writers use its format.
func (g *group) written(n int, inNew float64) {
	if !g.next {
		return
	}
	n = g.formatPart.split(n, inNew)
	g.unread = min(g.unread+n, g.warm())
	g.outdated = min(g.outdated+g.faultyPart.split(n, g.faulty), g.warm())
}

// refuse counts the lookups among hits that find a value which their process
// cannot read, and drops those values where they are not isolated.
func (m *model) refuse(g *group, hits int) int {
	if g.unread == 0 {
		return 0
	}
	blind := m.blind(g)
	if blind == 0 {
		return 0
	}
	refused := g.refusedPart.split(hits, blind*ratio(g.unread, g.warm()))
	if g.next {
		m.refused[1] += refused
	} else {
		m.refused[0] += refused
	}
	dropping := g.dropPart.split(refused, 1-m.orders.isolate)
	n := min(distinct(g.unread, dropping), g.unread)
	g.unread -= n
	g.dropMarked(n, m)
	return refused
}

package lab

// A deployment can bring a new format of the cached values. Processes of the new
// version that cannot read the format before refuse such values. What they do
// with them is a control: drop them, so that they are gone for every process, or
// isolate them, so that the others go on reading them while values of the new
// format are fetched within the budget of refreshes.

// changeFormat lets a share of the processes read only values written from now on.
func (m *model) changeFormat(share float64) {
	m.newcomers = share
	for _, c := range m.cells {
		for _, g := range c.known() {
			g.unread = g.warm()
		}
	}
}

// rollBack brings the version before back, which reads both formats.
func (m *model) rollBack() {
	m.newcomers = 0
	for _, c := range m.cells {
		for _, g := range c.known() {
			g.unread = 0
		}
	}
}

// refuse counts the lookups of newcomers among hits that find a value they
// cannot read, and drops those values where they are not isolated.
func (m *model) refuse(g *group, hits int) int {
	if m.newcomers == 0 || g.unread == 0 {
		return 0
	}
	refused := g.refusedPart.split(hits, m.newcomers*ratio(g.unread, g.warm()))
	m.refused += refused
	dropping := g.dropPart.split(refused, 1-m.orders.isolate)
	n := min(distinct(g.unread, dropping), g.unread)
	g.unread -= n
	g.dropMarked(n, m)
	return refused
}

package lab

// A deployment that replaces a cell is a migration of what the cache holds. The
// replacement stands beside the old cell, empty and without readers, and is filled
// in a new format. Left alone, the pipeline takes the old cell away after a while
// and all its reads find nothing. Done well, the replacement first sees the reads
// in the shadow and is warmed by them, takes them over in parts, and the old cell
// is emptied only then, bit by bit.
//
// Both cells have one home: the same reads, and the same keys. Those that do not
// exist keep to the old cell, and to what it becomes.

// migration is a replacement beside the cell whose reads it is to take over.
type migration struct {
	home    int // index of the old cell
	next    *cell
	cutOver int     // second at which the pipeline takes the old cell away
	drained float64 // part of the old cell that was emptied
	lanes   [groupCount]lane
}

// lane is the traffic of one group in the replacement.
type lane struct {
	missed int // shadow lookups of this tick that found nothing

	enteringPart, shadowPart, foundPart, drainPart, editPart carry
	comparedPart, freshPart, unreadablePart, versionPart     carry
}

// How a migration ends.
const (
	completed  = iota // the replacement has all reads, and the old cell is empty
	cutOver           // the pipeline took the old cell away
	rolledBack        // the replacement is gone
	migrationEnds
)

var migrationEndNames = [migrationEnds]string{"completed", "cut_over", "rolled_back"}

// What a shadow lookup finds.
const (
	shadowHit = iota
	shadowMiss
	shadowResults
)

var shadowNames = [shadowResults]string{"hit", "miss"}

// What the comparison of a value in both cells says.
const (
	sameValue       = iota
	otherVersion    // of two fresh values
	notBothFresh    // one of them has no fresh value
	unreadableValue // a process cannot read the replacement's format
	comparisons
)

var comparisonNames = [comparisons]string{"equal", "version", "stale", "unreadable"}

// replaceCell brings a replacement for a cell. One deployment goes on at a time.
func (m *model) replaceCell(e *Event) {
	if m.migration != nil || m.cells[cellIndex(e.Cell)].host != home {
		return
	}
	x := &migration{home: cellIndex(e.Cell), cutOver: m.second() + seconds(e.Over)}
	old := m.cells[x.home]
	x.next = &cell{name: old.name + " replacement", lookups: old.lookups, limit: old.limit}
	for _, g := range old.known() {
		empty := newBarePool(m.life)
		empty.grow(g.keys)
		n := m.newGroup(place{cellCount, g.place.rank}, empty)
		n.products, n.variety, n.tier = g.products, g.variety, g.tier
		n.next, n.faulty = true, e.Share
		x.next.groups = append(x.next.groups, n)
	}
	m.cells = append(m.cells, x.next)
	m.migration = x
}

func cellIndex(name string) int {
	for i, c := range catalog.Cells {
		if c.Name == name {
			return i
		}
	}
	return 0
}

// turnMigration is a second of the deployment: the old cell is emptied as far as
// it may be, and the end is reached.
func (m *model) turnMigration() {
	x := m.migration
	if x == nil {
		return
	}
	x.drain(m)
	switch o := m.orders; {
	case o.exposure > nearlyAll && o.drain > nearlyAll:
		m.endMigration(completed)
	case m.second() >= x.cutOver && o.cutOver > 0.5 && !m.ops.frozen:
		m.endMigration(cutOver)
	}
}

// nearlyAll is a mean over all processes that differs from 1 by rounding alone.
const nearlyAll = 1 - 1e-9

// drain empties the old cell up to the part that its control says. What is gone
// does not come back when the control is lowered.
func (x *migration) drain(m *model) {
	target := m.orders.drain
	if target <= x.drained {
		return
	}
	share := (target - x.drained) / (1 - x.drained)
	for j, g := range m.cells[x.home].known() {
		n := x.lanes[j].drainPart.split(g.warm(), share)
		g.lapse(n, m.second(), m.keepsSnapshot(), m.random)
	}
	x.drained = target
}

// keepsSnapshot reports whether last-good copies outlive the old cell.
func (m *model) keepsSnapshot() bool { return m.orders.snapshot > 0.5 && !m.copiesInside() }

// lookUp lets reads of a group whose home is the old cell look up in the
// replacement, as far as it is exposed, and says how many did. The others are
// looked up there, too, in the shadow: their readers do not wait for it.
func (x *migration) lookUp(m *model, j, n int) int {
	g, l := x.next.groups[j], &x.lanes[j]
	entering := l.enteringPart.split(n, m.orders.exposure)
	x.shadow(m, j, n-entering)
	x.compare(m, j, n)
	m.entered += entering
	anew, missing := m.dueRetries(g, entering)
	m.lookUpGroup(x.next, g, entering+anew, missing)
	return entering
}

// shadow looks up in the replacement what the old cell answers. The keys that
// are missing there are warmed by prewarm, inside its limits.
func (x *migration) shadow(m *model, j, n int) {
	g, l := x.next.groups[j], &x.lanes[j]
	n = l.shadowPart.split(n, m.orders.shadow)
	hits := l.foundPart.split(n, ratio(g.warm(), g.keys))
	l.missed = n - hits
	m.shadowed[shadowHit] += hits
	m.shadowed[shadowMiss] += n - hits
	x.next.load(g, n)
}

// compare looks a part of the reads up in both cells. Nothing but the count
// comes of it.
func (x *migration) compare(m *model, j, n int) {
	old, next, l := m.cells[x.home].groups[j], x.next.groups[j], &x.lanes[j]
	n = l.comparedPart.split(n, m.orders.compare)
	if n == 0 {
		return
	}
	x.next.load(next, n)
	fresh := l.freshPart.split(n, ratio(old.warm(), old.keys)*ratio(next.warm(), next.keys))
	unreadable := l.unreadablePart.split(fresh, m.blind(next)*ratio(next.unread, next.warm()))
	readable := fresh - unreadable
	other := l.versionPart.split(readable, ratio(old.outdated, old.warm())+ratio(next.outdated, next.warm()))
	for result, count := range [comparisons]int{readable - other, other, n - fresh, unreadable} {
		m.compared[result] += count
	}
}

// edit overtakes in the replacement what an edit of n keys overtakes in the old cell.
func (x *migration) edit(m *model, old *group, kind, n int) {
	if int(old.place.cell) != x.home || old.unknown() {
		return
	}
	g := x.next.groups[old.rank]
	m.overtake(g, kind, x.lanes[old.rank].editPart.split(n, ratio(g.warm(), g.keys)))
}

// prewarmShadowed fetches keys that shadow lookups of this tick missed, deeper
// than prewarm goes by rank, and says how many of at most n.
func (m *model) prewarmShadowed(n int) int {
	x := m.migration
	if x == nil {
		return 0
	}
	started := 0
	for j := groupsOf(m.orders.depth); j < groupCount; j++ {
		g := x.next.groups[j]
		started += m.prewarm(g, min(n-started, distinct(g.cold(), x.lanes[j].missed)))
	}
	return started
}

// endMigration leaves one of the two cells, with what both of them had on the way.
func (m *model) endMigration(how int) {
	x := m.migration
	home := m.cells[x.home]
	for j, old := range home.known() {
		next := x.next.groups[j]
		if how == rolledBack {
			old.absorb(next)
			continue
		}
		next.absorb(old)
		if m.keepsSnapshot() {
			next.inherit(old, m.second(), m.second()-seconds(m.p.SnapshotLag))
		}
		next.place = old.place
		home.groups[j] = next
	}
	if how != rolledBack {
		home.generation++
	}
	home.leaders += x.next.leaders
	m.origin.readdress(cellCount, uint8(x.home))
	m.cells = m.cells[:cellCount]
	m.migration = nil
	m.migrations[how]++
}

// absorb takes over the reads and the refreshes of the same keys elsewhere.
func (g *group) absorb(other *group) {
	for i, n := range other.followers {
		g.followers[i] += n
	}
	g.following += other.following
	g.deadline = max(g.deadline, other.deadline)
	g.retries.absorb(&other.retries)
	g.coldLeaders += other.coldLeaders
	g.earlyLeaders += other.earlyLeaders
	g.fetching += other.fetching
	g.revoked += other.revoked
	g.tier.promoted = g.tier.promoted || other.tier.promoted
}

func (r *retries) absorb(other *retries) {
	for i, ring := range other.rings {
		for j, n := range ring {
			r.rings[i][j] += n
		}
	}
	for i, n := range other.perKey {
		r.perKey[i] += n
	}
	r.waiting += other.waiting
}

// inherit gives bare keys the last-good copies of an old cell: those that had
// lapsed there, and those that were fresh when its last snapshot was taken.
func (g *group) inherit(old *group, now, snapshot int) {
	share := ratio(g.bare, g.keys)
	var part carry
	give := func(second, n int) {
		k := min(part.split(n, share), g.bare)
		g.lapsed.add(second, k)
		g.bare -= k
	}
	old.lapsed.each(give)
	give(min(snapshot, now), old.warm())
}

// readdress sends the answers to attempts of one cell to another.
func (o *origin) readdress(from, to uint8) {
	for i := range o.queue {
		for j := range o.queue[i].batches {
			if b := &o.queue[i].batches[j]; b.of.cell == from {
				b.of.cell = to
			}
		}
	}
}

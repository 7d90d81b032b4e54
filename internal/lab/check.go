package lab

import "fmt"

// check reports the first count that does not add up: every read that arrived
// has ended or waits, every attempt was admitted or rejected, every admitted one
// has ended or is inside, every key is in one place.
func (m *model) check() error {
	ended := 0
	for _, n := range m.outcomes {
		ended += n
	}
	if waiting := m.waiting(); m.arrived != ended+waiting {
		return fmt.Errorf("%d reads arrived, but %d ended and %d wait", m.arrived, ended, waiting)
	}
	byBucket, byCell := 0, 0
	for _, n := range m.byBucket {
		byBucket += n
	}
	for _, c := range m.cells {
		byCell += c.reads
	}
	if byBucket != m.arrived || byCell != m.arrived {
		return fmt.Errorf("%d reads arrived, but %d by bucket and %d by cell", m.arrived, byBucket, byCell)
	}
	if err := m.origin.check(); err != nil {
		return err
	}
	asked := 0
	for _, n := range m.sources {
		asked += n
	}
	if asked != m.origin.catalog.attempts {
		return fmt.Errorf("%d attempts, but %d by source", m.origin.catalog.attempts, asked)
	}
	if err := m.checkMemory(); err != nil {
		return err
	}
	return m.checkCells()
}

func (m *model) checkMemory() error {
	if m.dead == 0 && !m.tight {
		return nil
	}
	for _, where := range m.memories() {
		used := 0.0
		for _, c := range where.cells {
			used += m.bytes(c)
		}
		if used > where.limit {
			return fmt.Errorf("%v bytes lie in memory for %v", used, where.limit)
		}
	}
	return nil
}

func (o *origin) check() error {
	inside, zombies := 0, 0
	for _, slot := range o.queue {
		inside += slot.zombies
		zombies += slot.zombies
		for _, b := range slot.batches {
			if b.n < 0 || b.readers < 0 || b.readers > b.n {
				return fmt.Errorf("a batch of %d attempts with %d readers", b.n, b.readers)
			}
			inside += b.n
		}
	}
	if inside != o.inside || zombies != o.zombies {
		return fmt.Errorf("%d attempts are inside, %d of them given up, but %d and %d are counted", inside, zombies,
			o.inside, o.zombies)
	}
	if err := o.catalog.check(o.inside); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	for i, r := range o.reserved {
		if err := r.check(r.inside); err != nil {
			return fmt.Errorf("%s: %w", o.p.Reserved[i].Partition, err)
		}
	}
	return nil
}

func (f flow) check(inside int) error {
	if f.attempts != f.admitted+f.rejected {
		return fmt.Errorf("%d attempts, but %d admitted and %d rejected", f.attempts, f.admitted, f.rejected)
	}
	if ended := f.completed + f.cancelled + f.late; f.admitted != ended+inside {
		return fmt.Errorf("%d admitted, but %d ended and %d inside", f.admitted, ended, inside)
	}
	return nil
}

func (m *model) checkCells() error {
	for _, c := range m.cells {
		leaders := 0
		for i, g := range c.groups {
			leaders += g.coldLeaders + g.earlyLeaders
			if err := g.check(); err != nil {
				return fmt.Errorf("%s, group %d: %w", c.name, i, err)
			}
		}
		if leaders != c.leaders {
			return fmt.Errorf("%s has %d leaders, but counts %d", c.name, leaders, c.leaders)
		}
	}
	return nil
}

// inRings counts the reads that wait; who says that none does is believed, for the
// rings are long.
func (r *retries) inRings() int {
	n := 0
	for _, ring := range r.rings {
		if r.waiting == 0 {
			break
		}
		for _, waiting := range ring {
			n += waiting
		}
	}
	return n
}

func (g *group) check() error {
	for _, n := range []int{g.fresh, g.early.old, g.early.young, g.lapsed.old, g.lapsed.young, g.bare, g.coldLeaders,
		g.earlyLeaders, g.fetching, g.following, g.retries.waiting} {
		if n < 0 {
			return fmt.Errorf("a count is negative: %+v", *g.pool)
		}
	}
	if most := g.products * g.variety.values(); !g.unknown() && g.keys%most != 0 {
		return fmt.Errorf("%d keys for %d products in %d ways", g.keys, g.products, g.variety.values())
	}
	if n := g.fresh + g.early.len() + g.lapsed.len() + g.bare; n != g.keys {
		return fmt.Errorf("%d keys, but %d have a place", g.keys, n)
	}
	if g.unread < 0 || g.unread > g.warm() || g.outdated < 0 || g.outdated > g.warm() {
		return fmt.Errorf("%d warm keys, but %d that some cannot read and %d outdated", g.warm(), g.unread, g.outdated)
	}
	if g.revoked < 0 || g.revoked > g.coldLeaders+g.earlyLeaders {
		return fmt.Errorf("%d leases revoked of %d", g.revoked, g.coldLeaders+g.earlyLeaders)
	}
	if waiting := g.retries.inRings(); waiting != g.retries.waiting {
		return fmt.Errorf("%d reads wait for another try, but %d are counted", waiting, g.retries.waiting)
	}
	following := 0
	for _, n := range g.followers {
		following += n
	}
	if following != g.following {
		return fmt.Errorf("%d followers, but %d are counted", following, g.following)
	}
	return nil
}

package lab

import "math"

// pool is where the keys of one group in one cell stand. Every key is in exactly
// one place: fresh and not yet due for a refresh, fresh and due, lapsed with a
// last-good copy outside the cell, or bare, without any copy.
type pool struct {
	keys   int
	due    []int // fresh keys by the second at which an early refresh becomes due, a ring
	fresh  int   // sum of due
	early  ages  // fresh and due, by the second at which they became so
	lapsed ages  // by the second at which they ceased to be fresh; old beyond the stale window
	bare   int
}

// cold keys have no fresh value in the cell.
func (p *pool) cold() int { return p.lapsed.len() + p.bare }

// warm keys have one.
func (p *pool) warm() int { return p.keys - p.cold() }

// usable cold keys have a copy that may be served as declared stale.
func (p *pool) usable() int { return p.lapsed.young }

// life is how long keys stay in each place, in seconds.
type life struct {
	untilDue, dueToLapse int // without jitter
	jitter               float64
	copiesKept           int
	soft                 float64
}

func newLife(p *params) life {
	soft := p.SoftTTL.Seconds()
	return life{
		untilDue:   int(soft * (1 - p.EarlyRefresh)),
		dueToLapse: int(soft * p.EarlyRefresh),
		jitter:     p.Jitter,
		copiesKept: seconds(p.CopiesKept),
		soft:       soft,
	}
}

// under is the life of values that are written from now on.
func (l life) under(o *orders) life {
	l.untilDue = max(1, int(l.soft*(1-o.early)))
	l.dueToLapse = int(l.soft * o.early)
	l.jitter = o.jitter
	l.copiesKept = int(math.Round(o.kept))
	return l
}

// longest is the longest time until a refresh becomes due, whatever the controls say.
func (l life) longest() int { return int(2*l.soft) + 1 }

// newBarePool makes a pool without keys.
func newBarePool(l life) *pool { return &pool{due: make([]int, l.longest()+1)} }

// newPool makes a pool of fresh keys of all ages, as a service has that has run
// for long, where a due key waits so many seconds for the read that refreshes it.
func newPool(keys int, l life, second int, wait float64, random dice) *pool {
	p := &pool{keys: keys, due: make([]int, l.longest()+1)}
	waiting := int(float64(keys) * wait / (wait + float64(l.untilDue)))
	for range waiting {
		p.early.add(second-random.upTo(1+int(wait)), 1)
	}
	p.fresh = keys - waiting
	shortest, spread := l.span()
	for range p.fresh {
		life := shortest + random.upTo(spread+1)
		p.due[(second+1+random.upTo(life))%len(p.due)]++
	}
	return p
}

// span is a key's shortest time until an early refresh becomes due, and how much
// longer it can be, in seconds.
func (l life) span() (shortest, spread int) {
	spread = int(2 * l.jitter * float64(l.untilDue))
	return max(1, l.untilDue-spread/2), spread
}

// age moves keys along at the start of a second: due, lapsed, without a copy.
func (p *pool) age(second, staleWindow int, l life) {
	slot := second % len(p.due)
	p.early.add(second, p.due[slot])
	p.fresh -= p.due[slot]
	p.due[slot] = 0
	p.early.limit(second - l.dueToLapse)
	p.lapsed.add(second, p.early.takeOld(p.early.old))
	p.lapsed.limit(second - min(staleWindow, l.copiesKept))
	p.bare += p.lapsed.dropBefore(second - l.copiesKept)
}

// renew makes n keys fresh that were taken from elsewhere in the pool.
func (p *pool) renew(n, second int, l life, random dice) {
	shortest, spread := l.span()
	start := (second + shortest) % len(p.due)
	due := p.due
	for range n {
		slot := start + random.upTo(spread+1)
		if slot >= len(due) {
			slot -= len(due)
		}
		due[slot]++
	}
	p.fresh += n
}

// takeCold removes up to n cold keys, from those with and without a usable copy
// in proportion, and says how many it got.
func (p *pool) takeCold(n int, usable *carry) int {
	n = min(n, p.cold())
	young := min(usable.split(n, ratio(p.usable(), p.cold())), p.usable())
	taken := p.lapsed.takeYoung(young)
	taken += p.lapsed.takeOld(n - taken)
	k := min(n-taken, p.bare)
	p.bare -= k
	taken += k
	return taken + p.lapsed.takeYoung(n-taken)
}

// takeWarm removes up to n warm keys, those first that are not due, and says how
// many it got.
func (p *pool) takeWarm(n int, random dice) int {
	taken := min(n, p.fresh)
	if taken == 0 {
		return p.takeDue(n, 0)
	}
	for left, slot := taken, p.anyDue(random); left > 0; slot = (slot + 1) % len(p.due) {
		k := min(left, p.due[slot])
		p.due[slot] -= k
		left -= k
	}
	p.fresh -= taken
	return p.takeDue(n, taken)
}

// takeDue takes what is still wanted of n keys from those that are due.
func (p *pool) takeDue(n, taken int) int {
	taken += p.early.takeOld(n - taken)
	return taken + p.early.takeYoung(n-taken)
}

// anyDue is a second of the ring at which keys become due, if a few looks find one.
func (p *pool) anyDue(random dice) int {
	slot := random.upTo(len(p.due))
	for looks := 0; looks < 64 && p.due[slot] == 0; looks++ {
		slot = random.upTo(len(p.due))
	}
	return slot
}

// lapse makes up to n warm keys lapsed at the given second, or bare without copies.
func (p *pool) lapse(n, second int, copies bool, random dice) {
	n = p.takeWarm(n, random)
	if copies {
		p.lapsed.add(second, n)
		return
	}
	p.bare += n
}

// lose makes every fresh key lapsed, as if at the given second.
func (p *pool) lose(second int) {
	n := p.fresh + p.early.len()
	clear(p.due)
	p.fresh = 0
	p.early = ages{}
	p.lapsed.add(second, n)
}

// expire takes every key and every copy away.
func (p *pool) expire() {
	clear(p.due)
	p.fresh, p.early, p.lapsed, p.bare = 0, ages{}, ages{}, p.keys
}

// invalidate makes up to n warm keys bare: what an edit has overtaken must not be
// served, not even as stale. It says how many they were.
func (p *pool) invalidate(n int, random dice) int {
	n = p.takeWarm(n, random)
	p.bare += n
	return n
}

package lab

// retries are the reads of a group that wait for another try, by how many they have had.
type retries struct {
	rings   [][]int // by tries so far less one, then by tick of coming back
	waiting int
	perKey  []float64 // by tick of coming back: reads that miss a key, for each key that was missing when they failed
	missed  float64   // part of the reads that looked up last whose key was missing
	shares  []float64 // of the reads that looked up last, by tries before
	parts   []carry
}

func newRetries(p *params) retries {
	r := retries{shares: make([]float64, p.Tries), parts: make([]carry, p.Tries)}
	r.shares[0] = 1
	for range p.Tries - 1 {
		r.rings = append(r.rings, make([]int, 2*ticks(p.HintAtMost)+1))
	}
	r.perKey = make([]float64, len(r.rings[0]))
	return r
}

// fail ends reads that got nothing, or lets them wait for another try as far as
// their tries and the budget go.
func (m *model) fail(g *group, n int, how outcome) {
	if n == 0 {
		return
	}
	r := &g.retries
	for tried, left := 0, n; tried < len(r.rings); tried++ {
		rest := 0.0
		for _, s := range r.shares[tried:] {
			rest += s
		}
		if rest <= 0 {
			break
		}
		k := r.parts[tried].split(left, r.shares[tried]/rest)
		left -= k
		k = min(k, int(m.retryTokens))
		m.retryTokens -= float64(k)
		m.comeBack(g, r.rings[tried], k, how)
		r.waiting += k
		n -= k
	}
	m.end(how, n)
}

// comeBack lets n reads try again: after RetryDelay, or when the hint that came
// with a refusal says, as far as clients obey it.
func (m *model) comeBack(g *group, ring []int, n int, how outcome) {
	if how == rejected && m.orders.hint > 0 {
		obeying := g.hintPart.split(n, 1-m.p.HintIgnored)
		m.hints[obeyed] += obeying
		m.hints[ignored] += n - obeying
		m.scatter(g, ring, obeying)
		n -= obeying
	}
	m.comeBackAt(g, ring, m.tick+ticks(m.p.RetryDelay), n)
}

// comeBackAt lets n reads try again at a tick.
func (m *model) comeBackAt(g *group, ring []int, tick, n int) {
	slot := tick % len(ring)
	ring[slot] += n
	if keys := m.wanting(g); keys > 0 {
		g.retries.perKey[slot] += float64(n) * g.retries.missed / float64(keys)
	}
}

const (
	obeyed = iota
	ignored
)

// scatter lets n reads come back at their hint or up to its jitter later, evenly.
// Without jitter, those that were refused together come back together.
func (m *model) scatter(g *group, ring []int, n int) {
	first := m.tick + m.orders.hintTicks(m.p)
	width := max(1, int(m.orders.spread*float64(first-m.tick)))
	phase := m.random.upTo(width)
	for i := range width {
		m.comeBackAt(g, ring, first+i, (n*(i+1)+phase)/width-(n*i+phase)/width)
	}
}

// hintTicks is how long clients are told to stay away.
func (o *orders) hintTicks(p *params) int {
	return max(1, min(inTicks(o.hint), ticks(p.HintAtMost)))
}

// addRetryTokens fills the budget: a share of the reads, not saved up.
func (m *model) addRetryTokens() {
	perTick := m.orders.retries * float64(m.reads.perTick)
	m.retryTokens = min(m.retryTokens+perTick, 2*perTick)
}

// dueRetries are the reads whose wait is over, beside n new ones: those whose key is
// still missing, which try their query again, and the others, which look up anew.
// Without a budget they end here.
func (m *model) dueRetries(g *group, n int) (anew, missing int) {
	r := &g.retries
	if r.waiting == 0 {
		r.onlyNew()
		return 0, 0
	}
	due := 0
	r.shares[0] = float64(n)
	for i, ring := range r.rings {
		slot := &ring[m.tick%len(ring)]
		r.shares[i+1] = float64(*slot)
		due += *slot
		*slot = 0
	}
	r.waiting -= due
	perKey := &r.perKey[m.tick%len(r.perKey)]
	missing = g.againPart.split(due, min(1, *perKey*float64(m.wanting(g))/float64(max(1, due))))
	*perKey = 0
	if m.orders.retries <= 0 {
		m.end(failed, due)
		r.onlyNew()
		return 0, 0
	}
	if n+due == 0 {
		r.shares[0] = 1
	}
	return due - missing, missing
}

// onlyNew says that none of the reads that look up have tried before.
func (r *retries) onlyNew() {
	clear(r.shares)
	r.shares[0] = 1
}

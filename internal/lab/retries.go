package lab

// retries are the reads of a group that wait for another try, by how many they have had.
type retries struct {
	rings   [][]int // by tries so far less one, then by tick of failing
	waiting int
	shares  []float64 // of the reads that looked up last, by tries before
	parts   []carry
}

func newRetries(p *params) retries {
	r := retries{shares: make([]float64, p.Tries), parts: make([]carry, p.Tries)}
	r.shares[0] = 1
	for range p.Tries - 1 {
		r.rings = append(r.rings, make([]int, ticks(p.RetryDelay)+1))
	}
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
		ring := r.rings[tried]
		ring[m.tick%len(ring)] += k
		r.waiting += k
		n -= k
	}
	m.end(how, n)
}

// addRetryTokens fills the budget: a share of the reads, not saved up.
func (m *model) addRetryTokens() {
	perTick := m.orders.retries * float64(m.reads.perTick)
	m.retryTokens = min(m.retryTokens+perTick, 2*perTick)
}

// dueRetries are the reads whose wait is over, to look up together with n new
// ones. Without a budget they end here.
func (m *model) dueRetries(g *group, n int) int {
	r := &g.retries
	if r.waiting == 0 {
		clear(r.shares)
		r.shares[0] = 1
		return 0
	}
	due := 0
	r.shares[0] = float64(n)
	for i, ring := range r.rings {
		slot := &ring[(m.tick+1)%len(ring)]
		r.shares[i+1] = float64(*slot)
		due += *slot
		*slot = 0
	}
	r.waiting -= due
	if m.orders.retries <= 0 {
		m.end(failed, due)
		clear(r.shares)
		r.shares[0] = 1
		return 0
	}
	if n+due == 0 {
		r.shares[0] = 1
	}
	return due
}

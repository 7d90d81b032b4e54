package lab

// batchJob prewarms past admission, and does not yield: what prewarm is when nobody charges
// it to the budget of live reads.
type batchJob struct {
	left int // keys that it still fetches
	rate float64
	part carry
}

func newBatchJob(e *Event) *batchJob {
	return &batchJob{left: e.Keys, rate: float64(e.Keys) / float64(max(1, seconds(e.Over)))}
}

// batchAsks is how many keys the batch job asks for in this tick.
func (m *model) batchAsks() int {
	if m.batch == nil {
		return 0
	}
	wanting := 0
	for _, c := range m.cells {
		for _, g := range c.groups {
			if !g.unknown() {
				wanting += max(0, m.unfetched(g))
			}
		}
	}
	n := min(m.batch.part.take(m.batch.rate/ticksPerSecond), m.batch.left, wanting)
	m.batch.left -= n
	return n
}

// runBatch lets the batch job ask for n keys at the door, like everybody else there, except
// for those that a leader of this tick fetches.
func (e *entrance) runBatch(n int) {
	m := e.m
	inside := e.door.deal(n)
	m.origin.catalog.rejected += n - inside
	for j := range groupsOf(depthOf("working-set")) {
		for _, c := range m.cells {
			inside -= m.prewarm(c.groups[j], inside)
		}
	}
	m.countPrewarm(n - inside)
}

// countPrewarm counts n attempts of prewarm.
func (m *model) countPrewarm(n int) {
	m.sources[warming] += n
	m.origin.catalog.attempts += n
}

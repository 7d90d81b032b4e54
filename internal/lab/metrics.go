package lab

import "fmt"

// newPage declares the metrics of the service. All of them are there from the
// start, counters at 0.
func newPage(m *model, report func() readerReport) *page {
	p := &page{}
	p.reads(m)
	p.cells(m)
	p.gutter(m)
	p.leaders(m)
	p.attempts(m)
	p.originState(m)
	p.staleness(m)
	p.migration(m)
	p.fleet(m)
	p.reader(m, report)
	return p
}

func (p *page) reads(m *model) {
	f := p.counter("catalog_reads_total", "Logical product-detail reads that ended, by outcome.")
	for i, name := range outcomeNames {
		f.count(&m.outcomes[i], "outcome", name)
	}
	f = p.counter("catalog_reads_by_rank_total", "Logical reads that arrived, by popularity of their key.")
	for i, name := range bucketNames {
		f.count(&m.byBucket[i], "bucket", name)
	}
	f = p.counter("catalog_cell_reads_total", "Logical reads that arrived, by home cell, routed there or not.")
	for _, c := range m.cells {
		f.count(&c.reads, "cell", c.name)
	}
}

func (p *page) cells(m *model) {
	lookups := p.counter("catalog_cache_attempts_total", "Lookups in a cell, by result.")
	cpu := p.gauge("catalog_cell_cpu_ratio", "CPU of a cell in use.")
	used := p.gauge("catalog_cell_memory_used_bytes", "Memory of a cell in use.")
	limit := p.gauge("catalog_cell_memory_limit_bytes", "Memory that a cell may use.")
	evicted := p.counter("catalog_cell_evictions_total", "Values that a cell dropped for lack of memory.")
	connections := p.gauge("catalog_cell_connections", "Connections from processes to a cell.")
	nodes := p.gauge("catalog_node_cpu_ratio", "CPU of one node of a cell in use.")
	keys := p.gauge("catalog_warm_key_coverage_ratio", "Keys of a cell that have a fresh value there.")
	reads := p.gauge("catalog_warm_read_coverage_ratio", "Reads of a cell whose key has a fresh value there.")
	denied := p.gauge("catalog_cell_negative_entries", "Keys of which a cell holds that they do not exist.")
	generation := p.gauge("catalog_cache_generation", "Times that a cell was built up from empty.")
	buckets := p.gauge("catalog_warm_bucket_coverage_ratio", "Keys of a popularity, in all cells, that have a fresh value.")
	for i, name := range bucketNames {
		buckets.add(func() float64 { return m.bucketCoverage(i) }, "bucket", name)
	}
	for i, c := range m.cells {
		lookups.count(&c.hits, "cell", c.name, "result", "hit")
		lookups.count(&c.ahead, "cell", c.name, "result", "refresh")
		lookups.count(&c.failures, "cell", c.name, "result", "error")
		lookups.count(&c.stales, "cell", c.name, "result", "stale")
		lookups.count(&c.misses, "cell", c.name, "result", "miss")
		lookups.count(&c.denials, "cell", c.name, "result", "negative")
		cpu.add(func() float64 { return min(1, float64(c.recent*ticksPerSecond)/float64(m.p.Nodes*m.p.NodeSpeed)) }, "cell", c.name)
		for n := range m.p.Nodes {
			nodes.add(func() float64 { return m.nodeCPU(c, n) }, "cell", c.name, "node", nodeName(i, n, m.p.Nodes))
		}
		used.add(func() float64 { return m.used(i) }, "cell", c.name)
		limit.add(func() float64 { return c.limit }, "cell", c.name)
		evicted.count(&c.evicted, "cell", c.name)
		connections.add(func() float64 { return float64(len(m.fleet.delays)) }, "cell", c.name)
		keys.add(func() float64 { return ratio(c.warmKeys(), c.keys()) }, "cell", c.name)
		reads.add(func() float64 { return m.readCoverage(i, c) }, "cell", c.name)
		denied.add(func() float64 { return float64(c.deniedKeys()) }, "cell", c.name)
		generation.count(&c.generation, "cell", c.name)
	}
}

func (p *page) gutter(m *model) {
	p.gauge("catalog_gutter_memory_used_bytes", "Memory of the gutter in use.").add(func() float64 { return m.bytesAt(gutter) })
	p.gauge("catalog_gutter_memory_limit_bytes", "Memory that the gutter may use.").add(m.gutterLimit)
	p.counter("catalog_gutter_evictions_total", "Values that the gutter dropped for lack of memory.").count(&m.evictedThere)
	f := p.gauge("catalog_cell_up", "Whether a cell is there.")
	for _, c := range m.cells {
		f.add(func() float64 {
			if c.host == home {
				return 1
			}
			return 0
		}, "cell", c.name)
	}
}

func (c *cell) keys() int {
	n := 0
	for _, g := range c.known() {
		n += g.keys
	}
	return n
}

func (c *cell) warmKeys() int {
	n := 0
	for _, g := range c.known() {
		n += g.warm()
	}
	return n
}

// deniedKeys are those of which the cell holds that they do not exist.
func (c *cell) deniedKeys() int {
	n := 0
	for _, g := range c.groups[groupCount:] {
		n += g.warm()
	}
	return n
}

// bucketCoverage is the part of a bucket's keys, in all cells, that are warm.
func (m *model) bucketCoverage(bucket int) float64 {
	warm, keys := 0, 0
	for _, c := range m.cells[:cellCount] {
		for j, g := range c.known() {
			if bucketOf(j) == bucket {
				warm += g.warm()
				keys += g.keys
			}
		}
	}
	return ratio(warm, keys)
}

// readCoverage is the part of the reads of a home whose key is warm in a cell.
func (m *model) readCoverage(home int, c *cell) float64 {
	warm, all := 0.0, 0.0
	for i, g := range c.known() {
		w := float64(m.reads.weight[home][i])
		all += w
		warm += w * ratio(g.warm(), g.keys)
	}
	return warm / all
}

func (p *page) leaders(m *model) {
	f := p.gauge("catalog_refresh_leaders", "Refreshes on their way, by cell.")
	for _, c := range m.cells {
		f.count(&c.leaders, "cell", c.name)
	}
	p.histogram("catalog_refresh_leader_seconds", "How long refresh leaders took, answered or not.").observe(&m.refreshTimes)
	p.counter("catalog_coalesced_followers_total", "Reads that followed a leader: served its value, refused at their deadline, sent to the origin there, or refused at once because too many follow.").
		count(&m.served, "result", "served").count(&m.timedOut, "result", "timeout").count(&m.released, "result", "released").
		count(&m.crowded, "result", "crowded")
	f = p.counter("catalog_identity_mistakes_total", "Followers that were handed a value that is not theirs, by the part of its identity that differs; they count as errors.")
	for i, name := range partNames {
		f.count(&m.mixed[i], "part", name)
	}
	p.gauge("catalog_retry_waiters", "Reads that wait for another try.").add(func() float64 { return float64(m.retrying()) })
	p.counter("catalog_retry_hints_total", "Refused reads that try again, by what they make of their hint.").
		count(&m.hints[obeyed], "result", "obeyed").count(&m.hints[ignored], "result", "ignored")
}

func (m *model) retrying() int {
	n := 0
	for _, c := range m.cells {
		for _, g := range c.groups {
			n += g.retries.waiting
		}
	}
	return n
}

func (p *page) attempts(m *model) {
	f := p.counter("catalog_origin_attempts_total", "Attempts of the catalog class at the origin, refused ones too, by who asked.")
	for i, name := range sourceNames {
		f.count(&m.sources[i], "source", name)
	}
	ends := []struct {
		name, help string
		count      func(*flow) *int
	}{
		{"admitted", "Attempts that the origin took in.", func(f *flow) *int { return &f.admitted }},
		{"rejected", "Attempts refused by admission or for lack of room.", func(f *flow) *int { return &f.rejected }},
		{"completed", "Attempts completed while their client waited.", func(f *flow) *int { return &f.completed }},
		{"cancelled", "Attempts dropped after their client had gone.", func(f *flow) *int { return &f.cancelled }},
		{"late", "Attempts completed after their client had gone; they warm nothing.", func(f *flow) *int { return &f.late }},
	}
	for _, end := range ends {
		f := p.counter("catalog_origin_"+end.name+"_total", end.help)
		f.count(end.count(&m.origin.catalog), "partition", "catalog")
		for i := range m.origin.reserved {
			f.count(end.count(&m.origin.reserved[i].flow), "partition", m.p.Reserved[i].Partition)
		}
	}
}

func (p *page) originState(m *model) {
	f := p.gauge("catalog_origin_reserved_rate", "Attempts a second that are reserved for a partition and offered by it.")
	for _, r := range m.p.Reserved {
		f.add(func() float64 { return float64(r.Rate) }, "partition", r.Partition)
	}
	p.gauge("catalog_origin_queue_depth", "Attempts of the catalog class that wait for a connection.").
		add(func() float64 { return float64(m.origin.pending()) })
	p.gauge("catalog_origin_queue_age_seconds", "How long the oldest attempt has waited for its turn.").
		add(func() float64 { return toSeconds(m.origin.waited(m.tick)) })
	p.gauge("catalog_origin_connections", "Connections of the catalog class, by state.").
		add(func() float64 { return float64(m.origin.inside - m.origin.pending()) }, "state", "active").
		add(func() float64 { return float64(m.origin.connections() - m.origin.inside + m.origin.pending()) }, "state", "idle").
		add(func() float64 { return float64(m.origin.pending()) }, "state", "pending")
	h := p.histogram("catalog_origin_service_seconds", "Time that the origin worked on completed attempts, by cost class.")
	for i, class := range costNames {
		h.observe(&m.serviceTimes[i], "class", class)
	}
}

// connections is how many attempts of the class the origin works on at a time.
func (o *origin) connections() int {
	return int(float64(o.p.Knee) * o.p.Service.Seconds())
}

// pending is how many wait for a connection.
func (o *origin) pending() int { return max(0, o.inside-o.connections()) }

// The classes of values. Only the first has copies that may be served stale.
var classes = []string{"product-detail", "price", "recall", "authorization", "inventory"}

func (p *page) staleness(m *model) {
	f := p.counter("catalog_stale_violations_total", "Reads served a copy that their class forbids or that is older than it approves.")
	for i, class := range classes {
		if i == 0 {
			f.count(&m.violating, "class", class)
			continue
		}
		f.add(func() float64 { return 0 }, "class", class)
	}
	p.counter("catalog_stale_unmarked_total", "Outdated values served as if they were fresh.").count(&m.unmarked)
	f = p.summary("catalog_stale_runway_seconds", "How long lapsed keys can still be served declared stale; the whole window where none has lapsed.")
	for _, q := range []float64{0.1, 0.5, 0.9} {
		f.add(func() float64 { return m.runway(q) }, "class", classes[0], "quantile", fmt.Sprint(q))
	}
	p.gauge("catalog_refresh_lag_seconds", "How long keys have been lapsed without a refresh, in the mean.").add(m.refreshLag)
	p.counter("catalog_invalidations_total", "Keys invalidated.").count(&m.removed[0], "kind", "single").count(&m.removed[1], "kind", "bulk")
	p.counter("catalog_serializer_rejections_total", "Cached values refused because of their format version.").count(&m.refused[0], "version", "7").count(&m.refused[1], "version", "8")
	p.counter("catalog_fills_refused_total", "Answers of the origin that came with a revoked lease; they warm nothing.").count(&m.unfilled)
	p.counter("catalog_version_conflicts_total", "Values refused because their version was no longer the current one.").count(&m.outdated)
	p.gauge("catalog_local_keys", "Keys that each process holds a copy of.").add(func() float64 { return float64(m.localKeys()) })
	p.gauge("catalog_local_staleness_bound_seconds", "How old a value can be that a reader gets as fresh.").add(func() float64 { return m.staleBound() })
}

// migration declares what a deployment that replaces a cell reports.
func (p *page) migration(m *model) {
	gauge := func(name, help string, value func(*migration) float64) {
		p.gauge(name, help).add(func() float64 {
			if m.migration == nil {
				return 0
			}
			return value(m.migration)
		})
	}
	gauge("catalog_migration_open", "Whether a replacement stands beside a cell.", func(*migration) float64 { return 1 })
	gauge("catalog_migration_drained_ratio", "Part of the cell to be replaced that was emptied.", func(x *migration) float64 { return x.drained })
	gauge("catalog_replacement_refresh_leaders", "Refreshes on their way for a replacement.", func(x *migration) float64 { return float64(x.next.leaders) })
	gauge("catalog_replacement_warm_key_coverage_ratio", "Keys of a replacement that have a fresh value there; 0 without a replacement.", func(x *migration) float64 {
		return ratio(x.next.warmKeys(), x.next.keys())
	})
	gauge("catalog_replacement_warm_read_coverage_ratio", "Reads whose key has a fresh value in a replacement; 0 without a replacement.", func(x *migration) float64 {
		return m.readCoverage(x.home, x.next)
	})
	p.counter("catalog_replacement_reads_total", "Logical reads that looked up in a replacement.").count(&m.entered)
	tally := func(name, help, label string, values []string, counts []int) {
		f := p.counter(name, help)
		for i, value := range values {
			f.count(&counts[i], label, value)
		}
	}
	tally("catalog_migrations_total", "Replacements that have ended, by how.", "end", migrationEndNames[:], m.migrations[:])
	tally("catalog_shadow_lookups_total", "Lookups in a replacement for which no reader waited.", "result", shadowNames[:], m.shadowed[:])
	tally("catalog_shadow_compared_total", "Values compared between a cell and its replacement.", "result", comparisonNames[:], m.compared[:])
}

// lapsedKeys is the lapsed keys of all cells by when they lapsed, as of one tick.
type lapsedKeys struct {
	tick   int
	oldest int   // the second of the first count
	counts []int // by second
	total  int
}

// lapsedBySecond counts them once a tick, however many metrics ask.
func (m *model) lapsedBySecond() *lapsedKeys {
	l := &m.lapsed
	if l.tick == m.tick {
		return l
	}
	kept := seconds(m.p.CopiesKept) + 2
	*l = lapsedKeys{tick: m.tick, oldest: m.second() - kept + 1, counts: append(l.counts[:0], make([]int, kept)...)}
	for _, c := range m.cells {
		for _, g := range c.groups {
			g.pool.lapsed.each(func(second, n int) {
				l.counts[max(0, second-l.oldest)] += n
				l.total += n
			})
		}
	}
	return l
}

// runway is how long the given part of the lapsed keys can still be served at most.
func (m *model) runway(quantile float64) float64 {
	l := m.lapsedBySecond()
	if l.total == 0 {
		return m.staleUpTo()
	}
	below := 0
	for i, n := range l.counts {
		if below += n; float64(below) >= quantile*float64(l.total) {
			return max(0, m.staleUpTo()-float64(m.second()-l.oldest-i))
		}
	}
	return 0
}

// staleUpTo is the age in seconds up to which a copy is there and may be served.
func (m *model) staleUpTo() float64 { return min(m.orders.stale, m.orders.kept) }

func (m *model) refreshLag() float64 {
	l := m.lapsedBySecond()
	sum := 0
	for i, n := range l.counts {
		sum += n * (m.second() - l.oldest - i)
	}
	return ratio(sum, l.total)
}

// fleet declares what every process reports of itself.
func (p *page) fleet(m *model) {
	up := p.gauge("up", "Whether a process can be scraped.")
	version := p.gauge("rewarm_controls_version", "Version of the controls that a process obeys.")
	join := func() {
		for i := len(up.series); i < len(m.fleet.delays); i++ {
			name := fmt.Sprintf("catalog-%03d", i+1)
			s := up.addSeries("", name, func() float64 { return 1 })
			v := version.addSeries("", name, func() float64 { return float64(m.fleet.version(i)) }, "service", Service)
			if p.added != nil {
				p.added(up, s)
				p.added(version, v)
			}
		}
	}
	join()
	m.fleet.joined = join
}

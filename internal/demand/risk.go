package demand

// KeyRisk is how much depends on the hottest key: four figures that stand side by
// side. There is no score, for none of them stands for another: a key with 28 % of
// the reads can be safe in process memory, and one with 2 % dangerous when each miss
// starts a slow query.
type KeyRisk struct {
	Concentration Figure // share of the reads
	MissCost      Figure // seconds that the origin takes for one miss
	Refreshers    Figure // how many would refresh it independently of each other
	Headroom      Figure // attempts/s that the limit leaves when steady; can be negative
}

// Figures gives the four in their order.
func (r KeyRisk) Figures() []Figure {
	return []Figure{r.Concentration, r.MissCost, r.Refreshers, r.Headroom}
}

func (in Inputs) keyRisk() KeyRisk {
	return KeyRisk{
		Concentration: in.hotShare().figure("concentration_ratio", "concentration", unitRatio),
		MissCost:      in.missCost().figure("miss_cost_seconds", "miss cost", unitSeconds),
		Refreshers:    in.refreshers().figure("independent_refreshers", "independent refreshers", ""),
		Headroom: in.limit().minus(in.steadyMisses().term()).
			figure("headroom_attempts_per_second", "headroom", unitAttempts),
	}
}

// refreshers are the domains; without coalescing, the processes with a local tier;
// without that too, the readers that come while one refresh is under way.
func (in Inputs) refreshers() term {
	switch {
	case !in.Domains.IsZero():
		return in.domains()
	case !in.LocalTTL.IsZero():
		return in.processes()
	}
	return in.hotReads(in.HotShare).term().times(in.missCost())
}

func (in Inputs) missCost() term { return lasting(in.MissCost, "miss cost") }

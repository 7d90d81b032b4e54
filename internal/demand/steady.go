package demand

// The nine figures of every report. Their keys are relied on from outside.
const (
	keySteadyMisses    = "steady_misses_per_second"
	keyHotReads        = "hot_key_reads_per_second"
	keyKnee            = "knee_amplification"
	keyExposed         = "exposed_reads_per_second"
	keyCellLoss        = "cell_loss_attempts_per_second"
	keyCellLossOver    = "cell_loss_over_limit"
	keyLocalRefreshes  = "local_tier_refreshes_per_second"
	keyJointRefreshes  = "coalesced_refreshes_per_second"
	keyAvoidedAttempts = "avoided_attempts_per_second"
)

func (in Inputs) figures() []Figure {
	hot := in.hotReads(in.HotShare)
	exposed, attempts := in.exposure(State{CellLoss, in.CellShare})
	attempts.Key, attempts.Name = keyCellLoss, "attempts after the loss of a cell"
	over := attempts.term().over(in.limit()).figure(keyCellLossOver, "cell loss over the limit", unitLimit)
	local, joint := in.localRefreshes(hot), in.coalescedRefreshes(hot)
	return []Figure{
		in.steadyMisses(),
		hot,
		hot.term().over(in.knee()).figure(keyKnee, "hot key over the knee", unitKnee),
		exposed, attempts, over,
		local, joint,
		hot.term().minus(joint.term()).figure(keyAvoidedAttempts, "attempts avoided by coalescing", unitAttempts),
	}
}

func (in Inputs) steadyMisses() Figure {
	return in.reads().times(in.hitRatio().rest()).figure(keySteadyMisses, "steady misses", unitMisses)
}

func (in Inputs) hotReads(ofReads Number) Figure {
	return in.reads().times(share(ofReads, "hot-key share")).figure(keyHotReads, "hot-key reads", unitReads)
}

// localRefreshes are those of processes that each keep the hot key for a while. Without
// a local tier every read goes on to the shared one.
func (in Inputs) localRefreshes(hot Figure) Figure {
	refreshes := hot.term()
	if !in.LocalTTL.IsZero() {
		refreshes = in.processes().over(lasting(in.LocalTTL, "local TTL")).atMost(refreshes)
	}
	return refreshes.figure(keyLocalRefreshes, "refreshes with the local tier", unitRefreshes)
}

// coalescedRefreshes are those of domains in which one read leads and the others follow.
func (in Inputs) coalescedRefreshes(hot Figure) Figure {
	refreshes := hot.term()
	if !in.Domains.IsZero() {
		refreshes = in.domains().over(lasting(in.Window, "window")).atMost(refreshes)
	}
	return refreshes.figure(keyJointRefreshes, "refreshes when coalesced", unitRefreshes)
}

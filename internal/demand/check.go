package demand

// Check holds the demand after a state against the limit. The admission check asks
// what the origin is asked for; the correctness check asks how the reads are answered
// that admission turns away.
type Check struct {
	State       State
	Figures     []Figure // with their work; Predicted is one of them
	Predicted   Figure   // demand on the origin by the service's own means, attempts/s
	Affordable  bool     // Predicted is inside the limit
	Answerable  bool     // every read, fresh or declared stale, until all is refilled; else some are refused
	Admission   string   // the first check in a sentence
	Correctness string   // the second
}

// Check checks one state.
func (in Inputs) Check(s State) Check {
	exposed, attempts := in.exposure(s)
	list := []Figure{exposed, attempts}
	predicted := attempts
	if bounded, ok := in.bounded(s); ok {
		list[1].Key, list[1].Name = "unbounded_attempts_per_second", "attempts if every read refreshes"
		attempts, predicted = list[1], bounded
		list = append(list, bounded)
	}
	list = append(list, predicted.term().over(in.limit()).figure("over_limit", "demand over the limit", unitLimit))
	list = append(list, in.admission(predicted)...)
	list = append(list, in.overload(attempts)...)
	check := Check{State: s, Predicted: predicted, Affordable: !predicted.Value.above(in.Limit)}
	refill, ends := in.refill(s)
	if ends {
		list = append(list, refill)
	}
	if s.Mode == ColdRegion {
		list = append(list, in.coldShare())
	}
	check.Figures = list
	check.Admission = in.admissionSentence(check, attempts)
	check.Answerable, check.Correctness = in.correctness(check, refill, ends)
	return check
}

// bounded is the demand when a key lapses that processes or domains refresh once each.
// In the other states many keys are gone, which neither of them bounds.
func (in Inputs) bounded(s State) (Figure, bool) {
	if s.Mode != Expiry || in.Domains.IsZero() && in.LocalTTL.IsZero() {
		return Figure{}, false
	}
	hot := in.hotReads(s.Share)
	fewest := in.coalescedRefreshes(hot)
	if local := in.localRefreshes(hot); fewest.Value.above(local.Value) {
		fewest = local
	}
	return fewest.term().plus(in.elsewhere(s)).figure(keyPredicted, namePredicted, unitAttempts), true
}

// admission splits the demand at the limit.
func (in Inputs) admission(predicted Figure) []Figure {
	admitted := predicted.term().lesser(in.limit()).figure("admitted_attempts_per_second", "admitted", unitAttempts)
	return []Figure{
		admitted,
		predicted.term().minus(admitted.term()).figure("turned_away_per_second", "turned away", unitAttempts),
	}
}

// overload is what the origin would still complete if nothing were turned away.
func (in Inputs) overload(attempts Figure) []Figure {
	const key, name = "goodput_lost_per_second", "goodput lost to overload"
	goodput := in.Curve.at(attempts.term(), in.knee()).
		figure("unadmitted_goodput_per_second", "goodput without admission", unitCompletions)
	lost := in.knee().minus(goodput.term()).figure(key, name, unitCompletions)
	if !attempts.Value.above(in.Knee) {
		lost = term{Number{}, "none up to the knee", attempts.Text() + " is not beyond " + in.knee().shown}.
			figure(key, name, unitCompletions)
	}
	return []Figure{goodput, lost}
}

// refill is the least time in which what is lost can be fetched through what the limit
// leaves beside the misses of the rest; false when that is nothing, and for the one key
// of an expiry, which is a single refresh.
func (in Inputs) refill(s State) (Figure, bool) {
	spare := in.limit().minus(in.elsewhere(s))
	if s.Mode == Expiry || !spare.value.above(Number{}) {
		return Figure{}, false
	}
	return in.keys().times(share(s.Share, "share")).over(spare.inBrackets()).
		figure("refill_seconds", "least time to refill", unitSeconds), true
}

// coldShare is the largest share of the reads that may be cold at once.
func (in Inputs) coldShare() Figure {
	const key, name = "affordable_cold_share_ratio", "share that may be cold at once"
	steady := in.steadyMisses().term()
	hits := in.reads().minus(steady).inBrackets()
	spare := in.limit().minus(steady).inBrackets()
	switch {
	case !in.Limit.above(steady.value):
		return term{Number{}, "none", "the steady misses take the whole limit"}.figure(key, name, unitRatio)
	case !hits.value.above(spare.value):
		return term{Whole(1), "all", "the limit covers every read"}.figure(key, name, unitRatio)
	}
	return spare.over(hits).figure(key, name, unitRatio)
}

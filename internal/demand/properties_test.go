package demand

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// anyInputs draws a service from texts, so that it can be written on a command line.
func anyInputs(t *rapid.T) Inputs {
	number := func(name string, from, to int) string { return strconv.Itoa(rapid.IntRange(from, to).Draw(t, name)) }
	ratio := func(name string) string { return number(name, 0, 10_000) + "/10000" }
	processes := rapid.IntRange(1, 5000).Draw(t, "processes")
	texts := map[string]string{
		"reads":        number("reads", 1, 2_000_000),
		"hit-ratio":    ratio("hit ratio"),
		"hot-share":    ratio("hot share"),
		"cell-share":   ratio("cell share"),
		"keys":         number("keys", 1, 10_000_000),
		"knee":         number("knee", 1, 100_000),
		"limit":        number("limit", 1, 100_000),
		"processes":    strconv.Itoa(processes),
		"local-ttl":    rapid.SampledFrom([]string{None, "250ms", "1s", "2s", "1m"}).Draw(t, "local ttl"),
		"domains":      rapid.SampledFrom([]string{None, "1", strconv.Itoa(processes)}).Draw(t, "domains"),
		"window":       rapid.SampledFrom([]string{"100ms", "1s", "10s"}).Draw(t, "window"),
		"stale-window": rapid.SampledFrom([]string{None, "10s", "120s"}).Draw(t, "stale window"),
		"decline":      rapid.SampledFrom([]string{"0", "0.5", "3"}).Draw(t, "decline"),
	}
	in, err := Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func anyState(t *rapid.T, in Inputs) State {
	mode := rapid.SampledFrom(modes).Draw(t, "mode")
	state := State{mode, Whole(1)}
	if mode != TierLoss {
		state.Share = Whole(int64(rapid.IntRange(0, 1000).Draw(t, "share"))).over(Whole(1000))
	}
	return state
}

func value(t *rapid.T, figures []Figure, key string) Number {
	for _, f := range figures {
		if f.Key == key {
			return f.Value
		}
	}
	t.Fatalf("no figure %s", key)
	return Number{}
}

// TestConservation: nothing of the demand is lost on the way through the figures.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInputs(t)
		r := Size(in, anyState(t, in))
		hot := value(t, r.Figures, keyHotReads)
		if joint := value(t, r.Figures, keyJointRefreshes); hot.Cmp(joint.plus(value(t, r.Figures, keyAvoidedAttempts))) != 0 {
			t.Fatal("avoided + coalesced is not the hot-key reads")
		}
		for _, f := range r.Figures {
			if f.Value.negative() {
				t.Fatalf("%s is %s by %s", f.Key, f.Value, f.Work)
			}
		}
		check := r.After[0]
		admitted, away := value(t, check.Figures, "admitted_attempts_per_second"), value(t, check.Figures, "turned_away_per_second")
		if check.Predicted.Value.Cmp(admitted.plus(away)) != 0 {
			t.Fatal("admitted + turned away is not the predicted demand")
		}
		if admitted.above(in.Limit) || check.Affordable != away.IsZero() {
			t.Fatalf("admitted %s of a limit of %s, turned away %s, affordable %v", admitted, in.Limit, away, check.Affordable)
		}
		if check.Predicted.Value.above(in.Reads) {
			t.Fatalf("%s asks for more than all the reads", check.State)
		}
		goodput, lost := value(t, check.Figures, "unadmitted_goodput_per_second"), value(t, check.Figures, "goodput_lost_per_second")
		if lost.negative() || goodput.above(in.Knee) {
			t.Fatalf("goodput %s and lost %s around a knee of %s", goodput, lost, in.Knee)
		}
	})
}

// TestMoreMeansMore: each input moves its figure one way only.
func TestMoreMeansMore(t *testing.T) {
	up, down := 1, -1
	for _, c := range []struct {
		name  string
		key   string
		way   int
		raise func(*Inputs)
	}{
		{"reads", keySteadyMisses, up, func(in *Inputs) { in.Reads = in.Reads.times(Whole(2)) }},
		{"reads", keyCellLoss, up, func(in *Inputs) { in.Reads = in.Reads.times(Whole(2)) }},
		{"hit ratio", keySteadyMisses, down, func(in *Inputs) { in.HitRatio = halfwayToOne(in.HitRatio) }},
		{"hit ratio", keyCellLoss, down, func(in *Inputs) { in.HitRatio = halfwayToOne(in.HitRatio) }},
		{"hot share", keyKnee, up, func(in *Inputs) { in.HotShare = halfwayToOne(in.HotShare) }},
		{"cell share", keyCellLoss, up, func(in *Inputs) { in.CellShare = halfwayToOne(in.CellShare) }},
		{"knee", keyKnee, down, func(in *Inputs) { in.Knee = in.Knee.times(Whole(2)) }},
		{"limit", keyCellLossOver, down, func(in *Inputs) { in.Limit = in.Limit.times(Whole(2)) }},
		{"processes", keyLocalRefreshes, up, func(in *Inputs) { in.Processes = in.Processes.times(Whole(2)) }},
		{"local TTL", keyLocalRefreshes, down, func(in *Inputs) { in.LocalTTL = in.LocalTTL.plus(Whole(1)) }},
		{"window", keyAvoidedAttempts, up, func(in *Inputs) { in.Window = in.Window.times(Whole(2)) }},
	} {
		t.Run(c.name+" to "+c.key, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := anyInputs(t)
				before := value(t, in.figures(), c.key)
				c.raise(&in)
				if got := value(t, in.figures(), c.key).Cmp(before); got*c.way < 0 {
					t.Fatalf("%s went the wrong way from %s", c.key, before)
				}
			})
		})
	}
}

func halfwayToOne(n Number) Number { return n.plus(Whole(1)).over(Whole(2)) }

// TestALargerShareAsksForMore, and what is affordable stays so for a smaller one.
func TestALargerShareAsksForMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInputs(t)
		smaller := anyState(t, in)
		larger := State{smaller.Mode, halfwayToOne(smaller.Share)}
		less, more := in.Check(smaller), in.Check(larger)
		if smaller.Mode != Expiry && less.Predicted.Value.above(more.Predicted.Value) {
			t.Fatalf("%s asks for %s, %s for %s", smaller, less.Predicted.Text(), larger, more.Predicted.Text())
		}
		if smaller.Mode != Expiry && more.Affordable && !less.Affordable {
			t.Fatalf("%s is affordable and %s is not", larger, smaller)
		}
	})
}

// TestTheColdShareIsTheLargest: at it the demand fits, and just above it no longer.
func TestTheColdShareIsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInputs(t)
		at := in.coldShare().Value
		if at.negative() || at.above(Whole(1)) {
			t.Fatalf("a share of %s", at)
		}
		steady := in.steadyMisses().Value
		if !steady.above(in.Limit) && !in.Check(State{ColdRegion, at}).Affordable {
			t.Fatalf("a share of %s does not fit", at.Exact())
		}
		beyond := halfwayToOne(at)
		if at.Cmp(Whole(1)) < 0 && steady.Cmp(in.Reads) < 0 && in.Check(State{ColdRegion, beyond}).Affordable {
			t.Fatalf("a share of %s fits too", beyond.Exact())
		}
	})
}

// TestLoadCostsGoodput: beyond the knee more load never completes more.
func TestLoadCostsGoodput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInputs(t)
		knee := in.knee()
		at := func(times int) Number {
			load := knee.value.times(Whole(int64(100 + times))).over(Whole(100))
			return in.Curve.at(rate(load, "load", unitAttempts), knee).value
		}
		beyond := rapid.IntRange(0, 5000).Draw(t, "beyond")
		if at(beyond + 1).above(at(beyond)) {
			t.Fatal("goodput grew beyond the knee")
		}
	})
}

package gameday

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// A sketch's quantiles are right within half a percent, however its numbers were split.
func TestSketchQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e9)), 1, 200).Draw(t, "numbers")
		cut := rapid.IntRange(0, len(numbers)).Draw(t, "cut")
		var s, rest Sketch
		for i, v := range numbers {
			if i < cut {
				s.Add(v)
			} else {
				rest.Add(v)
			}
		}
		s.Join(rest)
		slices.Sort(numbers)
		for _, share := range []float64{0, 0.25, 0.5, 0.95, 1} {
			want := numbers[min(max(int(math.Ceil(share*float64(len(numbers))))-1, 0), len(numbers)-1)]
			if got := s.Quantile(share); math.Abs(got-want) > 0.0051*want {
				t.Fatalf("quantile %v is %v, not %v", share, got, want)
			}
		}
		if s.Count != len(numbers) {
			t.Fatalf("%d numbers", s.Count)
		}
	})
	if empty := (&Sketch{}).Quantile(0.5); !math.IsNaN(empty) {
		t.Errorf("nothing has the median %v", empty)
	}
}

// Quantiles of Student's t as in any table of it.
func TestPairedInterval(t *testing.T) {
	for free, want := range map[float64]float64{3: 3.182, 4: 2.776, 9: 2.262, 29: 2.045, 999: 1.962} {
		if got := studentT(free); math.Abs(got-want) > 0.012*want {
			t.Errorf("with %v degrees of freedom %v, not %v", free, got, want)
		}
	}
	var p Paired
	for _, d := range []float64{1, 2, 3, 4, 5} {
		if _, _, ok := p.Interval(); ok && p.Count < 4 {
			t.Error("an interval from three seeds")
		}
		p.Add(d)
	}
	low, high, ok := p.Interval()
	if !ok || math.Abs(low-1.037) > 0.02 || math.Abs(high-4.963) > 0.02 {
		t.Errorf("%v to %v, %v", low, high, ok)
	}
}

// results are plays as a day with two ways might bring them.
func results(seed uint64) []*Result {
	score := func(v float64) []Score { return []Score{{"recovered", "s", &v}, {"closed", "s", nil}} }
	return []*Result{
		{Seed: seed, Passed: true, Scores: score(100 + float64(seed))},
		{Seed: seed, Passed: seed%3 != 0, Scores: score(103 + float64(seed%5))},
	}
}

// The shards of a sweep join to the sweep.
func TestShardsJoin(t *testing.T) {
	ways := []Variant{{Name: "a", Book: "x"}, {Name: "b", Book: "y"}}
	whole := NewSweep("day", "sum", 1, 20, 1, 1, ways)
	parts := []*Sweep{NewSweep("day", "sum", 1, 20, 1, 2, ways), NewSweep("day", "sum", 1, 20, 2, 2, ways)}
	for seed := uint64(1); seed <= 20; seed++ {
		whole.Add(results(seed))
		parts[(seed-1)%2].Add(results(seed))
	}
	if missing := parts[1].Missing(); len(missing) != 1 || missing[0] != 1 {
		t.Errorf("missing %v", missing)
	}
	joined := parts[1]
	if err := joined.Join(parts[0]); err != nil {
		t.Fatal(err)
	}
	whole.Shards, whole.Of = []int{1, 2}, 2
	if diff := cmp.Diff(whole, joined, cmpopts.EquateApprox(1e-9, 1e-9), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if err := joined.Join(parts[0]); err == nil {
		t.Error("a shard was joined twice")
	}
	for _, other := range []*Sweep{
		NewSweep("other", "sum", 1, 20, 1, 2, ways), NewSweep("day", "other", 1, 20, 1, 2, ways), NewSweep("day", "sum", 1, 21, 1, 2, ways),
		NewSweep("day", "sum", 1, 20, 1, 2, ways[:1]), NewSweep("day", "sum", 1, 20, 1, 2, []Variant{{Name: "a"}, {Name: "b"}}), {},
	} {
		if err := NewSweep("day", "sum", 1, 20, 2, 2, ways).Join(other); err == nil {
			t.Errorf("joined: %+v", other)
		}
	}
}

// The size of a sweep does not grow with its seeds.
func TestSweepIsFlat(t *testing.T) {
	size := func(seeds uint64) int {
		s := NewSweep("day", "sum", 1, seeds, 1, 1, []Variant{{Name: "a"}, {Name: "b"}})
		for seed := range seeds {
			s.Add(results(seed % 1000))
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	if few, many := size(2_000), size(200_000); many > few+few/5 {
		t.Errorf("%d bytes after 2,000 seeds, %d after 200,000", few, many)
	}
}

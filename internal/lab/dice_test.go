package lab

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// What is drawn is what a rand.Rand draws.
func TestDiceAreRand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		d, r := newDice(seed), rand.New(rand.NewPCG(seed, diceStream))
		for _, n := range rapid.SliceOf(rapid.OneOf(rapid.IntRange(1, 1000), rapid.IntRange(1, math.MaxInt))).Draw(t, "bounds") {
			if got, want := d.upTo(n), r.IntN(n); got != want {
				t.Fatalf("%d below %d, a rand.Rand draws %d", got, n, want)
			}
		}
	})
}

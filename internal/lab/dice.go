package lab

import (
	"math/bits"
	"math/rand/v2"
)

// dice draws whole numbers, the same as a rand.Rand on the same generator would. Lives
// of keys are drawn one by one, and the calls through an interface that a rand.Rand
// makes for each cost more than the drawing.
type dice struct{ generator *rand.PCG }

// diceStream keeps the numbers apart from whatever else is drawn from a seed.
const diceStream = 0x6c6162

func newDice(seed uint64) dice { return dice{rand.NewPCG(seed, diceStream)} }

// upTo draws a number from 0 up to n, which is positive, and not n. It is Lemire's
// method: the upper half of a product, of which those are refused that would make some
// numbers likelier than others.
func (d dice) upTo(n int) int {
	bound := uint64(n)
	if bound&(bound-1) == 0 {
		return int(d.generator.Uint64() & (bound - 1))
	}
	high, low := bits.Mul64(d.generator.Uint64(), bound)
	if low < bound {
		for refused := -bound % bound; low < refused; {
			high, low = bits.Mul64(d.generator.Uint64(), bound)
		}
	}
	return int(high)
}

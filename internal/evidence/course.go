package evidence

import (
	"cmp"

	"github.com/rewarm/rewarm/probes"
)

// mostPoints bounds the points of a probe's course: a plot shows fewer.
const mostPoints = 1000

// course gathers the samples of a probe in bounded room. When it is full, two points that follow each other
// become one, and from then on each stands for twice as many samples.
type course struct {
	list  []point
	every int // samples a point, 1 at first
	in    int // samples in the last point
}

// point is a sample with the numbers that it spells.
type point struct {
	Sample
	low, high number
}

type number struct {
	value  float64
	finite bool
}

// pointOf is what was observed in one poll.
func pointOf(a *probes.Answer) point {
	return point{
		Sample: Sample{At: a.At.UTC(), Min: a.Min.Raw, Max: a.Max.Raw, ByHand: byWhom(a.Manual), Source: a.Source},
		low:    extreme(a.Min), high: extreme(a.Max),
	}
}

// extreme is a number where an answer has one, which is finite.
func extreme(r probes.Reading) number { return number{r.Value, r.Raw != ""} }

func (c *course) add(p point) {
	if n := len(c.list); n > 0 && c.in < c.every {
		c.list[n-1].merge(&p)
		c.in++
		return
	}
	if len(c.list) == mostPoints {
		c.halve()
	}
	c.list, c.in = append(c.list, p), 1
}

func (c *course) halve() {
	for i := range mostPoints / 2 {
		c.list[2*i].merge(&c.list[2*i+1])
		c.list[i] = c.list[2*i]
	}
	clear(c.list[mostPoints/2:])
	c.list, c.every = c.list[:mostPoints/2], 2*c.every
}

func (c *course) points() []Sample {
	samples := make([]Sample, len(c.list))
	for i := range c.list {
		samples[i] = c.list[i].Sample
	}
	return samples
}

// merge lets a point stand for the one behind it, too, at its own time.
func (p *point) merge(next *point) {
	if next.low.beats(p.low, -1) {
		p.Min, p.low = next.Min, next.low
	}
	if next.high.beats(p.high, 1) {
		p.Max, p.high = next.Max, next.high
	}
	p.ByHand, p.Source = cmp.Or(p.ByHand, next.ByHand), cmp.Or(p.Source, next.Source)
}

// beats reports whether a number is the lower, for -1, or the higher of two; what is not finite stands only where
// nothing else does.
func (n number) beats(other number, sign int) bool {
	return !other.finite || n.finite && cmp.Compare(n.value, other.value) == sign
}

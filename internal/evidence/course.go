package evidence

import (
	"cmp"
	"slices"
)

// mostPoints bounds the points of a probe's course: a plot shows fewer.
const mostPoints = 1000

// course gathers the samples of a probe in bounded room. When it is full, two points that follow each other
// become one, and from then on each stands for twice as many samples.
type course struct {
	list  []Sample
	every int // samples a point, 1 at first
	in    int // samples in the last point
}

func (c *course) add(s Sample) {
	if n := len(c.list); n > 0 && c.in < c.every {
		c.list[n-1] = merged(c.list[n-1], s)
		c.in++
		return
	}
	if len(c.list) == mostPoints {
		c.halve()
	}
	c.list, c.in = append(c.list, s), 1
}

func (c *course) halve() {
	for i := range mostPoints / 2 {
		c.list[i] = merged(c.list[2*i], c.list[2*i+1])
	}
	clear(c.list[mostPoints/2:])
	c.list, c.every = c.list[:mostPoints/2], 2*c.every
}

func (c *course) points() []Sample {
	if c.list == nil {
		return []Sample{}
	}
	return slices.Clip(c.list)
}

// merged stands for two samples, at the time of the first.
func merged(a, b Sample) Sample {
	a.Min, a.Max = extreme(a.Min, b.Min, -1), extreme(a.Max, b.Max, 1)
	a.ByHand, a.Source = cmp.Or(a.ByHand, b.ByHand), cmp.Or(a.Source, b.Source)
	return a
}

// extreme gives the lower, for -1, or the higher of two values; what is no finite number only where nothing else
// is.
func extreme(a, b string, sign int) string {
	x, okX := finite(a)
	y, okY := finite(b)
	if !okX || okY && cmp.Compare(y, x) == sign {
		return b
	}
	return a
}

package gameday

import (
	"maps"
	"math"
	"slices"
)

// Sketch keeps how numbers of zero and more are spread, in a size that does not grow with
// how many they are: how many fell between powers of sketchStep. Its quantiles are right
// within half a percent; two sketches join to that of all their numbers.
type Sketch struct {
	Count   int         `json:"count"`
	Missing int         `json:"missing"` // plays in which the figure had not come
	Min     float64     `json:"min"`
	Max     float64     `json:"max"`
	Sum     float64     `json:"sum"`
	Zeros   int         `json:"zeros"`
	Buckets map[int]int `json:"buckets,omitempty"`
}

// sketchStep is the ratio of the ends of a bucket.
const sketchStep = 1.01

// Add takes one number.
func (s *Sketch) Add(v float64) {
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.Count++
	s.Sum += v
	if v <= 0 {
		s.Zeros++
		return
	}
	if s.Buckets == nil {
		s.Buckets = map[int]int{}
	}
	s.Buckets[int(math.Floor(math.Log(v)/math.Log(sketchStep)))]++
}

// Join takes all numbers of another sketch.
func (s *Sketch) Join(o Sketch) {
	switch {
	case o.Count == 0:
	case s.Count == 0:
		s.Min, s.Max = o.Min, o.Max
	default:
		s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	}
	s.Count += o.Count
	s.Missing += o.Missing
	s.Sum += o.Sum
	s.Zeros += o.Zeros
	if s.Buckets == nil && len(o.Buckets) > 0 {
		s.Buckets = map[int]int{}
	}
	for bucket, n := range o.Buckets {
		s.Buckets[bucket] += n
	}
}

// Quantile gives the number under which a share of the numbers lies, 0 for the least and 1
// for the greatest. It is NaN when there are none.
func (s *Sketch) Quantile(share float64) float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	rank := int(math.Ceil(share*float64(s.Count))) - 1
	switch {
	case rank <= 0:
		return s.Min
	case rank >= s.Count-1:
		return s.Max
	}
	seen := s.Zeros
	if rank < seen {
		return 0
	}
	for _, bucket := range slices.Sorted(maps.Keys(s.Buckets)) {
		if seen += s.Buckets[bucket]; rank < seen {
			middle := math.Pow(sketchStep, float64(bucket)+0.5)
			return min(max(middle, s.Min), s.Max)
		}
	}
	return s.Max
}

// Mean gives the mean of the numbers, NaN when there are none.
func (s *Sketch) Mean() float64 { return s.Sum / float64(s.Count) }

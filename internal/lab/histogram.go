package lab

// histogram counts observations in buckets, as Prometheus' classic ones do.
type histogram struct {
	bounds []float64
	counts []int // by bucket, not yet added up; the last is +Inf
	count  int
	sum    float64
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]int, len(bounds)+1)}
}

// observe counts n observations of the same value.
func (h *histogram) observe(value float64, n int) {
	if n == 0 {
		return
	}
	i := 0
	for i < len(h.bounds) && value > h.bounds[i] {
		i++
	}
	h.counts[i] += n
	h.count += n
	h.sum += value * float64(n)
}

// upTo is how many observations were at most the bound of bucket i.
func (h *histogram) upTo(i int) int {
	n := 0
	for _, c := range h.counts[:i+1] {
		n += c
	}
	return n
}

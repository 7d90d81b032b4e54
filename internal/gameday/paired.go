package gameday

import "math"

// Paired keeps the differences of a figure between two ways of playing one seed: each pair
// is one number, so what makes a seed hard falls out of the comparison.
type Paired struct {
	Count   int     `json:"count"`
	Average float64 `json:"mean"`
	Squares float64 `json:"squares"` // sum of the squared distances from the mean
}

// Add takes the difference of one seed.
func (p *Paired) Add(difference float64) {
	p.Count++
	off := difference - p.Average
	p.Average += off / float64(p.Count)
	p.Squares += off * (difference - p.Average)
}

// Join takes all differences of another.
func (p *Paired) Join(o Paired) {
	if o.Count == 0 {
		return
	}
	n, m := float64(p.Count), float64(o.Count)
	off := o.Average - p.Average
	p.Average += off * m / (n + m)
	p.Squares += o.Squares + off*off*n*m/(n+m)
	p.Count += o.Count
}

// Interval gives the 95 % interval of the mean difference by Student's paired t; ok is
// false for fewer than four seeds.
func (p *Paired) Interval() (low, high float64, ok bool) {
	if p.Count < 4 {
		return 0, 0, false
	}
	free := float64(p.Count - 1)
	half := studentT(free) * math.Sqrt(p.Squares/free/float64(p.Count))
	return p.Average - half, p.Average + half, true
}

// studentT is the 97.5 % quantile of Student's t, by the expansion around the normal one;
// with three degrees of freedom it is 1 % off, with more less.
func studentT(free float64) float64 {
	const z = 1.959963984540054
	z3, z5, z7 := z*z*z, z*z*z*z*z, z*z*z*z*z*z*z
	return z + (z3+z)/(4*free) + (5*z5+16*z3+3*z)/(96*free*free) + (3*z7+19*z5+17*z3-15*z)/(384*free*free*free)
}

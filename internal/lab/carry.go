package lab

// carry turns a stream of fractions into whole numbers and keeps what is left
// over for the next time, so that nothing is lost to rounding.
type carry float64

// take adds x, which is not negative, and gives the whole part of what has come together.
func (c *carry) take(x float64) int {
	sum := float64(*c) + x
	n := int(sum)
	*c = carry(sum - float64(n))
	return n
}

// split gives the part of whole that a ratio from 0 to 1 asks for, never more than whole.
func (c *carry) split(whole int, ratio float64) int {
	switch {
	case whole <= 0 || ratio <= 0:
		return 0
	case ratio >= 1:
		return whole
	}
	return min(whole, c.take(float64(whole)*ratio))
}

// ratio is a/b, and 0 when b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

package lab

// apportion deals a part of a total out to portions that come one after the
// other, each in proportion to its size and all in whole numbers: the parts add
// up exactly, and none is larger than its portion. The phase, from 0 up to the
// total, decides to whom the rounding falls.
type apportion struct {
	total, part, phase int
	seen, given        int
}

// deal gives the part of the next portion.
func (a *apportion) deal(n int) int {
	switch a.part {
	case 0:
		return 0
	case a.total:
		return n
	}
	a.seen += n
	k := (a.seen*a.part+a.phase)/a.total - a.given
	a.given += k
	return k
}

// apportion starts dealing min(part, total) out of total.
func (m *model) apportion(part, total int) apportion {
	a := apportion{total: total, part: max(0, min(part, total))}
	if a.part > 0 && a.part < total {
		a.phase = m.random.upTo(total)
	}
	return a
}

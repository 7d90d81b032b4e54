package lab

import "time"

// Variation changes numbers of the service, to see what depends on them. Zero
// values change nothing.
type Variation struct {
	Knee        int           // attempts/s at which the origin's goodput bends
	PerDomain   int           // processes in one coalescing domain: more of them, fewer domains
	SteadyStale time.Duration // age up to which copies are served while nobody asks for more
	CellSpare   float64       // memory of a cell over its full working set
	LostCell    int           // percent of reads and keys of cell-c; the others share the rest
}

func (v Variation) vary(p params) params {
	if v.Knee > 0 {
		p.Knee = v.Knee
	}
	if v.PerDomain > 0 {
		p.PerDomain = v.PerDomain
	}
	if v.SteadyStale > 0 {
		p.SteadyStale = v.SteadyStale
	}
	if v.CellSpare > 0 {
		p.CellSpare = v.CellSpare
	}
	if v.LostCell > 0 {
		p.Cells = resize(p.Cells, v.LostCell)
	}
	return p
}

// resize gives the home cell so many percent and the others what is left, in
// proportion and adding up to 100.
func resize(cells [cellCount]cellParams, percent int) [cellCount]cellParams {
	others, left := 100-cells[homeCell].Percent, 100-percent
	for i := range cells {
		if i == homeCell {
			cells[i].Percent = percent
			continue
		}
		share := left * cells[i].Percent / others
		others -= cells[i].Percent
		left -= share
		cells[i].Percent = share
	}
	return cells
}

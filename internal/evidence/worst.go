package evidence

import (
	"strconv"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Worst is how far a probe of the exit was from what the exit asks, at its worst moment that was observed.
type Worst struct {
	Probe string    `json:"probe"`
	Asked string    `json:"asked"` // the bound of the exit
	Value string    `json:"value"` // with its unit, and marked when nothing measured it
	At    time.Time `json:"at"`
}

// worstOf follows the bounds of the exit whose comparison has a direction.
type worstOf struct{ bounds []worstBound }

type worstBound struct {
	upper   bool
	found   bool
	extreme float64
	Worst
}

func newWorstOf(gate runbook.Gate) *worstOf {
	w := &worstOf{}
	for _, group := range gate {
		for _, b := range group {
			upper := b.Op == runbook.AtMost || b.Op == runbook.Below
			if upper || b.Op == runbook.AtLeast || b.Op == runbook.Above {
				w.bounds = append(w.bounds, worstBound{upper: upper, Worst: Worst{Probe: b.Probe, Asked: b.String()}})
			}
		}
	}
	return w
}

// see takes in what was observed of a probe.
func (w *worstOf) see(p *ProbeFigure, seen *point) {
	for i := range w.bounds {
		if b := &w.bounds[i]; b.Probe == p.Probe {
			b.see(seen, p.Unit)
		}
	}
}

func (b *worstBound) see(s *point, unit string) {
	n := s.low
	if b.upper {
		n = s.high
	}
	value := n.value
	if !n.finite || b.found && (b.upper && value <= b.extreme || !b.upper && value >= b.extreme) {
		return
	}
	b.found, b.extreme, b.At = true, value, s.At
	b.Value = runbook.FormatQuantity(shortened(value), unit)
	if s.ByHand != "" {
		b.Value += ", read BY HAND by " + s.ByHand
	}
}

func (w *worstOf) list() []Worst {
	var list []Worst
	for _, b := range w.bounds {
		if b.found {
			list = append(list, b.Worst)
		}
	}
	return list
}

// shortened keeps what people read of a number: four digits.
func shortened(value float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 4, 64), 64)
	return short
}

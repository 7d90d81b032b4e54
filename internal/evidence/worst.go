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

// worstOf finds the worst observation of each bound of the exit, where its comparison has a direction.
func worstOf(gate runbook.Gate, probes []ProbeFigure) []Worst {
	var list []Worst
	for _, group := range gate {
		for i := range group {
			b := &group[i]
			for j := range probes {
				if probes[j].Probe != b.Probe {
					continue
				}
				if w, ok := worst(b, &probes[j]); ok {
					list = append(list, w)
				}
			}
		}
	}
	return list
}

func worst(b *runbook.Bound, p *ProbeFigure) (w Worst, found bool) {
	upper := b.Op == runbook.AtMost || b.Op == runbook.Below
	if !upper && b.Op != runbook.AtLeast && b.Op != runbook.Above {
		return w, false
	}
	var extreme float64
	for _, s := range p.Points {
		raw := s.Min
		if upper {
			raw = s.Max
		}
		value, ok := finite(raw)
		if !ok || found && (upper && value <= extreme || !upper && value >= extreme) {
			continue
		}
		found, extreme = true, value
		shown := runbook.FormatQuantity(shortened(value), p.Unit)
		if s.ByHand != "" {
			shown += ", read BY HAND by " + s.ByHand
		}
		w = Worst{Probe: b.Probe, Asked: b.String(), Value: shown, At: s.At}
	}
	return w, found
}

// shortened keeps what people read of a number: four digits.
func shortened(value float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 4, 64), 64)
	return short
}

package probes

import (
	"slices"

	"github.com/rewarm/rewarm/runbook"
)

// Asks lists what must be asked to judge a gate: its probes and those that it compares
// with, each once, in the order of the gate. From and to are the rung's numbers; they
// are only part of the asks whose query uses them. Probes with a fixed start value are
// in the list too: a caller that has the value may leave them out.
func Asks(d *runbook.Document, g runbook.Gate, from, to string) []Ask {
	var asks []Ask
	add := func(name string) {
		if name == "" {
			return
		}
		a := Ask{Probe: name}
		if p := d.Probe(name); p != nil {
			a = askFor(p, from, to)
		}
		if !slices.Contains(asks, a) {
			asks = append(asks, a)
		}
	}
	for _, group := range g {
		for _, b := range group {
			add(b.Probe)
			add(b.Operand.Probe)
			add(b.High.Probe)
		}
	}
	return asks
}

func askFor(p *runbook.Probe, from, to string) Ask {
	if p.UsesRung() {
		return Ask{Probe: p.Name, From: from, To: to}
	}
	return Ask{Probe: p.Name}
}

// Moved reports whether an answer rests on other samples than the one before: every
// selector's newest sample must have moved. The same samples seen twice are one
// observation. Without an answer now nothing has moved; without one before, all has.
// A selector without samples in both does not count, and when none has any, two
// evaluation times are two observations.
func Moved(now, before *Answer) bool {
	switch {
	case now == nil:
		return false
	case before == nil || len(now.Newest) != len(before.Newest):
		return true
	}
	sampled := false
	for i, newest := range now.Newest {
		if newest.IsZero() && before.Newest[i].IsZero() {
			continue
		}
		if !newest.After(before.Newest[i]) {
			return false
		}
		sampled = true
	}
	return sampled || now.At.After(before.At)
}

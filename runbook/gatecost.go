package runbook

import (
	"fmt"
	"time"
)

// gateCost is the least time from a flip until a gate has passed.
type gateCost struct {
	total time.Duration
	words string // the arithmetic of the bound that takes longest, "" for no gate
}

// gateCost asks for the slowest group of the gate. Without a flip before it only
// the passes take time.
func (d *Document) gateCost(g Gate, t Timing, marked bool) gateCost {
	var slowest gateCost
	for _, group := range g {
		if c := d.groupCost(group, t, marked); slowest.words == "" || c.total > slowest.total {
			slowest = c
		}
	}
	return slowest
}

// groupCost is that of the quickest bound, as one is enough.
func (d *Document) groupCost(g Group, t Timing, marked bool) gateCost {
	var quickest gateCost
	for _, b := range g {
		if c := d.boundCost(b, t, marked); quickest.words == "" || c.total < quickest.total {
			quickest = c
		}
	}
	return quickest
}

func (d *Document) boundCost(b Bound, t Timing, marked bool) gateCost {
	c := gateCost{words: b.Probe + ":"}
	if marked {
		c.add(d.lookBack(b, t.Every))
	}
	if b.Op == Falling || b.Op == Rising {
		c.add(t.Every, fmt.Sprintf("%s for one to compare with", t.Every))
	}
	if t.Passes > 1 {
		further := time.Duration(t.Passes-1) * t.Every
		c.add(further, fmt.Sprintf("%s for %d passes", further, t.Passes))
	}
	if c.total == 0 {
		c.words += " one observation"
	} else {
		c.words += " = " + c.total.String()
	}
	return c
}

func (c *gateCost) add(v time.Duration, words string) {
	if c.total > 0 {
		c.words += " +"
	}
	c.total += v
	c.words += " " + words
}

// lookBack is how long after a flip the bound's queries first see only what came
// after it.
func (d *Document) lookBack(b Bound, every time.Duration) (time.Duration, string) {
	longest, words := 2*every, fmt.Sprintf("2 scrapes of %s", every)
	for _, name := range []string{b.Probe, b.Operand.Probe, b.High.Probe} {
		p := d.Probe(name)
		if p == nil || p.Baseline {
			continue
		}
		for _, s := range selectorsOf(p.Query) {
			span, scrapes := s.span, 2
			if s.ranged {
				scrapes = 1
			}
			if s.recorded() {
				span += p.Memory
			}
			if total := span + time.Duration(scrapes)*every; total > longest {
				longest, words = total, fmt.Sprintf("%s window + %s", span, scrapeWords(scrapes, every))
			}
		}
	}
	return longest, words
}

func scrapeWords(n int, every time.Duration) string {
	if n == 1 {
		return every.String() + " scrape"
	}
	return fmt.Sprintf("%d scrapes of %s", n, every)
}

package simulation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// blind takes the metrics away for a while, in which a person reads every probe somewhere
// else, again and again, and another one confirms it or does not.
func (w *world) blind(f Fault) {
	w.prometheus.fault, w.prometheus.until = "away", w.now.Add(f.For)
	w.trouble(f.For)
	for at := time.Second; at < f.For; at += readAgain {
		w.after(at, func() { w.unasked(f) })
	}
}

// readAgain is longer than the time that a service has to follow a flip.
const readAgain = 6 * time.Second

// unasked has a person say something to the process that walks then.
func (w *world) unasked(f Fault) {
	if w.process != nil {
		w.process.unasked = append(w.process.unasked, f)
	}
}

// doneByHand lets Redis take no flips for a while, and a person do a brake by hand.
func (w *world) doneByHand(f Fault) {
	w.redis.fault, w.redis.until = f.Value, w.now.Add(f.For)
	w.after(700*time.Millisecond, func() { w.unasked(Fault{What: "order", Name: f.Name, Value: string(steps.OrderDone)}) })
}

// readAll gives every probe a reading that is low or high.
func (p *process) readAll(f Fault) {
	who, level, _ := strings.Cut(f.Value, " ")
	for _, m := range measures {
		value := m.low
		if level == "high" {
			value = m.high
		}
		text := value + " until 20s from the panel of the origin"
		o := steps.Order{Kind: steps.OrderReading, Step: m.name, Text: text, By: "ben"}
		err := p.machine.Order(o)
		if refused, ok := err.(*steps.RefusedOrder); ok { // it says for which rung
			_, rung, _ := strings.Cut(refused.Hint, "@")
			rung, _, _ = strings.Cut(rung, " ")
			if o.Step += "@" + rung; rung == "" {
				continue
			}
			err = p.machine.Order(o)
		}
		p.said(err)
	}
	if who != "two" {
		return
	}
	for _, r := range p.machine.State().Readings(p.clock().Now()) {
		p.w.send(steps.Order{Kind: steps.OrderApprove, Digest: r.Digest}, senders[0], 0)
	}
}

// handed is a reading as the log has it.
type handed struct {
	given, until time.Time // the true time
	value        float64
	by           []voice
}

// voice is one person who stands for something.
type voice struct {
	by     string
	proven bool
}

func voiceOf(by string, origin *steps.Origin) voice {
	return voice{by, origin != nil && origin.Proof != ""}
}

// two reports whether there are two persons among them: one whom Redis proves and who does
// not walk the run, and another.
func two(voices []voice) bool {
	for _, second := range voices {
		if !second.proven || second.by == "ana" {
			continue
		}
		for _, first := range voices {
			if first.by != second.by {
				return true
			}
		}
	}
	return false
}

// manual follows the readings by hand.
func (c *checker) manual(b *steps.ManualBody, at time.Time, shift time.Duration) {
	list := c.handed[b.Ask]
	if b.Confirms != "" {
		last := list[len(list)-1]
		last.by = append(last.by, voiceOf(b.By, b.Origin))
		return
	}
	value, err := strconv.ParseFloat(b.Value, 64)
	if err != nil {
		c.broken(noSurprise, "the reading of %s is %q", b.Ask.Probe, b.Value)
	}
	c.handed[b.Ask] = append(list, &handed{given: at, until: b.Until.Add(-shift), value: value, by: []voice{voiceOf(b.By, b.Origin)}})
}

// seenNewer reports whether this process has seen a sample so much newer that no gate can use this one: the clock of
// Prometheus was set back since, and it answers with what was measured long ago.
func (c *checker) seenNewer(p poll, ask probes.Ask, g given) bool {
	return slices.ContainsFunc(c.w.prometheus.asked, func(earlier poll) bool {
		seen, asked := earlier.answers[ask]
		return asked && seen.clean && earlier.true.Before(p.true) && !earlier.true.Before(c.w.process.begunAt) &&
			seen.newest.Sub(g.newest) > c.w.doc.Defaults.StaleAfter
	})
}

// told gives the answer of a poll, or what two persons have given by hand where nothing was
// measured.
func (c *checker) told(p poll, ask probes.Ask) (given, bool) {
	g, asked := p.answers[ask]
	if !asked || g.clean && !g.stale && !c.seenNewer(p, ask, g) {
		return g, asked
	}
	for _, h := range c.handed[ask] {
		if !h.given.After(p.true) && h.until.After(p.true) && two(h.by) {
			g = given{value: h.value, clean: true, since: h.given, newest: p.at}
		}
	}
	return g, true
}

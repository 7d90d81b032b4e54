package tui

import (
	"fmt"
	"strings"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// The names by which the budget of the origin is found in a runbook: two reserved figures, the
// probe of live demand and the control of the load that a walk adds. Without the first three
// there is no bar.
const (
	figureLimit   = "limit"
	figureKnee    = "knee"
	probeOffered  = "offered"
	controlWarmer = "prewarm.rate"
)

// budget is what the origin is asked for against what it can do, in attempts a second.
type budget struct {
	live, prewarm, limit, knee float64
	loose                      string // the control that is to hold the limit and does not now, "" when none is known
	tight                      string // the control that holds less than the runbook's limit now, "" when none does
	unit                       string
	idle                       string // what else has to be set before prewarm asks for anything, and its value, "" for nothing
}

// budgetOf reads the budget off a run; false when it is not known.
func (d *drawing) budgetOf() (b budget, ok bool) {
	limit, knee := d.s.Doc.Figure(figureLimit), d.s.Doc.Figure(figureKnee)
	offered := d.s.Latest(probes.Ask{Probe: probeOffered})
	if limit == nil || knee == nil || offered == nil || offered.Count == 0 || offered.Reason != "" {
		return budget{}, false
	}
	b = budget{live: offered.Max.Value, limit: limit.Value, knee: knee.Value, unit: limit.Unit}
	d.admit(&b, limit)
	if c := d.s.Doc.Control(controlWarmer); c != nil {
		rate, known := d.s.Live(c)
		if known && !rate.Unlimited && !d.s.Lapsed(c, d.now) { // what has lapsed asks for nothing
			b.prewarm = min(rate.Number, max(b.limit-b.live, 0))
		}
		if b.prewarm > 0 {
			b.idle = d.idleBeside(c)
		}
	}
	return b, true
}

// idleBeside names another control of the load that a walk adds while that one still stands at its dead man's value.
func (d *drawing) idleBeside(warmer *runbook.Control) string {
	for i := range d.s.Doc.Controls {
		c := &d.s.Doc.Controls[i]
		if c == warmer || c.DeadMan == nil {
			continue
		}
		if live, known := d.s.Live(c); known && live.Equal(*c.DeadMan) {
			return c.Name + " is " + c.Format(live)
		}
	}
	return ""
}

// admit takes the limit from the control whose steady value it is, for what that lets through now counts.
func (d *drawing) admit(b *budget, limit *runbook.Figure) {
	for i := range d.s.Doc.Controls {
		c := &d.s.Doc.Controls[i]
		if c.Kind != runbook.Rate || c.Unit != limit.Unit || c.DeadMan != nil || c.Steady.Number != limit.Value {
			continue
		}
		live, known := d.s.Live(c)
		switch {
		case !known:
		case c.Direction(live, c.Steady) == runbook.Protecting:
			b.loose = c.Name
		case c.Direction(live, c.Steady) == runbook.Releasing:
			b.limit, b.tight = live.Number, c.Name
		}
	}
}

// budgetSection is the budget as a bar, with its numbers in words below.
func (d *drawing) budgetSection(width int) section {
	b, ok := d.budgetOf()
	if !ok {
		return section{}
	}
	return section{title: "origin budget", rows: append([]string{d.bar(b, width)}, d.paintedWrap(ink{}, b.text(), width, 2)...)}
}

// text says what live reads ask of the limit, and what room they leave.
func (b budget) text() string {
	number := func(v float64) string { return runbook.FormatQuantity(float64(int(v+0.5)), "") }
	text := fmt.Sprintf("live %s of limit %s", number(b.live), number(b.limit))
	switch room := b.limit - b.live - b.prewarm; {
	case b.live > b.limit:
		text += ", " + number(b.live-b.limit) + " too many"
	case b.idle != "":
		text += ", nothing is warmed yet: " + b.idle
	case b.prewarm > 0 && room < 1:
		text += ", prewarm may fill the other " + number(b.prewarm)
	case b.prewarm > 0:
		text += ", prewarm may take " + number(b.prewarm) + ", room for " + number(room)
	default:
		text += ", room for " + number(room)
	}
	text += "; knee " + number(b.knee) + " " + b.unit
	if b.tight != "" {
		text += "; " + b.tight + " holds less than the runbook's limit"
	}
	if b.loose != "" {
		text += "; " + b.loose + " DOES NOT HOLD this limit"
	}
	return text
}

// bar draws live, prewarm and what is left up to the knee, with a mark at the limit. What goes
// beyond the knee fills the bar to its end, with a sign that it goes on.
func (d *drawing) bar(b budget, width int) string {
	scale := max(b.knee, b.limit, 1)
	at := func(v float64) int { return max(0, min(width, int(v/scale*float64(width)+0.5))) }
	limit := min(at(b.limit), width-1)
	live, warm := at(b.live), at(b.live+b.prewarm)
	if b.idle != "" {
		warm = live
	}
	var bar strings.Builder
	bar.Grow(width * len(d.signs.full))
	for i := range width {
		switch {
		case i == limit:
			bar.WriteString(d.signs.mark)
		case i < live:
			bar.WriteString(d.signs.full)
		case i < warm:
			bar.WriteString(d.signs.part)
		default:
			bar.WriteString(d.signs.free)
		}
	}
	if b.live > b.limit {
		return d.ink.bad.paint(bar.String())
	}
	return d.ink.good.paint(bar.String())
}

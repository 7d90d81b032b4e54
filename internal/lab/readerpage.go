package lab

import (
	"maps"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// readerReport is what the reader of the controls says of itself.
type readerReport struct {
	overrides []controls.Override
	run       string        // that commands, "" for none
	lease     time.Duration // what is left to it
}

func noReport() readerReport { return readerReport{} }

func reportOf(r *controls.Reader) readerReport {
	report := readerReport{overrides: r.Overrides()}
	report.run, report.lease = r.Lease()
	return report
}

// reader declares what the published reader exports: how long controls have not been at
// their steady value, how long their review is past, and what is left of the commander's
// lease. A control is there from the start, its review while it has one.
func (p *page) reader(m *model, report func() readerReport) {
	var now readerReport
	away := map[string]controls.Override{}
	p.look = append(p.look, func() {
		now = report()
		clear(away)
		for _, o := range now.overrides {
			away[o.Control] = o
		}
	})
	names := slices.Sorted(maps.Keys(absent(m.p)))
	f := p.gauge("rewarm_control_override_seconds", "How long a control has not been at its steady value; 0 when it is.")
	for _, control := range names {
		f.add(func() float64 { return away[control].For.Seconds() }, "service", Service, "control", control)
	}
	f = p.gauge("rewarm_control_review_overdue_seconds",
		"How long the review of a control that is not at its steady value is past.")
	for _, control := range names {
		f.add(func() float64 {
			if o := away[control]; o.Review {
				return o.Overdue.Seconds()
			}
			return gone
		}, "service", Service, "control", control)
	}
	p.lease(&now)
}

// lease declares the commander's lease: one series for each run that has commanded.
func (p *page) lease(now *readerReport) {
	f := p.gauge("rewarm_commander_lease_seconds", "What is left of the lease of the run that commands; below 0 when it has stopped renewing.")
	known := map[string]bool{"": true}
	p.look = append(p.look, func() {
		run := now.run
		if known[run] {
			return
		}
		known[run] = true
		s := f.addSeries("", instance, func() float64 {
			if now.run == run {
				return now.lease.Seconds()
			}
			return gone
		}, "service", Service, "run", run)
		if p.added != nil {
			p.added(f, s)
		}
	})
}

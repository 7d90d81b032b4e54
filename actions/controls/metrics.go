package controls

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Override is a control that is not at its steady value.
type Override struct {
	Control string
	For     time.Duration // since it left its steady value
	Review  bool          // it has a review
	Overdue time.Duration // how long its review is past, 0 while it is not
}

// Overrides lists the controls that are not at the steady value that was given
// with their last flip, sorted by name. It knows nothing of controls that were
// never flipped through rewarm.
func (r *Reader) Overrides() []Override {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Override
	for control, m := range r.seen.meta {
		obeyed := &m.Absent
		if raw, ok := r.get(control); ok {
			obeyed = &raw
		}
		if !m.Away(obeyed) {
			continue
		}
		since := m.Since
		if since == 0 {
			since = m.At
		}
		o := Override{Control: control, For: r.past(since), Review: m.ReviewAt != 0}
		if o.Review {
			o.Overdue = r.past(m.ReviewAt)
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b Override) int { return strings.Compare(a.Control, b.Control) })
	return list
}

// past is how long a server time in milliseconds is past, 0 while it is not.
func (r *Reader) past(ms int64) time.Duration {
	return max(0, r.serverNow().Sub(time.UnixMilli(ms)))
}

// AppendMetrics appends the reader's own metrics in Prometheus' text format:
// rewarm_controls_version{service}, rewarm_control_override_seconds{service,control},
// rewarm_control_review_overdue_seconds{service,control} for overrides that have a
// review, and rewarm_commander_lease_seconds{service,run} while a run has the command:
// what is left of its lease, below 0 when it has stopped renewing.
func (r *Reader) AppendMetrics(b []byte) []byte {
	p := page{b, r.opts.Service}
	p.gauge("rewarm_controls_version", "Version of the controls that this process obeys.")
	p.sample("rewarm_controls_version", "", "", float64(r.Version()))
	overrides := r.Overrides()
	p.gauge("rewarm_control_override_seconds", "How long a control has not been at its steady value.")
	for _, o := range overrides {
		p.sample("rewarm_control_override_seconds", "control", o.Control, o.For.Seconds())
	}
	p.gauge("rewarm_control_review_overdue_seconds", "How long the review of a control that is not at its steady value is past.")
	for _, o := range overrides {
		if o.Review {
			p.sample("rewarm_control_review_overdue_seconds", "control", o.Control, o.Overdue.Seconds())
		}
	}
	p.gauge("rewarm_commander_lease_seconds", "What is left of the lease of the run that commands; below 0 when it has stopped renewing.")
	if run, left := r.Lease(); run != "" {
		p.sample("rewarm_commander_lease_seconds", "run", run, left.Seconds())
	}
	return p.text
}

// Lease is the run that commands and what is left of its lease, below 0 when it has
// stopped renewing; the run is "" when none does.
func (r *Reader) Lease() (run string, left time.Duration) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.seen.lease.run, r.seen.lease.until.Sub(r.serverNow())
}

// page is a page of metrics of one service.
type page struct {
	text    []byte
	service string
}

func (p *page) gauge(name, help string) {
	p.text = append(p.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" gauge\n"...)
}

// sample appends one series; label is "" for one that has the service alone.
func (p *page) sample(name, label, value string, number float64) {
	p.text = append(p.text, name+`{service="`+p.service+`"`...)
	if label != "" {
		p.text = append(p.text, `,`+label+`="`+labelEscapes.Replace(strings.ToValidUTF8(value, "�"))+`"`...)
	}
	p.text = append(p.text, "} "...)
	p.text = append(strconv.AppendFloat(p.text, number, 'f', -1, 64), '\n')
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

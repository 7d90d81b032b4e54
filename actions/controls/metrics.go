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
}

// Overrides lists the controls that are not at the steady value that was given
// with their last flip, sorted by name. It knows nothing of controls that were
// never flipped through rewarm.
func (r *Reader) Overrides() []Override {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Override
	for control, m := range r.seen.meta {
		if m.Steady == nil {
			continue
		}
		raw, ok := r.get(control)
		if ok && raw == *m.Steady {
			continue
		}
		since := m.Since
		if since == 0 {
			since = m.At
		}
		list = append(list, Override{control, max(0, r.serverNow().Sub(time.UnixMilli(since)))})
	}
	slices.SortFunc(list, func(a, b Override) int { return strings.Compare(a.Control, b.Control) })
	return list
}

// AppendMetrics appends the reader's own metrics in Prometheus' text format:
// rewarm_controls_version{service} and
// rewarm_control_override_seconds{service,control}.
func (r *Reader) AppendMetrics(b []byte) []byte {
	b = append(b, "# HELP rewarm_controls_version Version of the controls that this process obeys.\n"+
		"# TYPE rewarm_controls_version gauge\n"...)
	b = append(b, `rewarm_controls_version{service="`...)
	b = append(b, r.opts.Service...)
	b = append(b, `"} `...)
	b = strconv.AppendInt(b, r.Version(), 10)
	b = append(b, "\n# HELP rewarm_control_override_seconds How long a control has not been at its steady value.\n"+
		"# TYPE rewarm_control_override_seconds gauge\n"...)
	for _, o := range r.Overrides() {
		b = append(b, `rewarm_control_override_seconds{service="`...)
		b = append(b, r.opts.Service...)
		b = append(b, `",control="`...)
		b = append(b, labelEscapes.Replace(strings.ToValidUTF8(o.Control, "�"))...)
		b = append(b, `"} `...)
		b = strconv.AppendFloat(b, o.For.Seconds(), 'f', -1, 64)
		b = append(b, '\n')
	}
	return b
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	prom "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// family is one metric of the service with all its series.
type family struct {
	name, help, kind string
	series           []*series
}

// series is one time series: how to read it now, and what was scraped.
type series struct {
	labels labels.Labels // with the name, job and instance
	text   string        // as the text format spells it
	suffix string        // _bucket, _sum or _count of a histogram
	counts *int          // what it shows, or nil:
	read   func() float64

	born   int    // the scrape at which it was first there
	block  *block // its column is what was scraped
	column int
}

// value is what it shows now; gone while there is nothing to show.
func (s *series) value() float64 {
	if s.counts != nil {
		return float64(*s.counts)
	}
	return s.read()
}

// gone is the value of a series that is not on the page, as Prometheus stores it.
var gone = math.Float64frombits(value.StaleNaN)

const (
	job      = "catalog"
	instance = "catalog" // of what the service reports as a whole
)

// page is all metrics of the service.
type page struct {
	families []*family
	added    func(*family, *series) // told of series that come later
	look     []func()               // what to do before the series are read
}

// update gets the page ready to be read.
func (p *page) update() {
	for _, look := range p.look {
		look()
	}
}

// counter, gauge and summary declare a family; its series are added with add.
func (p *page) counter(name, help string) *family { return p.declare(name, help, "counter") }
func (p *page) gauge(name, help string) *family   { return p.declare(name, help, "gauge") }
func (p *page) summary(name, help string) *family { return p.declare(name, help, "summary") }

func (p *page) declare(name, help, kind string) *family {
	f := &family{name: name, help: help, kind: kind}
	p.families = append(p.families, f)
	return f
}

// add gives a family a series; pairs are names and values of labels.
func (f *family) add(read func() float64, pairs ...string) *family {
	f.addSeries("", instance, read, pairs...)
	return f
}

// count adds a series that reads a whole number.
func (f *family) count(n *int, pairs ...string) *family {
	f.addSeries("", instance, nil, pairs...).counts = n
	return f
}

func (f *family) addSeries(suffix, instance string, read func() float64, pairs ...string) *series {
	pairs = append([]string{prom.MetricNameLabel, f.name + suffix, "instance", instance, "job", job}, pairs...)
	s := &series{labels: labels.FromStrings(pairs...), suffix: suffix, read: read}
	s.text = spell(s.labels)
	f.series = append(f.series, s)
	return s
}

// histogram adds the series of a histogram.
func (p *page) histogram(name, help string) *family { return p.declare(name, help, "histogram") }

func (f *family) observe(h *histogram, pairs ...string) *family {
	for i := range h.counts {
		le := "+Inf"
		if i < len(h.bounds) {
			le = strconv.FormatFloat(h.bounds[i], 'f', -1, 64)
		}
		f.addSeries("_bucket", instance, func() float64 { return float64(h.upTo(i)) }, append(slices.Clone(pairs), "le", le)...)
	}
	f.addSeries("_sum", instance, func() float64 { return h.sum }, pairs...)
	f.addSeries("_count", instance, func() float64 { return float64(h.count) }, pairs...)
	return f
}

// spell writes a series as the text format does.
func spell(l labels.Labels) string {
	var b strings.Builder
	b.WriteString(l.Get(prom.MetricNameLabel))
	b.WriteByte('{')
	first := true
	l.Range(func(l labels.Label) {
		if l.Name == prom.MetricNameLabel {
			return
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(&b, `%s="%s"`, l.Name, escapes.Replace(l.Value))
	})
	b.WriteByte('}')
	return b.String()
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// appendText writes the page in Prometheus' text format.
func (p *page) appendText(b []byte) []byte {
	p.update()
	for _, f := range p.families {
		b = append(b, "# HELP "+f.name+" "+f.help+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
		for _, s := range f.series {
			now := s.value()
			if value.IsStaleNaN(now) {
				continue
			}
			b = append(b, s.text...)
			b = append(b, ' ')
			b = strconv.AppendFloat(b, now, 'f', -1, 64)
			b = append(b, '\n')
		}
	}
	return b
}

func toSeconds(ticks int) float64 { return (time.Duration(ticks) * tickLength).Seconds() }

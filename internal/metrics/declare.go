package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func (w *Walk) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	w.register.MustRegister(g)
	return g
}

func (w *Walk) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	w.register.MustRegister(g)
	return g
}

// moments are since when each of several things is so.
type moments struct {
	*prometheus.GaugeVec
	now map[string][]string // labels by themselves joined
}

func (w *Walk) moments(name, help string, labels ...string) moments {
	return moments{w.gauges(name, help, labels...), map[string][]string{}}
}

// moment is since when one thing is so.
type moment struct {
	labels []string
	at     time.Time
}

// replace lets there be these and no others. One that stays is never missing in between: a scrape may come at any time.
func (m moments) replace(list ...moment) {
	kept := map[string]bool{}
	for _, one := range list {
		m.WithLabelValues(one.labels...).Set(seconds(one.at))
		key := strings.Join(one.labels, "\x00")
		m.now[key], kept[key] = one.labels, true
	}
	for key, labels := range m.now {
		if !kept[key] {
			m.DeleteLabelValues(labels...)
			delete(m.now, key)
		}
	}
}

func (w *Walk) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	w.register.MustRegister(c)
	return c
}

func (w *Walk) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	w.register.MustRegister(c)
	return c
}

// pollBuckets end where a poll does: its deadline is two seconds.
var pollBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2}

func (w *Walk) histogram(name, help string) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: pollBuckets})
	w.register.MustRegister(h)
	return h
}

// reads declares a gauge that is read when it is scraped.
func (w *Walk) reads(name, help string, read func() float64) {
	w.register.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

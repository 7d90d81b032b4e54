package simulation

import (
	"context"
	"math"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// measure is one probe of the runbooks: its query, and what the query would answer.
type measure struct {
	name, query, unit string
	window            time.Duration // of its range selectors, 0 for an instant selector
	low, high         string        // readings by hand, with which gates pass and fail
	of                func(m sample, from, to float64) float64
}

var measures = []measure{
	{"live", "sum(rate(live_total[4s]))", "attempts/s", 4 * time.Second, "100 attempts/s", "9000 attempts/s", func(m sample, _, _ float64) float64 { return m.live }},
	{"within", "sum(rate(live_total[4s])) + ${to}", "attempts/s", 4 * time.Second, "100 attempts/s", "9000 attempts/s", func(m sample, _, to float64) float64 { return m.live + to }},
	{"predicted", "sum(rate(live_total[4s])) + sum(rate(exposed_total[4s])) * (${to} - ${from}) / 100", "attempts/s", 4 * time.Second,
		"100 attempts/s", "9000 attempts/s", func(m sample, from, to float64) float64 { return m.live + m.exposed*(to-from)/100 }},
	{"errors", "sum(rate(errors_total[4s])) / sum(rate(reads_total[4s]))", "ratio", 4 * time.Second, "0", "0.9", func(m sample, _, _ float64) float64 { return m.errors }},
	{"peak", "max(admitted_rate)", "attempts/s", 0, "100 attempts/s", "9000 attempts/s", func(m sample, _, _ float64) float64 { return m.peak }},
	{"queue", "max(queue_age_seconds)", "s", 0, "100ms", "9s", func(m sample, _, _ float64) float64 { return m.queue }},
	{"forbidden", "sum(increase(stale_violations_total[4s]))", "reads", 4 * time.Second, "0 reads", "5 reads", func(m sample, _, _ float64) float64 { return m.forbidden }},
}

func probeLines() string {
	text := ""
	for _, m := range measures {
		text += "  " + m.name + ": {query: '" + m.query + "', unit: " + m.unit + "}\n"
	}
	return text
}

func measureOf(probe string) *measure {
	for i := range measures {
		if measures[i].name == probe {
			return &measures[i]
		}
	}
	return nil
}

// prometheus scrapes the service and answers, as well as its faults let it.
type prometheus struct {
	w       *world
	samples []sample
	skew    time.Duration // of its clock against the true time
	ahead   time.Duration // the highest that was
	fault   string
	until   time.Time // of the fault
	asked   []poll    // what it has answered, for the invariants
}

// poll is what one observation was told.
type poll struct {
	at, true time.Time // by the clock of Prometheus, and really
	answers  map[probes.Ask]given
	controls map[string]float64 // numbers that Redis held
}

// given is one answer as the world knows it. It is clean when nothing is wrong with it.
type given struct {
	value  float64
	clean  bool
	since  time.Time // the true time of the oldest sample behind it
	newest time.Time // the stamp of the newest
	stale  bool
}

// keptSamples is more than any window looks back over.
const keptSamples = 32

func (p *prometheus) scrape(m sample) {
	m.stamp, m.true = p.w.now.Add(p.skew), p.w.now
	last := len(p.samples) - 1
	if p.faulty("frozen") || last >= 0 && !m.stamp.After(p.samples[last].stamp) {
		return // a sample that is older than the newest one is refused
	}
	p.samples = append(p.samples, m)
	if len(p.samples) > keptSamples {
		p.samples = p.samples[1:]
	}
}

func (p *prometheus) faulty(kind string) bool { return p.fault == kind && p.w.now.Before(p.until) }

// Poll answers at one evaluation time, and remembers what was true.
func (p *prometheus) Poll(_ context.Context, doc *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	p.w.boundary()
	at := p.w.now.Add(p.skew).UTC()
	o := probes.Observation{At: at, Offset: at.Sub(p.w.process.clock().Now())}
	told := poll{at: at, true: p.w.now, answers: map[probes.Ask]given{}, controls: p.w.redis.numbers()}
	for _, ask := range asks {
		answer, truth := p.answer(doc, ask, at)
		o.Answers = append(o.Answers, answer)
		told.answers[ask] = truth
	}
	if p.asked = append(p.asked, told); len(p.asked) > keptSamples {
		p.asked = p.asked[1:]
	}
	if version > 0 {
		o.Propagation = p.propagation(version)
	}
	if p.w.warp.observe != nil {
		p.w.warp.observe(&o)
	}
	p.w.boundary()
	return o
}

// nothingAnswered are faults that leave an answer without a value.
var nothingAnswered = map[string]probes.Reason{
	"absent": probes.NoData, "away": probes.Transport, "partial": probes.Partial, "histogram": probes.Histogram,
	"page": probes.Malformed, "rejected": probes.Rejected,
}

func (p *prometheus) answer(doc *runbook.Document, ask probes.Ask, at time.Time) (probes.Answer, given) {
	a := probes.Answer{Ask: ask, At: at}
	query, err := doc.Probe(ask.Probe).Expand(ask.From, ask.To)
	if a.Query = query; err != nil {
		a.Reason = probes.Rejected
		return a, given{}
	}
	if p.w.now.Before(p.until) {
		if reason, ok := nothingAnswered[p.fault]; ok {
			a.Reason = reason
			return a, given{}
		}
	}
	m := measureOf(ask.Probe)
	seen := p.window(at, m.window)
	if len(seen) == 0 || m.window > 0 && len(seen) < 2 { // a rate wants two samples
		a.Reason = probes.NoData
		return a, given{}
	}
	newest := seen[len(seen)-1].stamp
	if m.window > 0 {
		a.WindowStart = at.Add(-m.window)
	} else {
		a.Oldest = newest
	}
	a.Newest, a.Stalest = []time.Time{newest}, newest
	value := mean(seen, m, number(ask.From), number(ask.To))
	g := given{value: value, clean: !math.IsNaN(value) && !math.IsInf(value, 0), newest: newest, since: seen[0].true, stale: at.Sub(newest) > doc.Defaults.StaleAfter}
	a.SetReadings(p.readings(value, &g))
	return a, g
}

// readings gives the value, or what a fault makes of it. An answer that lies looks like
// any other: nobody can tell, and the invariants take it as it was given.
func (p *prometheus) readings(value float64, g *given) []probes.Reading {
	switch {
	case p.faulty("nan"):
		value, g.clean = math.NaN(), false
	case p.faulty("infinite"):
		value, g.clean = math.Inf(1), false
	case p.faulty("low"):
		value, g.value, g.clean = 0, 0, true
	case p.faulty("high"):
		value, g.value, g.clean = 99999, 99999, true
	}
	return []probes.Reading{probes.NewReading("{}", value)}
}

// window gives the samples behind an answer: those of the range, or the newest one. Late
// ones have not arrived yet.
func (p *prometheus) window(at time.Time, window time.Duration) []sample {
	to := at
	if p.faulty("late") {
		to = at.Add(-lateBy)
	}
	end := len(p.samples)
	for end > 0 && p.samples[end-1].stamp.After(to) {
		end--
	}
	from := end
	for from > 0 && p.samples[from-1].stamp.After(at.Add(-max(window, lookback))) {
		from--
		if window == 0 {
			break
		}
	}
	for window > 0 && from < end && !p.samples[from].stamp.After(at.Add(-window)) {
		from++
	}
	return p.samples[from:end]
}

const (
	lateBy   = 3 * time.Second
	lookback = 15 * time.Second // how old the sample of an instant selector may be
)

func mean(seen []sample, m *measure, from, to float64) float64 {
	sum := 0.0
	for _, s := range seen {
		sum += m.of(s, from, to)
	}
	return finite(sum / float64(len(seen)))
}

func (p *prometheus) propagation(version int64) *probes.Propagation {
	g := &probes.Propagation{Version: version}
	if reason, ok := nothingAnswered[p.fault]; ok && p.w.now.Before(p.until) {
		g.Reason = reason
		return g
	}
	seen := p.window(p.w.now.Add(p.skew), 0)
	if len(seen) == 0 || p.w.service.silent {
		g.Reason = probes.NoData
		return g
	}
	g.Reported, g.Processes = true, processes
	if last := seen[0]; last.obeyed >= version {
		g.Obeying, g.Oldest = processes, last.stamp
		if p.w.service.stuck {
			g.Obeying--
		}
	}
	return g
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

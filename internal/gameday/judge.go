package gameday

import (
	"context"
	"slices"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// judge holds the expectations of a day, and the gates that its events wait for, against
// the service, once a second.
type judge struct {
	w         *world
	poller    *probes.Poller
	watches   []*watch
	counters  []*counter
	before    probes.Observation
	baselines map[string]float64
}

// watch is one expectation and what has become of it.
type watch struct {
	*runbook.Expectation
	judged, unknown int // seconds
	decided         bool
	held            bool
	at              time.Duration // when that was decided
	readings        []string
}

func newJudge(w *world, poller *probes.Poller) *judge {
	j := &judge{w: w, poller: poller, baselines: map[string]float64{}}
	for i := range w.day.Expect {
		j.watches = append(j.watches, &watch{Expectation: &w.day.Expect[i]})
	}
	for i := range w.day.Measures {
		if m := &w.day.Measures[i]; m.Records != nil {
			j.counters = append(j.counters, newCounter(m))
		}
	}
	return j
}

// due reports whether an expectation is to be judged at this time of the day.
func (e *watch) due(now time.Duration) bool {
	switch {
	case e.decided || e.Kind == runbook.ExpectFinally || now < e.From:
		return false
	case e.Until > 0:
		return now <= e.Until
	}
	return true
}

// awaits reports whether an expectation still waits for something that may come.
func (j *judge) awaits() bool {
	now := j.w.elapsed()
	return slices.ContainsFunc(j.watches, func(e *watch) bool {
		waits := e.Kind == runbook.ExpectAt || e.Kind == runbook.ExpectEventually || now < e.From
		return waits && !e.decided && e.Kind != runbook.ExpectFinally
	})
}

// second judges what is due now.
func (j *judge) second(ctx context.Context) {
	now := j.w.elapsed()
	var due []*watch
	var gates []runbook.Gate
	for _, e := range j.watches {
		if e.due(now) {
			due, gates = append(due, e), append(gates, e.Holds)
		}
	}
	var acts []*act
	for _, a := range j.w.acts {
		if a.When != nil && !a.timed {
			acts, gates = append(acts, a), append(gates, a.When)
		}
	}
	if !j.w.walks() {
		gates = append(gates, j.w.day.Book.Exit.When)
	}
	situation := j.observe(ctx, gates)
	for _, e := range due {
		e.take(probes.Judge(e.Holds, situation), now)
	}
	for _, a := range acts {
		if probes.Judge(a.When, situation).Verdict == probes.Pass {
			a.passed(j.w.clock.Now())
		}
	}
	if !j.w.walks() {
		j.w.score.exit(probes.Judge(j.w.day.Book.Exit.When, situation).Verdict)
	}
}

// observe asks what these gates are on.
func (j *judge) observe(ctx context.Context, gates []runbook.Gate) probes.Situation {
	var asks []probes.Ask
	for _, gate := range gates {
		for _, ask := range probes.Asks(j.w.day.Terms, gate, "", "") {
			if !slices.Contains(asks, ask) && j.measure(ask.Probe) == nil && !j.fixed(ask.Probe) {
				asks = append(asks, ask)
			}
		}
	}
	seen, before := probes.Observation{}, j.before
	if len(asks) > 0 {
		seen = j.poller.Poll(ctx, j.w.day.Terms, asks, 0)
	}
	j.before = seen
	j.fix(&seen)
	return probes.Situation{
		StaleAfter: j.w.day.Terms.Defaults.StaleAfter,
		Answer:     func(a probes.Ask) *probes.Answer { return j.answer(a, &seen) },
		Previous:   func(a probes.Ask) *probes.Answer { return j.answer(a, &before) },
		Control:    j.number,
		Baseline:   func(probe string) (float64, bool) { v, ok := j.baselines[probe]; return v, ok },
		Probe:      j.w.day.Terms.Probe,
	}
}

// fixed reports whether a probe has its start value already.
func (j *judge) fixed(probe string) bool {
	_, ok := j.baselines[probe]
	return ok
}

// fix keeps start values.
func (j *judge) fix(seen *probes.Observation) {
	for i := range seen.Answers {
		a := &seen.Answers[i]
		p := j.w.day.Terms.Probe(a.Ask.Probe)
		if p != nil && p.Baseline && !j.fixed(p.Name) && a.Reason == "" && a.Count == 1 {
			j.baselines[p.Name] = a.Readings[0].Value
		}
	}
}

func (j *judge) measure(probe string) *runbook.Measure {
	i := slices.IndexFunc(j.w.day.Measures, func(m runbook.Measure) bool { return m.Name == probe })
	if i < 0 {
		return nil
	}
	return &j.w.day.Measures[i]
}

// answer gives what was measured, also where that is no metric.
func (j *judge) answer(ask probes.Ask, seen *probes.Observation) *probes.Answer {
	m := j.measure(ask.Probe)
	if m == nil {
		return seen.Answer(ask)
	}
	now := j.w.clock.Now().UTC()
	a := &probes.Answer{Ask: ask, At: now, Stalest: now, Newest: []time.Time{now}}
	v, known := j.take(m)
	if !known {
		a.Reason, a.Detail = probes.NoData, "it had not come by then"
		if ofService(m.Score) && !j.w.score.modelled {
			a.Detail = "only the lab's own service has it"
		}
		return a
	}
	a.SetReadings([]probes.Reading{probes.NewReading("{}", v)})
	return a
}

// take measures what is no metric. A control that is unlimited is above every number.
func (j *judge) take(m *runbook.Measure) (float64, bool) {
	switch {
	case m.Control != nil:
		v, ok := j.w.ground.value(m.Control)
		if v.Unlimited {
			return runbook.Unlimited, ok
		}
		return m.Control.Place(v), ok
	case m.Records != nil:
		return j.count(m), true
	}
	return j.w.score.figure(m.Score)
}

// number is the live value of a control to compare with.
func (j *judge) number(name string) (float64, bool) {
	c := j.w.day.Book.Control(name)
	if c == nil {
		return 0, false
	}
	v, ok := j.w.ground.value(c)
	return v.Number, ok && !v.Unlimited
}

// take takes the judgement of one second.
func (e *watch) take(j probes.Judgement, now time.Duration) {
	if j.Verdict == probes.Unknown {
		e.unknown++
	} else {
		e.judged++
	}
	switch e.Kind {
	case runbook.ExpectAlways:
		if j.Verdict == probes.Fail {
			e.decide(false, now, j)
		}
	case runbook.ExpectNever:
		if j.Verdict == probes.Pass {
			e.decide(false, now, j)
		}
	case runbook.ExpectEventually:
		e.readings = sentences(j)
		if j.Verdict == probes.Pass {
			e.decide(true, now, j)
		} else if e.Within > 0 && now >= e.From+e.Within {
			e.decide(false, now, j)
		}
	default:
		e.decide(j.Verdict == probes.Pass, now, j)
	}
}

func (e *watch) decide(held bool, now time.Duration, j probes.Judgement) {
	e.decided, e.held, e.at, e.readings = true, held, now, sentences(j)
}

func sentences(j probes.Judgement) []string {
	var list []string
	for _, f := range j.Findings {
		list = append(list, f.Verdict.String()+": "+f.Sentence)
	}
	return list
}

// end judges what must hold finally, and closes what is still open. What was never judged
// has not held.
func (j *judge) end(ctx context.Context) {
	now := j.w.elapsed()
	var gates []runbook.Gate
	for _, e := range j.watches {
		if e.Kind == runbook.ExpectFinally {
			gates = append(gates, e.Holds)
		}
	}
	situation := j.observe(ctx, gates)
	for _, e := range j.watches {
		switch {
		case e.decided:
		case e.Kind == runbook.ExpectFinally:
			e.take(probes.Judge(e.Holds, situation), now)
		case e.Kind == runbook.ExpectEventually:
			e.decided, e.at = true, now
		default:
			e.decided, e.at, e.held = true, now, e.judged > 0
		}
	}
}

func (j *judge) countRecord(r audit.Record) {
	for _, c := range j.counters {
		c.take(r.Kind, r.Body)
	}
}

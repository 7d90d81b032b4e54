package steps

import (
	"testing"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// TestPace: a value that comes closer to its bound has a time at which it gets there, and no other has.
func TestPace(t *testing.T) {
	begin := time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)
	ask := probes.Ask{Probe: "warm"}
	const series = `{cell="c"}`
	atLeast, atMost := runbook.Bound{Probe: "warm", Op: runbook.AtLeast}, runbook.Bound{Probe: "warm", Op: runbook.AtMost}
	of := func(b runbook.Bound, number float64) runbook.Bound { b.Operand.Number = number; return b }
	control := atMost
	control.Operand.Control = "limit"
	for name, c := range map[string]struct {
		bound  runbook.Bound
		values []float64 // a second apart
		mark   int       // values up to this one do not count
		want   string
	}{
		"rises":              {of(atLeast, 0.95), []float64{0.7, 0.71, 0.72, 0.73, 0.74, 0.75}, 0, "20s left at this pace, rising by 0.01 a second"},
		"falls":              {of(atMost, 100), []float64{500, 400, 350, 310, 300}, 0, "4s left at this pace, falling by 50 a second"},
		"against a control":  {control, []float64{500, 400, 350, 310, 300}, 0, "2s left at this pace, falling by 50 a second"},
		"the other way":      {of(atLeast, 0.95), []float64{0.75, 0.74, 0.73, 0.72, 0.71}, 0, ""},
		"stands":             {of(atLeast, 0.95), []float64{0.7, 0.7, 0.7, 0.7, 0.7}, 0, ""},
		"has stopped":        {of(atLeast, 0.95), []float64{0.7, 0.71, 0.72, 0.73, 0.74, 0.75, 0.75}, 0, ""},
		"too short":          {of(atLeast, 0.95), []float64{0.7, 0.71, 0.72, 0.73}, 0, ""},
		"only after a flip":  {of(atLeast, 0.95), []float64{0.2, 0.71, 0.72, 0.73, 0.74, 0.75}, 1, "20s left at this pace, rising by 0.01 a second"},
		"not within an hour": {of(atLeast, 0.95), []float64{0.7, 0.7, 0.7, 0.7, 0.700001}, 0, ""},
		"of other series":    {of(atLeast, 0.95), nil, 0, ""},
	} {
		s := &State{}
		for i, v := range c.values {
			s.polls = append(s.polls, &poll{at: begin.Add(time.Duration(i) * time.Second), numbers: map[string]float64{"limit": 200},
				answers: []probes.Answer{{Ask: ask, Readings: []probes.Reading{{Series: series, Value: v}}}}})
		}
		w := Watch{Gate: runbook.Gate{{c.bound}}, Marked: c.mark > 0, Mark: begin.Add(time.Duration(c.mark-1) * time.Second)}
		found := track{asks: []probes.Ask{ask}, last: ruled(probes.Judgement{Findings: []probes.Finding{{Probe: "warm", Verdict: probes.Fail, Series: series}}})}
		if n := len(s.polls); n > 1 {
			found.earlier, found.before = s.polls[n-2], s.polls[n-1]
		}
		if got := s.pace(w, &found); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestPaceOfAGate: what comes closer is no recovery while something else of the gate fails and does not, for it may have
// become that; else the slowest counts.
func TestPaceOfAGate(t *testing.T) {
	begin := time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)
	const series = "{}"
	falls := []float64{0.30, 0.28, 0.26, 0.24, 0.22}
	slowly := []float64{0.30, 0.29, 0.28, 0.27, 0.26}
	rises := []float64{0.01, 0.02, 0.04, 0.06, 0.07}
	bound := func(probe string) runbook.Bound {
		return runbook.Bound{Probe: probe, Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.02}}
	}
	fail := []probes.Verdict{probes.Fail, probes.Fail}
	both := runbook.Gate{{bound("stale")}, {bound("rejected")}}
	for name, c := range map[string]struct {
		gate            runbook.Gate
		verdicts        []probes.Verdict
		stale, rejected []float64
		want            string
	}{
		"damage":          {both, fail, falls, rises, ""},
		"both":            {both, fail, falls, slowly, "24s left at this pace, rejected falling by 0.01 a second"},
		"the other first": {both, fail, slowly, falls, "24s left at this pace, stale falling by 0.01 a second"},
		"the other holds": {both, []probes.Verdict{probes.Fail, probes.Pass}, falls, rises, "10s left at this pace, falling by 0.02 a second"},
		"not known":       {both, []probes.Verdict{probes.Fail, probes.Unknown}, falls, rises, ""},
		"one is enough":   {runbook.Gate{{bound("stale"), bound("rejected")}}, fail, falls, rises, "10s left at this pace, falling by 0.02 a second"},
		"one holds":       {runbook.Gate{{bound("stale"), bound("rejected")}}, []probes.Verdict{probes.Fail, probes.Pass}, falls, rises, ""},
	} {
		s := &State{}
		asks := []probes.Ask{{Probe: "stale"}, {Probe: "rejected"}}
		for i := range c.stale {
			p := &poll{at: begin.Add(time.Duration(i) * time.Second)}
			for n, v := range []float64{c.stale[i], c.rejected[i]} {
				p.answers = append(p.answers, probes.Answer{Ask: asks[n], Readings: []probes.Reading{{Series: series, Value: v}}})
			}
			s.polls = append(s.polls, p)
		}
		var found probes.Judgement
		for i, ask := range asks {
			found.Findings = append(found.Findings, probes.Finding{Probe: ask.Probe, Verdict: c.verdicts[i], Series: series})
		}
		watched := track{asks: asks, last: ruled(found), earlier: s.polls[3], before: s.polls[4]}
		if got := s.pace(Watch{Gate: c.gate}, &watched); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

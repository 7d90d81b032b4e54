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

package probes

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// seconded polls one probe whose second source is another server.
func seconded(t *testing.T, first, second http.Handler, clock Clock) Observation {
	t.Helper()
	server := httptest.NewServer(second)
	t.Cleanup(server.Close)
	doc := document(runbook.Probe{Name: "p", Query: "max(age)", Second: server.URL + "?token=hunter2"})
	doc.Defaults.StaleAfter = 10 * sec
	return polling(t, first, clock).Poll(context.Background(), doc, []Ask{{Probe: "p"}}, 1)
}

func away(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) }

// TestSecondSource: it answers where the first cannot, and never where the first can.
func TestSecondSource(t *testing.T) {
	server := func(value float64, upTo int, others ...string) *fakePrometheus {
		f := newFake(t, noon)
		scrapes(f, "age", -60, upTo, constant(value))
		for _, series := range others {
			scrapes(f, series, -60, upTo, constant(7))
		}
		return f
	}
	for name, test := range map[string]struct {
		first, second http.Handler
		value, source string
		detail        string
	}{
		"the first wins":                       {first: server(3, 0), second: server(5, 0), value: "3"},
		"the second is away, and not needed":   {first: server(3, 0), second: http.HandlerFunc(away), value: "3"},
		"the first is away":                    {first: http.HandlerFunc(away), second: server(5, 0), value: "5", source: "http://"},
		"the first has an empty head":          {first: newFake(t, noon), second: server(5, 0), value: "5", source: "http://"},
		"the first has stale samples":          {first: server(3, -30), second: server(5, 0), value: "5", source: "http://"},
		"the second has stale samples as well": {first: server(3, -30), second: server(5, -30), value: "3"},
		"both are away":                        {first: http.HandlerFunc(away), second: http.HandlerFunc(away), detail: "; the second source: http://"},
	} {
		t.Run(name, func(t *testing.T) {
			o := seconded(t, test.first, test.second, newClock(noon))
			a := o.Answers[0]
			if a.Max.Raw != test.value || test.source == "" != (a.Source == "") || !strings.HasPrefix(a.Source, test.source) {
				t.Errorf("value %q from %q; %s", a.Max.Raw, a.Source, a.Detail)
			}
			if a.Source != "" && a.Instead == "" || !strings.Contains(a.Detail, test.detail) {
				t.Errorf("it does not say why: %q, %q", a.Instead, a.Detail)
			}
			if strings.Contains(a.Source+a.Detail+a.Instead, "hunter2") {
				t.Errorf("a secret is shown: %+v", a)
			}
			f := JudgeBound(runbook.Bound{Probe: "p", Op: runbook.AtMost, Operand: runbook.Operand{Number: 9}},
				Situation{StaleAfter: 10 * sec, Answer: func(Ask) *Answer { return &a }})
			if marked := strings.Contains(f.Sentence, "second source http://"); marked != (a.Source != "") || f.Source != a.Source {
				t.Errorf("not marked: %+v", f)
			}
		})
	}
}

// TestSecondSourceOnAnotherClock: its times are told on the clock that marks are counted by.
func TestSecondSourceOnAnotherClock(t *testing.T) {
	ahead := newFake(t, noon.Add(time.Hour))
	for i := -60; i <= 0; i++ {
		ahead.scrape(noon.Add(time.Hour+time.Duration(i)*sec), "age", 5)
		ahead.scrape(noon.Add(time.Hour+time.Duration(i)*sec), `rewarm_controls_version{service="catalog"}`, 7)
	}
	o := seconded(t, http.HandlerFunc(away), ahead, newClock(noon))
	a := o.Answers[0]
	if a.Max.Raw != "5" || a.At.Sub(noon).Abs() > sec || a.Stalest.Sub(noon).Abs() > sec || a.Oldest.Sub(noon).Abs() > sec {
		t.Errorf("at %s, oldest %s, stalest %s: %s", a.At, a.Oldest, a.Stalest, a.Detail)
	}
	if p := o.Propagation; p.Reason != "" || p.Obeying != 1 || p.Oldest.Sub(noon).Abs() > sec {
		t.Errorf("propagation %+v", p)
	}
}

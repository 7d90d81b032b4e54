package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/rewarm/rewarm/runbook"
)

// fakePrometheus answers the API with the real PromQL engine over samples that a test
// writes. It is stricter than the real thing: a question without an explicit time, a
// timeout or partial_response=false fails the test.
type fakePrometheus struct {
	t      *testing.T
	engine *promql.Engine

	mu     sync.Mutex
	series map[string][]chunks.Sample
	now    time.Time         // the server's own clock
	rules  string            // body of /api/v1/rules, "" for 404
	bodies map[string]string // instead of the engine, by query
	asked  []string
	refuse func(query string) bool
}

func newFake(t *testing.T, now time.Time) *fakePrometheus {
	return &fakePrometheus{
		t: t, now: now, series: map[string][]chunks.Sample{}, bodies: map[string]string{},
		engine: promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute}),
	}
}

// scrape writes one sample: up{job="a"} 1.
func (f *fakePrometheus) scrape(at time.Time, series string, value float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.series[series] = append(f.series[series], point{at.UnixMilli(), value})
}

func (f *fakePrometheus) setNow(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}

func (f *fakePrometheus) count(query string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, q := range f.asked {
		if q == query {
			n++
		}
	}
	return n
}

func (f *fakePrometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/api/v1/rules":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, "rules")
		if f.rules == "" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, f.rules)
	case "/api/v1/query":
		f.serveQuery(w, r)
	default:
		f.t.Errorf("asked for %s", r.URL.Path)
		http.NotFound(w, r)
	}
}

func (f *fakePrometheus) serveQuery(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	at := f.check(r, query)
	f.mu.Lock()
	f.asked = append(f.asked, query)
	body, scripted := f.bodies[query]
	refused := f.refuse != nil && f.refuse(query)
	f.mu.Unlock()
	if scripted {
		fmt.Fprint(w, body)
		return
	}
	if refused {
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"status":"error","errorType":"execution","error":"vector cannot contain metrics with the same labelset"}`)
		return
	}
	q, err := f.engine.NewInstantQuery(r.Context(), f, nil, query, at)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": "bad_data", "error": err.Error()})
		return
	}
	defer q.Close()
	result := q.Exec(r.Context())
	if result.Err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		json.NewEncoder(w).Encode(map[string]string{"status": "error", "errorType": "execution", "error": result.Err.Error()})
		return
	}
	warnings, infos := result.Warnings.AsStrings(query, 10, 10)
	json.NewEncoder(w).Encode(map[string]any{
		"status": "success", "warnings": warnings, "infos": infos,
		"data": map[string]any{"resultType": result.Value.Type(), "result": wire(result.Value)},
	})
}

// check holds a request against what every request must carry.
func (f *fakePrometheus) check(r *http.Request, query string) time.Time {
	if r.Method != http.MethodPost && r.Method != http.MethodGet {
		f.t.Errorf("method %s", r.Method)
	}
	if r.FormValue("partial_response") != "false" || r.FormValue("timeout") == "" {
		f.t.Errorf("query %s was sent without partial_response=false or without a timeout: %v", query, r.Form)
	}
	if query == "time()" {
		if r.FormValue("time") != "" {
			f.t.Error("the server's own time was asked at a time of ours")
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.now
	}
	at, err := strconv.ParseFloat(r.FormValue("time"), 64)
	if err != nil {
		f.t.Errorf("query %s was sent without an explicit time: %q", query, r.FormValue("time"))
	}
	return time.UnixMilli(int64(math.Round(at * 1000)))
}

func wire(v parser.Value) any {
	pair := func(t int64, f float64) []any { return []any{float64(t) / 1000, formatSample(f)} }
	switch v := v.(type) {
	case promql.Scalar:
		return pair(v.T, v.V)
	case promql.Vector:
		out := []any{}
		for _, s := range v {
			out = append(out, map[string]any{"metric": s.Metric, "value": pair(s.T, s.F)})
		}
		return out
	}
	return nil
}

// point is a sample of the fake storage.
type point struct {
	t int64
	v float64
}

func (p point) T() int64                      { return p.t }
func (p point) ST() int64                     { return 0 }
func (p point) F() float64                    { return p.v }
func (p point) H() *histogram.Histogram       { return nil }
func (p point) FH() *histogram.FloatHistogram { return nil }
func (p point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p point) Copy() chunks.Sample           { return p }

func (f *fakePrometheus) Querier(mint, maxt int64) (storage.Querier, error) {
	return fakeQuerier{fake: f, mint: mint, maxt: maxt}, nil
}

type fakeQuerier struct {
	storage.LabelQuerier
	fake       *fakePrometheus
	mint, maxt int64
}

func (q fakeQuerier) Close() error { return nil }

func (q fakeQuerier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	q.fake.mu.Lock()
	defer q.fake.mu.Unlock()
	p := parser.NewParser(parser.Options{})
	var found []storage.Series
	for name, samples := range q.fake.series {
		lbls, err := p.ParseMetric(name)
		if err != nil {
			q.fake.t.Errorf("series %s: %v", name, err)
		}
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(lbls.Get(m.Name)) }) {
			continue
		}
		inside := slices.DeleteFunc(slices.Clone(samples), func(s chunks.Sample) bool { return s.T() < q.mint || s.T() > q.maxt })
		if len(inside) > 0 {
			found = append(found, storage.NewListSeries(lbls, inside))
		}
	}
	slices.SortFunc(found, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return &seriesList{all: found}
}

type seriesList struct {
	all []storage.Series
	at  int
}

func (s *seriesList) Next() bool                        { s.at++; return s.at <= len(s.all) }
func (s *seriesList) At() storage.Series                { return s.all[s.at-1] }
func (s *seriesList) Err() error                        { return nil }
func (s *seriesList) Warnings() annotations.Annotations { return nil }

// polling starts a server on a fake and a poller for it.
func polling(t *testing.T, f http.Handler, clock Clock) *Poller {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	p, err := NewPoller(Options{URL: server.URL}, clock)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func document(probes ...runbook.Probe) *runbook.Document {
	return &runbook.Document{Service: "catalog", Probes: probes, Defaults: runbook.Timing{Every: 2 * time.Second}}
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

package diagnosis_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// drill is the case study's drill, thirty minutes after the repair, as counters scraped
// every second: 120,000 lookups/s with 99.2 % hits, the top key with 4 % and the top
// hundred with 62 % of the reads, 3,180/s admitted and 3,090/s completed, leaders whose
// 99th percentile is 940 ms, 7.2 % of the followers timed out, 0.4 % declared stale, and
// queries whose 99th percentile is 190 ms. Nothing else is measured.
var drill = counters{
	`catalog_cache_attempts_total{result="hit"}`:                      119040,
	`catalog_cache_attempts_total{result="miss"}`:                     960,
	`catalog_reads_by_rank_total{bucket="top-1"}`:                     4800,
	`catalog_reads_by_rank_total{bucket="top-10"}`:                    24000,
	`catalog_reads_by_rank_total{bucket="top-100"}`:                   45600,
	`catalog_reads_by_rank_total{bucket="tail"}`:                      45600,
	`catalog_origin_attempts_total{source="live"}`:                    3180,
	`catalog_origin_admitted_total{partition="catalog"}`:              3180,
	`catalog_origin_completed_total{partition="catalog"}`:             3090,
	`catalog_refresh_leader_seconds_bucket{le="0.5"}`:                 900,
	`catalog_refresh_leader_seconds_bucket{le="0.94"}`:                990,
	`catalog_refresh_leader_seconds_bucket{le="+Inf"}`:                1000,
	`catalog_coalesced_followers_total{result="served"}`:              928,
	`catalog_coalesced_followers_total{result="timeout"}`:             72,
	`catalog_reads_total{outcome="fresh"}`:                            119520,
	`catalog_reads_total{outcome="declared_stale"}`:                   480,
	`catalog_origin_service_seconds_bucket{class="detail",le="0.1"}`:  2400,
	`catalog_origin_service_seconds_bucket{class="detail",le="0.19"}`: 2970,
	`catalog_origin_service_seconds_bucket{class="detail",le="+Inf"}`: 3000,
}

// On the drill's figures the diagnosis says hold, not to raise, lengthen or widen, and
// names the three checks.
func TestDrillSaysHold(t *testing.T) {
	report := diagnose(t, drill)
	hold := report.Pictures[0]
	if hold.Verdict != diagnosis.Likely || !strings.HasPrefix(hold.Advice, "hold") || len(hold.Missing) > 0 {
		t.Errorf("the picture is %+v", hold)
	}
	var avoid []string
	for _, a := range hold.Avoid {
		avoid = append(avoid, a.Do)
	}
	if want := []string{"raise the admission limit", "lengthen follower deadlines", "widen the stale window"}; !slices.Equal(avoid, want) {
		t.Errorf("avoid %q, want %q", avoid, want)
	}
	for i, want := range []string{"key-cost class", "leader queue time from service time", "hundred hottest keys"} {
		if !strings.Contains(hold.Checks[i], want) {
			t.Errorf("check %d is %q, want one of the %s", i, hold.Checks[i], want)
		}
	}
	for i, want := range []string{"0.992", "940ms", "3.5185", "0.99375", "0.971698", "0.04", "0.62", "0.072", "0.004"} {
		if !strings.Contains(hold.For[i].Readings[0], want) {
			t.Errorf("sign %d reads %q, want %s", i, hold.For[i].Readings[0], want)
		}
	}
	for _, m := range report.Modes {
		if want := m.Mode == "origin-fault"; (m.Verdict == diagnosis.Likely) != want {
			t.Errorf("%s is %s: %+v", m.Mode, m.Verdict, m.Evidence)
		}
	}
}

// Without any metric nothing speaks, for or against, and the first question is asked.
func TestNothingMeasuredIsNoEvidence(t *testing.T) {
	report := diagnose(t, counters{"unrelated_total": 1})
	for _, m := range report.Modes {
		if m.Verdict != diagnosis.Unknown || len(m.For)+len(m.Against) > 0 || len(m.Missing) == 0 {
			t.Errorf("%s is %s: %+v", m.Mode, m.Verdict, m.Evidence)
		}
	}
	if report.Pictures[0].Verdict != diagnosis.Unknown {
		t.Errorf("the picture is %s", report.Pictures[0].Verdict)
	}
	if report.Questions[0].Answer != diagnosis.Ask {
		t.Errorf("the question is answered with %s", report.Questions[0].Answer)
	}
}

// diagnose judges series by the bundled rules, ten minutes after their first sample.
func diagnose(t *testing.T, series counters) *diagnosis.Report {
	t.Helper()
	file := filepath.Join("..", "..", "templates", "diagnosis", "catalog.yaml")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	book := &runbook.Document{Service: "catalog", Defaults: runbook.Timing{Every: 2 * time.Second, StaleAfter: 10 * time.Second}}
	rules, problems := runbook.ParseDiagnosis(book, runbook.RuleFile{Name: file, Source: source})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(600, 0)
	server := httptest.NewServer(prometheus(t, series, now))
	t.Cleanup(server.Close)
	poller, err := probes.NewPoller(probes.Options{URL: server.URL}, standing(now))
	if err != nil {
		t.Fatal(err)
	}
	seen := poller.Poll(context.Background(), rules.Document(), diagnosis.Asks(rules), 0)
	return diagnosis.Of(rules, seen, 10*time.Second)
}

// standing is a clock that stands.
type standing time.Time

func (s standing) Now() time.Time                        { return time.Time(s) }
func (s standing) Wait(context.Context, time.Time) error { return nil }
func (s standing) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// counters are how much each series grows in a second; they begin at 0 at time zero
// and are scraped every second.
type counters map[string]float64

func (c counters) Querier(mint, maxt int64) (storage.Querier, error) {
	return scraped{counters: c, mint: mint, maxt: maxt}, nil
}

type scraped struct {
	storage.LabelQuerier
	counters   counters
	mint, maxt int64
}

func (scraped) Close() error { return nil }

func (s scraped) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for name, perSecond := range s.counters {
		metric, err := parser.NewParser(parser.Options{}).ParseMetric(name)
		if err != nil {
			return storage.ErrSeriesSet(err)
		}
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(metric.Get(m.Name)) }) {
			continue
		}
		var samples []chunks.Sample
		for at := max(0, (s.mint+999)/1000); at*1000 <= s.maxt; at++ {
			samples = append(samples, sample{at * 1000, perSecond * float64(at)})
		}
		found = append(found, storage.NewListSeries(metric, samples))
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

type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// prometheus serves instant queries over a storage.
func prometheus(t *testing.T, samples storage.Queryable, now time.Time) http.Handler {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 5 * time.Minute})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/query" {
			http.NotFound(w, r)
			return
		}
		at := now
		if text := r.FormValue("time"); text != "" {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Errorf("asked at %q", text)
			}
			at = time.UnixMilli(int64(seconds * 1000))
		}
		query, err := engine.NewInstantQuery(r.Context(), samples, nil, r.FormValue("query"), at)
		if err != nil {
			t.Errorf("query %s: %v", r.FormValue("query"), err)
			return
		}
		defer query.Close()
		result := query.Exec(r.Context())
		if result.Err != nil {
			t.Errorf("query %s: %v", r.FormValue("query"), result.Err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success",
			"data": map[string]any{"resultType": result.Value.Type(), "result": wire(result.Value)}})
	})
}

func wire(v parser.Value) any {
	pair := func(t int64, f float64) []any {
		return []any{float64(t) / 1000, strconv.FormatFloat(f, 'g', -1, 64)}
	}
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

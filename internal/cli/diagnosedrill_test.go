//go:build !race

package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
)

// The drill scenario is the case study's drill: its figures are near, for minutes, and
// the diagnosis says hold.
func TestDrillShowsItsPicture(t *testing.T) {
	near := []struct {
		query         string
		least, atMost float64 // the case's figure lies between them
	}{
		{`sum(rate(catalog_cache_attempts_total{result=~"hit|refresh"}[2m])) / sum(rate(catalog_cache_attempts_total[2m]))`, 0.991, 0.993},
		{`sum(rate(catalog_reads_by_rank_total{bucket="top-1"}[2m])) / sum(rate(catalog_reads_by_rank_total[2m]))`, 0.039, 0.041},
		{`sum(rate(catalog_reads_by_rank_total{bucket=~"top-.*"}[2m])) / sum(rate(catalog_reads_by_rank_total[2m]))`, 0.619, 0.621},
		{`sum(rate(catalog_origin_admitted_total{partition="catalog"}[2m]))`, 3050, 3200},
		{`sum(rate(catalog_origin_completed_total{partition="catalog"}[2m]))`, 3050, 3130},
		{`histogram_quantile(0.99, sum by (le) (rate(catalog_refresh_leader_seconds_bucket[2m])))`, 0.85, 1},
		{`sum(rate(catalog_coalesced_followers_total{result="timeout"}[2m])) / sum(rate(catalog_coalesced_followers_total[2m]))`, 0.05, 0.12},
		{`sum(rate(catalog_reads_total{outcome="declared_stale"}[2m])) / sum(rate(catalog_reads_total[2m]))`, 0.003, 0.005},
		{`histogram_quantile(0.99, sum by (le) (rate(catalog_origin_service_seconds_bucket{class="detail"}[2m])))`, 0.18, 0.2},
	}
	scenario, err := openScenario("drill")
	if err != nil {
		t.Fatal(err)
	}
	until := scenario.Start + 2*time.Minute
	l, err := lab.New(lab.Options{Seed: scenario.Seed, Scenario: scenario, From: until, Start: dayOfTrials.Add(until)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: l.Transport()}, l.Clock())
	if err != nil {
		t.Fatal(err)
	}
	doc := bundled(t, scenario.Runbook)
	rules, err := openRules(doc, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := poller.Poll(context.Background(), rules.Document(), diagnosis.Asks(rules), 0)
	report := diagnosis.Of(rules, seen, doc.Defaults.StaleAfter)
	if hold := report.Pictures[0]; hold.Verdict != diagnosis.Likely || len(hold.Against) > 0 {
		t.Errorf("the picture is %+v", hold)
	}
	for _, figure := range near {
		v := figureOf(t, l, figure.query)
		t.Logf("%s is %v", figure.query, v)
		if v < figure.least || v > figure.atMost {
			t.Errorf("%s is %v, not between %v and %v", figure.query, v, figure.least, figure.atMost)
		}
	}
}

// figureOf is the value of a query with one series.
func figureOf(t *testing.T, l *lab.Lab, query string) float64 {
	t.Helper()
	found, err := (&http.Client{Transport: l.Transport()}).PostForm(labURL+"/api/v1/query", url.Values{"query": {query}})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Body.Close()
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(found.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Result) != 1 {
		t.Fatalf("%s has %d series", query, len(answer.Data.Result))
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

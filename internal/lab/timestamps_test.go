package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"pgregory.net/rapid"
)

// What is answered without the engine is what the engine answers, to the byte.
func TestAgesAreTheEngines(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: launchLapses + 10*time.Second, ScrapeEvery: 500 * time.Millisecond})
	b.forward(time.Second)
	queries := parser.NewParser(parser.Options{})
	ages := &agesOf{store: b.world.store, parser: queries, known: map[string][]ageQuestion{}}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: lookback, Parser: queries})
	selectors := []string{
		`up`, `up{job="catalog"}`, `up{instance=~"catalog-00."}`, `catalog_retry_waiters`, `catalog_reads_total{outcome!="fresh"}`,
		`nothing`, `up{job="other"}`, `catalog_origin_attempts_total{source="live"}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		for i := range rapid.IntRange(1, 5).Draw(t, "parts") {
			parts = append(parts, fmt.Sprintf(`label_replace(%s(timestamp(%s)), "tag", "%d", "", "")`,
				rapid.SampledFrom([]string{"min", "max"}).Draw(t, "of"), rapid.SampledFrom(selectors).Draw(t, "selector"), i))
		}
		query := strings.Join(parts, " or ")
		ago := time.Duration(rapid.IntRange(-1000, 900_000).Draw(t, "ago")) * time.Millisecond
		at := b.Clock().Now().Add(-ago)
		ours, ok := ages.answer(query, at)
		if !ok {
			t.Fatalf("%s goes to the engine", query)
		}
		q, err := engine.NewInstantQuery(context.Background(), b.world.store, nil, query, at)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		theirs, err := q.Exec(context.Background()).Vector()
		if err != nil {
			t.Fatal(err)
		}
		if a, e := string(appendVector(nil, ours)), string(appendVector(nil, theirs)); a != e {
			t.Fatalf("%s at %s:\n%s\nthe engine: %s", query, at, a, e)
		}
	})
}

// Whatever has another shape goes to the engine.
func TestOtherShapesGoToTheEngine(t *testing.T) {
	ages := &agesOf{parser: parser.NewParser(parser.Options{}), known: map[string][]ageQuestion{}}
	for _, query := range []string{
		`min(timestamp(up))`, `up`, `1`, `min(`,
		`label_replace(avg(timestamp(up)), "tag", "0", "", "")`,
		`label_replace(min by (job) (timestamp(up)), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up offset 5s)), "tag", "0", "", "")`,
		`label_replace(min(timestamp({job="x"})), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up)), "tag", "$1", "", "")`,
		`label_replace(min(timestamp(up)), "tag", "0", "job", "")`,
		`label_replace(min(timestamp(up)), "tag", "0", "", "x")`,
		`label_replace(min(timestamp(up)), "tag", "0", "", "") or up`,
		`label_replace(min(timestamp(up)), "tag", "0", "", "") and label_replace(min(timestamp(up)), "tag", "1", "", "")`,
		`label_replace(min(timestamp(up)), "tag", "0", "", "") or label_replace(max(timestamp(up)), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up)), "tag", "0", "", "") or on (tag) label_replace(max(timestamp(up)), "tag", "1", "", "")`,
	} {
		if questions := ages.questions(query); questions != nil {
			t.Errorf("%s is answered without the engine: %v", query, questions)
		}
	}
}

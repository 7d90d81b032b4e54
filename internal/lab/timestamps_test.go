//go:build !race

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

// What is answered without the engine, in whole or in part, is what the engine answers, to
// the byte.
func TestAgesAreTheEngines(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: launchLapses + 10*time.Second, ScrapeEvery: 500 * time.Millisecond})
	b.forward(time.Second)
	queries := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: lookback, Parser: queries})
	a := &api{engine: engine, store: b.world.store, ages: &agesOf{store: b.world.store, parser: queries, known: map[string]*questions{}}}
	selectors := []string{
		`up`, `up{job="catalog"}`, `up{instance=~"catalog-00."}`, `catalog_retry_waiters`, `catalog_reads_total{outcome!="fresh"}`,
		`nothing`, `up{job="other"}`, `catalog_origin_attempts_total{source="live"}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		for i := range rapid.IntRange(1, 5).Draw(t, "parts") {
			asked := rapid.SampledFrom([]string{
				"min(timestamp(%s))", "max(timestamp(%s))", "min(timestamp(%s))", "max(timestamp(%s))",
				"count(%[1]s)", "count(%[1]s >= 1)", "count((%[1]s) >= 2)", "min(timestamp(%[1]s) and (%[1]s >= 1))",
				"max(timestamp(%[1]s) and %[1]s >= 1)", "count(%[1]s > 0)", "count(%[1]s >= bool 1)", "min(timestamp(%[1]s) and (up >= 1))", "min(timestamp(%s offset 500ms))", "%[1]s", "rate(%s[5s])",
			}).Draw(t, "asked")
			if i == 0 {
				asked = "min(timestamp(%s))"
			}
			parts = append(parts, fmt.Sprintf(`label_replace(%s, "tag", "%d", "", "")`,
				fmt.Sprintf(asked, rapid.SampledFrom(selectors).Draw(t, "selector")), i))
		}
		query := strings.Join(parts, " or ")
		ago := time.Duration(rapid.IntRange(-1000, 900_000).Draw(t, "ago")) * time.Millisecond
		at := b.Clock().Now().Add(-ago)
		if a.ages.questions(query) == nil {
			t.Fatalf("%s goes to the engine as a whole", query)
		}
		ours, failure := a.evaluate(context.Background(), query, at)
		if failure != nil {
			t.Fatal(failure.err)
		}
		q, err := engine.NewInstantQuery(context.Background(), b.world.store, nil, query, at)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		result := q.Exec(context.Background())
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		theirs := &evaluated{value: result.Value, warnings: result.Warnings}
		if a, e := string(ours.append(nil, query)), string(theirs.append(nil, query)); a != e {
			t.Fatalf("%s at %s:\n%s\nthe engine: %s", query, at, a, e)
		}
	})
}

// Whatever has another shape goes to the engine.
func TestOtherShapesGoToTheEngine(t *testing.T) {
	ages := &agesOf{parser: parser.NewParser(parser.Options{}), known: map[string]*questions{}}
	for _, query := range []string{
		`min(timestamp(up))`, `up`, `1`, `min(`,
		`label_replace(avg(timestamp(up)), "tag", "0", "", "")`,
		`label_replace(min by (job) (timestamp(up)), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up offset 5s)), "tag", "0", "", "")`,
		`label_replace(min(timestamp({job="x"})), "tag", "0", "", "")`,
		`label_replace(count by (job) (up), "tag", "0", "", "")`,
		`label_replace(count(up > 0), "tag", "0", "", "")`,
		`label_replace(count(up >= bool 1), "tag", "0", "", "")`,
		`label_replace(count(up offset 5s), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up) and (rewarm_controls_version >= 1)), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up) and on (job) (up >= 1)), "tag", "0", "", "")`,
		`label_replace(min(timestamp(up) or (up >= 1)), "tag", "0", "", "")`,
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

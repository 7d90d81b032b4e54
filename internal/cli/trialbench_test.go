package cli

import (
	"context"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

// BenchmarkTrial walks the case study with gates and a scrape every virtual second, and
// tells how many seconds of it pass in one.
func BenchmarkTrial(b *testing.B) {
	source, err := templates.Files.ReadFile("runbooks/hot-key-collapse.yaml")
	if err != nil {
		b.Fatal(err)
	}
	doc, _ := runbook.Parse("hot-key-collapse.yaml", source, nil)
	story := lab.CaseStudy()
	var simulated time.Duration
	for b.Loop() {
		b.StopTimer()
		l, err := lab.New(lab.Options{Seed: 1, Scenario: &story, Start: dayOfTrials.Add(story.Start)})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		tr := &trial{doc: doc, lab: l, began: l.Clock().Now(), longest: time.Hour}
		if _, err := tr.walked(context.Background(), true); err != nil {
			b.Fatal(err)
		}
		simulated += tr.elapsed()
		l.Close()
	}
	b.ReportMetric(simulated.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}

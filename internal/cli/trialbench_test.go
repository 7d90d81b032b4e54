//go:build unix

package cli

import (
	"context"
	"syscall"
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
	var simulated, worked time.Duration
	for b.Loop() {
		b.StopTimer()
		l, err := lab.New(lab.Options{Seed: 1, Scenario: &story, Start: dayOfTrials.Add(story.Start)})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		worked -= processorTime(b)
		tr := &trial{doc: doc, lab: l, began: l.Clock().Now(), longest: time.Hour}
		if _, err := tr.walked(context.Background(), true); err != nil {
			b.Fatal(err)
		}
		worked += processorTime(b)
		simulated += tr.elapsed()
		l.Close()
	}
	b.ReportMetric(simulated.Seconds()/worked.Seconds(), "x-processor-time")
	b.ReportMetric(simulated.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}

// processorTime is what this process has taken of the processors.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

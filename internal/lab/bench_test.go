package lab

import (
	"testing"
	"time"
)

// BenchmarkModel is one virtual second of the model alone, in the collapse.
func BenchmarkModel(b *testing.B) {
	w, err := newWorld(Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range ticksPerSecond {
			w.model.step(w.source)
		}
	}
}

// BenchmarkNew is the case from its beginning to where a lab is handed over.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		l, err := New(Options{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}

// BenchmarkLab is one virtual second of a lab that nobody asks anything.
func BenchmarkLab(b *testing.B) {
	l := newBench(b, Options{Seed: 1})
	for b.Loop() {
		l.forward(time.Second)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
}

// BenchmarkWalk is one virtual second of a lab that is asked what a walk asks:
// twenty probes and the times of the samples behind them.
func BenchmarkWalk(b *testing.B) {
	l := newBench(b, Options{Seed: 1})
	probes := []string{
		offered, goodput, queueAge, retrying, staleShare, refused, errorShare, coverage, readCov,
		`round(max_over_time(sum(rate(catalog_origin_admitted_total{partition="catalog"}[4s]))[3s:1s]), 100)`,
		`sum(increase(catalog_stale_violations_total[5s]))`,
		`sum(catalog_refresh_leaders)`,
		`min(rate(catalog_origin_completed_total{partition!="catalog"}[5s]) / catalog_origin_reserved_rate{partition!="catalog"})`,
		`max(catalog_cell_memory_used_bytes / catalog_cell_memory_limit_bytes)`,
		`count(up{job="catalog"} == 1)`,
		`sum(rate(catalog_origin_attempts_total{source="live"}[5s])) + sum(rate(catalog_cell_reads_total{cell="cell-c"}[5s])) * 15 / 100 * (1 - scalar(catalog_warm_read_coverage_ratio{cell="cell-c"}))`,
		`max(catalog_origin_queue_depth)`, `sum(catalog_origin_connections)`, `sum(rate(catalog_reads_total[5s]))`, hitRatio,
	}
	times := []string{
		`min(timestamp(catalog_origin_attempts_total{source="live"}))`, `min(timestamp(catalog_reads_total))`,
		`min(timestamp(catalog_origin_queue_age_seconds))`, `min(timestamp(up{job="catalog"}))`,
	}
	for b.Loop() {
		l.forward(time.Second)
		for _, q := range probes {
			l.ask(q)
		}
		for i := range probes {
			l.ask(times[i%len(times)])
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
}

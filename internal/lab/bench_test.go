//go:build !race && unix

package lab

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has taken of the processors.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

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

// BenchmarkIncident is twelve minutes of the case from the loss of the cell on,
// with a scrape a second and nobody who asks.
func BenchmarkIncident(b *testing.B) {
	const length = 12 * time.Minute
	var worked time.Duration
	for b.Loop() {
		b.StopTimer()
		w, err := newWorld(Options{Seed: 1, From: cellLost, begin: cellLost - 20*time.Second})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		worked -= processorTime(b)
		for range ticks(length) {
			w.tick()
		}
		worked += processorTime(b)
	}
	b.ReportMetric(float64(b.N)*length.Seconds()/worked.Seconds(), "x-processor-time")
	b.ReportMetric(float64(b.N)*length.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}

// Twice the time does not need more memory.
func TestMemoryIsFlat(t *testing.T) {
	w, err := newWorld(Options{Seed: 1, From: cellLost, begin: cellLost - 20*time.Second})
	if err != nil {
		t.Fatal(err)
	}
	heapAfter := func(d time.Duration) uint64 {
		for range ticks(d) {
			w.tick()
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	first := heapAfter(15 * time.Minute)
	if second := heapAfter(30 * time.Minute); second > first+1<<20 {
		t.Errorf("%d bytes after 15 minutes, %d after 45", first, second)
	}
	runtime.KeepAlive(w)
}

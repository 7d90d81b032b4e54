package evidence

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// longRun writes the log of a run that was watched for so many polls, a record each, of the size that those of a
// walk on the lab have, and gives its material.
func longRun(t testing.TB, polls, series int) Material {
	t.Helper()
	clock := &stopwatch{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	log, err := audit.Create(filepath.Join(t.TempDir(), "audit.jsonl"), clock, audit.Options{Run: smallID})
	if err != nil {
		t.Fatal(err)
	}
	records := smallRecords(t, false)
	doc, problems := runbook.Parse("origin-fault.yaml", records[0].body.(*steps.Begun).Runbook, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, r := range records {
		if _, err := log.Append("ana", r.kind, r.body); err != nil {
			t.Fatal(err)
		}
	}
	for n := range polls {
		if _, err := log.Append("ana", steps.KindObserved, pollOf(doc, clock.now, n, series)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := Read(smallID, []string{log.Path()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func pollOf(doc *runbook.Document, at time.Time, n, series int) *steps.Observed {
	body := &steps.Observed{At: at}
	for i := range doc.Probes {
		a := probes.Answer{Ask: probes.Ask{Probe: doc.Probes[i].Name}, Query: doc.Probes[i].Query, At: at,
			WindowStart: at.Add(-5 * time.Second), Stalest: at, Newest: []time.Time{at}}
		var readings []probes.Reading
		for cell := range series {
			readings = append(readings, probes.NewReading(fmt.Sprintf(`{cell="cell-%d"}`, cell), float64(n%97+cell)/8))
		}
		a.SetReadings(readings)
		body.Answers = append(body.Answers, a)
	}
	return body
}

const manyPolls = 100_000

// BenchmarkLongRun holds the export and the check of a run of 100,000 records against hashing and zipping the
// same bytes, stored as a bundle has them (x-bare) and deflated (x-deflated).
func BenchmarkLongRun(b *testing.B) {
	m := longRun(b, manyPolls, 4)
	bundle, err := os.Create(filepath.Join(b.TempDir(), "bundle.zip"))
	if err != nil {
		b.Fatal(err)
	}
	defer bundle.Close()
	anew := func(write func() error) func() error {
		return func() error {
			_, err := bundle.Seek(0, io.SeekStart)
			return errors.Join(err, bundle.Truncate(0), write())
		}
	}
	export := anew(func() error { return Build(bundle, m, "v1", nil) })
	verify := func() error {
		info, err := bundle.Stat()
		if err == nil {
			_, err = Verify(bundle, info.Size(), Check{Version: "v1"})
		}
		return err
	}
	bare := timed(b, anew(func() error { return bareOf(bundle, m) }))
	deflated := timed(b, anew(func() error { return deflatedOf(bundle, m) }))
	for _, c := range []struct {
		name string
		work func() error
	}{{"export", export}, {"verify", verify}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(m.Segments[0].Size())
			peak := uint64(0)
			for b.Loop() {
				peak = max(peak, peakHeap(func() {
					if err := c.work(); err != nil {
						b.Fatal(err)
					}
				}))
			}
			took := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(took/bare.Seconds(), "x-bare")
			b.ReportMetric(took/deflated.Seconds(), "x-deflated")
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

func timed(b *testing.B, work func() error) time.Duration {
	b.Helper()
	begun := time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// bareOf hashes a log and packs it.
func bareOf(to io.Writer, m Material) error {
	if _, _, err := sumOf(m.Segments[0]); err != nil {
		return err
	}
	return pack(to, files{segmentName(1): m.Segments[0]})
}

// deflatedOf hashes a log and packs it as most programs would.
func deflatedOf(to io.Writer, m Material) error {
	if _, _, err := sumOf(m.Segments[0]); err != nil {
		return err
	}
	w := zip.NewWriter(to)
	entry, err := w.Create(segmentName(1))
	if err != nil {
		return err
	}
	if _, err := pour(entry, m.Segments[0]); err != nil {
		return err
	}
	return w.Close()
}

// peakHeap is the most that was in use while something worked.
func peakHeap(work func()) uint64 {
	var peak atomic.Uint64
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	work()
	close(done)
	<-stopped
	return peak.Load()
}

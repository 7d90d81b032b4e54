package steps

import (
	"testing"
	"time"
)

// BenchmarkIncident walks the bundled runbook through a whole incident; virtual seconds
// a second is how much faster than real time the machine could go with a world that
// costs nothing.
func BenchmarkIncident(b *testing.B) {
	doc := bundled(b)
	var lasted time.Duration
	for b.Loop() {
		w := collapsed(b, doc)
		w.quiet = true
		if err := w.begin(""); err != nil {
			b.Fatal(err)
		}
		w.mustClose(b)
		lasted += w.clock.now.Sub(start)
	}
	b.ReportMetric(lasted.Seconds()/b.Elapsed().Seconds(), "virtual-s/s")
}

// BenchmarkNext decides in the middle of an incident, when there is nothing to do.
func BenchmarkNext(b *testing.B) {
	w := collapsed(b, bundled(b))
	w.quiet = true
	if err := w.begin(""); err != nil {
		b.Fatal(err)
	}
	if err := w.walk(30 * time.Second); err != nil {
		b.Fatal(err)
	}
	s, now := w.machine.State(), w.clock.now.Add(100*time.Millisecond)
	b.ReportAllocs()
	for b.Loop() {
		Next(s, now)
	}
}

// BenchmarkFold folds the records of a whole incident, as a resume does.
func BenchmarkFold(b *testing.B) {
	w := collapsed(b, bundled(b))
	w.quiet = true
	if err := w.begin(""); err != nil {
		b.Fatal(err)
	}
	w.mustClose(b)
	b.ReportMetric(float64(len(w.journal.records)), "records")
	for b.Loop() {
		if _, err := Fold(w.journal.all()); err != nil {
			b.Fatal(err)
		}
	}
}

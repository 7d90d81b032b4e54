package gameday

import (
	"os"
	"testing"
)

// BenchmarkPlay plays the bundled cell loss, and tells how many seconds of it pass in one.
func BenchmarkPlay(b *testing.B) {
	source, err := os.ReadFile("../../templates/gamedays/cell-loss.yaml")
	if err != nil {
		b.Fatal(err)
	}
	day, err := Parse("cell-loss.yaml", source, bundled{})
	if err != nil {
		b.Fatal(err)
	}
	played := 0.0
	for seed := uint64(1); b.Loop(); seed++ {
		r, err := day.Play(b.Context(), Options{Seed: seed})
		if err != nil {
			b.Fatal(err)
		}
		played += r.Lasted
	}
	b.ReportMetric(played/b.Elapsed().Seconds(), "x-real-time")
}

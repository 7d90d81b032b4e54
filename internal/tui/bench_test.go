package tui

import "testing"

// BenchmarkFrame draws a frame of a walk with its whole past at 160x50.
func BenchmarkFrame(b *testing.B) {
	m := screenOf(b, upTo(walked(b), 301), 160, 50, Options{})
	b.ReportAllocs()
	for b.Loop() {
		m.frame()
	}
}

//go:build !race

package evidence

import (
	"runtime"
	"testing"
)

// TestMemoryOfALongRun: what the figures of a run hold does not grow with its length.
func TestMemoryOfALongRun(t *testing.T) {
	live := func(polls int) uint64 {
		m := longRun(t, polls, 1)
		figures, err := FiguresOf(m.Segments)
		if err != nil {
			t.Fatal(err)
		}
		var after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n := len(figures.Probes[0].Points); n > mostPoints {
			t.Errorf("%d polls gave %d points", polls, n)
		}
		return after.HeapAlloc
	}
	short, long := live(mostPoints), live(3*mostPoints)
	if long > short+short/4 {
		t.Errorf("%d bytes are held of %d polls, %d of three times as many", short, mostPoints, long)
	}
	t.Logf("%d and %d bytes", short, long)
}

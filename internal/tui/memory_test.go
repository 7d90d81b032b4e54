//go:build !race

package tui

import (
	"runtime"
	"testing"
)

// TestAWatchKeepsNoRecords: what a watch holds does not grow with the log, also when somebody has gone back in time.
func TestAWatchKeepsNoRecords(t *testing.T) {
	const records = 4000
	log := waiting(t)
	m := longWatch(t, records)
	m.standAt(records / 2)
	before := heap()
	m.standAt(m.came)
	feed(t, m, log, 2*records)
	m.standAt(records)
	grown, size := heap()-before, records*len(log(records).Record.Body)
	if grown > size/5 {
		t.Errorf("%d more records of %d KB in all take %d KB", records, size>>10, grown>>10)
	}
	runtime.KeepAlive(m)
}

// heap is how many bytes are in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

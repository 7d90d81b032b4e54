package audit

import (
	"bufio"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// observation is about what one poll of a gate leaves in the log.
var observation = remark{strings.Repeat("origin attempts 9100 > limit 3200; ", 20)}

// BenchmarkAppend is one observation; the aim is under 50 µs.
func BenchmarkAppend(b *testing.B) {
	l := mustCreate(b, logPath(b), Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append("rewarm", "observed", observation); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit is one intent against a bare write and fsync of the same bytes to
// the same disk, turn about in one run; the aim is x-bare of at most 1.2.
func BenchmarkCommit(b *testing.B) {
	path := logPath(b)
	l := mustCreate(b, path, Options{})
	line := append(mustCommit(b, l, "begun", observation).Line(), '\n')
	bare, err := os.OpenFile(filepath.Join(filepath.Dir(path), "bare"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := l.Commit("rewarm", "intended", observation); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := bare.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := bare.Sync(); err != nil {
			b.Fatal(err)
		}
		ours += middle.Sub(start)
		theirs += time.Since(middle)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-bare")
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/commit")
}

// BenchmarkVerify checks 100,000 records against plain SHA-256 over the same bytes,
// turn about in one run; the aim is x-sha256 of at most 2, and memory that does not
// grow: heap-KiB is what one check allocates in all.
func BenchmarkVerify(b *testing.B) {
	path := logPath(b)
	l := mustCreate(b, path, Options{})
	for range 100_000 {
		if _, err := l.Append("rewarm", "observed", observation); err != nil {
			b.Fatal(err)
		}
	}
	mustClose(b, l)
	plain(b, path) // into the page cache
	var ours, theirs time.Duration
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		start := time.Now()
		if r, err := verify(path); err != nil || r.Head.Seq != 100_000 {
			b.Fatal(r, err)
		}
		ours += time.Since(start)
	}
	runtime.ReadMemStats(&after)
	for range b.N {
		start := time.Now()
		plain(b, path)
		theirs += time.Since(start)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportMetric(float64(ours)/float64(theirs), "x-sha256")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1024/float64(b.N), "heap-KiB")
}

func plain(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(sha256.New(), bufio.NewReaderSize(f, 256<<10)); err != nil {
		b.Fatal(err)
	}
}

// Checking a log takes the same memory however long the log is.
func TestVerifyMemoryIsFlat(t *testing.T) {
	allocated := func(n int) uint64 {
		path, _ := writeLog(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		mustVerify(t, path)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	small, large := allocated(10), allocated(10_000)
	if large > small+small/4 {
		t.Errorf("10 records take %d bytes, 10,000 take %d", small, large)
	}
}

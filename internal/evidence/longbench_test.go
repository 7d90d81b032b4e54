//go:build unix

package evidence

import (
	"archive/zip"
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const manyPolls = 100_000

// BenchmarkLongRun holds the export and the check of a run of 100,000 records, and both together, against what no way
// around them saves: hashing the log and storing it in a zip; reading it out of the zip, hashing it, and hashing each
// of its lines. Each is the least of several times, in processor time and, in x-real-time, by the clock: there rewarm
// has every core, and what it is held against has one. x-deflated is both together over the same with the log deflated,
// as most programs would.
func BenchmarkLongRun(b *testing.B) {
	m := longRun(b, manyPolls, 4)
	bundle, err := os.Create(filepath.Join(b.TempDir(), "bundle.zip"))
	if err != nil {
		b.Fatal(err)
	}
	defer bundle.Close()
	export := func() error { return Build(bundle, m, "v1", nil) }
	verify := func() error {
		return sized(bundle, func(size int64) error {
			_, err := Verify(bundle, size, Check{Version: "v1"})
			return err
		})
	}
	log := files{segmentName(1): m.Segments[0]}
	deflated := spentOn(b, anew(bundle, func() error { return errors.Join(hashed(log), deflate(bundle, log)) })).
		and(spentOn(b, func() error { return takenOut(bundle) }))
	stored := bareOn(b, anew(bundle, func() error { return errors.Join(hashed(log), pack(bundle, log)) }))
	unstored := bareOn(b, func() error { return takenOut(bundle) })
	defer MakeRoom()()
	var both spent
	for _, c := range []struct {
		name string
		work func() error
		bare spent
	}{{"export", anew(bundle, export), stored}, {"verify", verify, unstored}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(m.Segments[0].Size())
			peak, times := uint64(0), []spent{}
			for b.Loop() {
				peak = max(peak, peakHeap(func() { times = append(times, spentOn(b, c.work)) }))
			}
			took := least(times...)
			took.report(b, "", c.bare)
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
			if both = both.and(took); c.name == "verify" {
				both.report(b, "together-", stored.and(unstored))
				b.ReportMetric(both.processor.Seconds()/deflated.processor.Seconds(), "together-x-deflated")
			}
		})
	}
}

// spent is what some work took.
type spent struct{ processor, real time.Duration }

func (s spent) and(o spent) spent { return spent{s.processor + o.processor, s.real + o.real} }

func (s spent) report(b *testing.B, what string, bare spent) {
	b.ReportMetric(s.processor.Seconds()/bare.processor.Seconds(), what+"x-processor-time")
	b.ReportMetric(s.real.Seconds()/bare.real.Seconds(), what+"x-real-time")
}

func spentOn(b *testing.B, work func() error) spent {
	b.Helper()
	processor, begun := processorTime(b), time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	return spent{processorTime(b) - processor, time.Since(begun)}
}

// bareOn is the least of three times: the first makes room on the disk and in the caches.
func bareOn(b *testing.B, work func() error) spent {
	b.Helper()
	return least(spentOn(b, work), spentOn(b, work), spentOn(b, work))
}

// least is the time that others have disturbed least.
func least(times ...spent) spent {
	return slices.MinFunc(times, func(x, y spent) int { return cmp.Compare(x.processor, y.processor) })
}

// processorTime is what this process has taken of the processors.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// anew empties a file before it is written.
func anew(file *os.File, write func() error) func() error {
	return func() error {
		_, err := file.Seek(0, io.SeekStart)
		return errors.Join(err, file.Truncate(0), write())
	}
}

func sized(file *os.File, read func(size int64) error) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return read(info.Size())
}

func hashed(list files) error {
	for _, content := range list {
		if _, _, err := sumOf(content); err != nil {
			return err
		}
	}
	return nil
}

// takenOut reads a zip, hashes its files and hashes each of their lines.
func takenOut(bundle *os.File) error {
	return sized(bundle, func(size int64) error {
		list, err := unpack(bundle, size)
		if err != nil {
			return err
		}
		bare := files{}
		for name, content := range list {
			bare[name] = content.(*summed).Source
			if err := hashLines(bare[name]); err != nil {
				return err
			}
		}
		return hashed(bare)
	})
}

func hashLines(content Source) error {
	from, err := content.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 256<<10), longestLine)
	for lines.Scan() {
		sha256.Sum256(lines.Bytes())
	}
	return lines.Err()
}

// deflate packs files as most programs would.
func deflate(to io.Writer, list files) error {
	w := zip.NewWriter(to)
	for name, content := range list {
		entry, err := w.Create(name)
		if err != nil {
			return err
		}
		if _, err := pour(entry, content); err != nil {
			return err
		}
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

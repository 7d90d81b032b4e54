package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// BenchmarkDemo walks the whole incident on the lab as fast as it goes, and tells how
// many seconds of the incident pass in one second.
func BenchmarkDemo(b *testing.B) {
	var simulated time.Duration
	for b.Loop() {
		state := b.TempDir()
		if code := Main([]string{"demo", "--plain", "--approve", "auto", "--speed", "max", "--state-dir", state}, bytes.NewReader(nil), io.Discard, io.Discard); code != 0 {
			b.Fatalf("the demo ended with %d", code)
		}
		simulated += lengthOfRun(b, state)
	}
	b.ReportMetric(simulated.Seconds()/b.Elapsed().Seconds(), "x-real-time")
}

// lengthOfRun is the time from the first record of the only run to its last.
func lengthOfRun(b *testing.B, state string) time.Duration {
	logs, err := filepath.Glob(filepath.Join(state, "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) != 1 {
		b.Fatalf("expected one log, found %q (%v)", logs, err)
	}
	var first, last time.Time
	for record, err := range audit.Records(logs[0]) {
		if err != nil {
			b.Fatal(err)
		}
		if record.Kind == steps.KindBegun {
			first = record.At
		}
		last = record.At
	}
	return last.Sub(first)
}

// BenchmarkVersion starts the program for its version, beside a cobra program that does
// nothing, and tells how many times as long it takes.
func BenchmarkVersion(b *testing.B) {
	dir := b.TempDir()
	rewarm, bare := filepath.Join(dir, "rewarm"), filepath.Join(dir, "bare")
	build(b, rewarm, "github.com/rewarm/rewarm/cmd/rewarm")
	build(b, bare, "./testdata/bare")
	size, err := os.Stat(rewarm)
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs time.Duration
	for b.Loop() {
		ours += timeOf(b, rewarm)
		theirs += timeOf(b, bare)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-bare")
	b.ReportMetric(float64(size.Size())/1e6, "MB-stripped")
}

func build(b *testing.B, binary, pkg string) {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", pkg, err, out)
	}
}

func timeOf(b *testing.B, binary string) time.Duration {
	start := time.Now()
	if out, err := exec.Command(binary, "version").CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", binary, err, out)
	}
	return time.Since(start)
}

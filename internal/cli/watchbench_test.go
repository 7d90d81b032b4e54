package cli

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/largerun"
	"github.com/rewarm/rewarm/steps"
)

// BenchmarkFirstFrame opens the console of a watch on a run of 60 steps, 40 probes and 10,000 records, and tells how long it takes to the first
// frame with a state of the run and to the one with its last record, over reading and hashing the same log.
func BenchmarkFirstFrame(b *testing.B) {
	state := largeLog(b, 10_000)
	var first, whole, hashing time.Duration
	for b.Loop() {
		f, w := watchOnce(b, state)
		first, whole = first+f, whole+w
		hashing += hashOnce(b, state)
	}
	b.ReportMetric(float64(first)/float64(hashing), "first/hash")
	b.ReportMetric(float64(whole)/float64(hashing), "whole/hash")
	b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms-first")
}

// lastWords is what the last record of a long run says.
const lastWords = "nothing is behind this"

// watchOnce watches the only run of a state directory until its last record is on the screen.
func watchOnce(b *testing.B, state string) (first, whole time.Duration) {
	keys, nobody := io.Pipe()
	defer nobody.Close()
	eye := &eye{waits: map[string]chan struct{}{" on catalog": make(chan struct{}), lastWords: make(chan struct{})}}
	start := time.Now()
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard, thisMachine())
	p.settings.stateDir = state
	log, from, err := p.watched(context.Background(), "last", "")
	if err != nil {
		b.Fatal(err)
	}
	s := p.newWatchScreen(keys, eye, log, from)
	ended := make(chan error, 1)
	go func() { ended <- p.watchOnScreen(context.Background(), log.folder, from, s, nil, nil) }()
	<-eye.waits[" on catalog"]
	first = time.Since(start)
	<-eye.waits[lastWords]
	whole = time.Since(start)
	s.interrupt()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	return first, whole
}

// eye is a terminal that tells when a text has been written to it.
type eye struct {
	mu    sync.Mutex
	waits map[string]chan struct{}
	seen  map[string]bool
}

func (e *eye) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	for text, wait := range e.waits {
		if !e.seen[text] && strings.Contains(string(p), text) {
			e.seen[text] = true
			close(wait)
		}
	}
	return len(p), nil
}

// hashOnce reads and hashes the log.
func hashOnce(b *testing.B, state string) time.Duration {
	start := time.Now()
	log, err := os.Open(onlyLog(b, state))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	if _, err := io.Copy(sha256.New(), log); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func onlyLog(b *testing.B, state string) string {
	logs, err := filepath.Glob(filepath.Join(state, "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) != 1 {
		b.Fatalf("expected one log, found %q (%v)", logs, err)
	}
	return logs[0]
}

// largeLog is a state directory with the log of a large run that waits for a word.
func largeLog(b *testing.B, records int) (state string) {
	state = b.TempDir()
	walked := largerun.Walk(b, records-1)
	clock := &later{walked[0].At}
	log, err := audit.Create(filepath.Join(state, "runs", largerun.ID, "audit.jsonl"), clock, audit.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for _, r := range walked {
		clock.now = r.At
		if _, err := log.Append(r.Actor, r.Kind, r.Body); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := log.Append("rewarm", steps.KindNoted, &steps.Noted{Text: lastWords}); err != nil {
		b.Fatal(err)
	}
	return state
}

// later is a clock that is set.
type later struct{ now time.Time }

func (l *later) Now() time.Time { return l.now }

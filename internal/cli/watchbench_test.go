package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// BenchmarkFirstFrame opens the console of a watch on a run of 10,000 records, and tells how long it takes to the first
// frame with a state of the run and to the one with its last record, over reading and hashing the same log.
func BenchmarkFirstFrame(b *testing.B) {
	state := longRun(b, 10_000)
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
	s := p.newWatchScreen(keys, eye, log.folder.run, from)
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

// longRun walks the lab up to its last brake, and lets the run wait there for so many records.
func longRun(b *testing.B, records int) (state string) {
	state = b.TempDir()
	if code := Main([]string{"demo", "--plain", "--approve", "auto", "--speed", "max", "--through", "rank-warmth", "--state-dir", state}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
		b.Fatalf("the demo ended with %d", code)
	}
	path := onlyLog(b, state)
	begun := upToLastPoll(b, path)
	if err := os.Remove(path); err != nil {
		b.Fatal(err)
	}
	clock := &later{begun[0].At}
	log, err := audit.Create(path, clock, audit.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	add := func(at time.Time, actor, kind string, body any) {
		clock.now = at
		if _, err := log.Append(actor, kind, body); err != nil {
			b.Fatal(err)
		}
	}
	for _, r := range begun {
		add(r.At, r.Actor, r.Kind, r.Body)
	}
	last := begun[len(begun)-1]
	for n := len(begun); n < records-1; n++ {
		waited := time.Duration(n-len(begun)+1) * time.Second
		add(last.At.Add(waited), last.Actor, last.Kind, after(b, last.Body, waited))
	}
	add(clock.now, "rewarm", steps.KindNoted, &steps.Noted{Text: lastWords})
	return state
}

// upToLastPoll are the records of a log as far as it observes.
func upToLastPoll(b *testing.B, path string) []audit.Record {
	var all []audit.Record
	polls := 0
	for record, err := range audit.Records(path) {
		if err != nil {
			b.Fatal(err)
		}
		if all = append(all, record); record.Kind == steps.KindObserved {
			polls = len(all)
		}
	}
	return all[:polls]
}

// later is a clock that is set.
type later struct{ now time.Time }

func (l *later) Now() time.Time { return l.now }

// after is an observation that was made so much later.
func after(b *testing.B, body json.RawMessage, d time.Duration) any {
	decoded, err := steps.DecodeBody(steps.KindObserved, body)
	if err != nil {
		b.Fatal(err)
	}
	seen := decoded.(*steps.Observed)
	seen.At = seen.At.Add(d)
	for i := range seen.Answers {
		a := &seen.Answers[i]
		for _, at := range []*time.Time{&a.At, &a.WindowStart, &a.Oldest, &a.Stalest} {
			if !at.IsZero() {
				*at = at.Add(d)
			}
		}
		for i := range a.Newest {
			a.Newest[i] = a.Newest[i].Add(d)
		}
	}
	return seen
}

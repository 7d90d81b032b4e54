package cli

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// TestProgress: nothing in the first second, then a line that is written over itself, and nothing at the end.
func TestProgress(t *testing.T) {
	now := &later{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	var screen bytes.Buffer
	g := &progress{to: &screen, width: 60, clock: setClock{now}, what: "checking", unit: "records", total: 4000, began: now.now}
	pass := func(d time.Duration, n float64, want string) {
		t.Helper()
		screen.Reset()
		now.now = now.now.Add(d)
		g.add(n)
		if got := screen.String(); got != want {
			t.Errorf("after %s: %q, not %q", now.now.Sub(g.began), got, want)
		}
	}
	pass(900*time.Millisecond, 900, "")
	pass(100*time.Millisecond, 100, "\rrewarm: checking: 25 %, 1000 records/s, 3s left\x1b[K")
	pass(100*time.Millisecond, 100, "")
	pass(900*time.Millisecond, 2900, "\rrewarm: checking: 100 %, 2000 records/s, 0s left\x1b[K")
	g.what = strings.Repeat("\x1bx", 60)
	pass(time.Second, 0, "\rrewarm: "+strings.Repeat(`\u001bx`, 60)[:51]+"\x1b[K")
	screen.Reset()
	g.end()
	g.end()
	if got := screen.String(); got != "\r\x1b[K" {
		t.Errorf("the end writes %q", got)
	}
}

// TestProgressOfWhatHasNoEnd: where the whole is not known, how long it has taken stands for what is left.
func TestProgressOfWhatHasNoEnd(t *testing.T) {
	g := &progress{what: "left alone", unit: "s", done: 600}
	if got, want := g.text(4*time.Second), "left alone: 150 s/s, 4s so far"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	var nobody *progress
	nobody.add(1)
	nobody.end()
}

// TestProgressOfACapture: each probe that prometheus was asked for counts, whether it has a past or not.
func TestProgressOfACapture(t *testing.T) {
	now := &later{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	var screen bytes.Buffer
	told := &progress{to: &screen, clock: setClock{now}, what: "asking", unit: "probes", total: 4, began: now.now}
	c := &capturer{state: &steps.State{Doc: &runbook.Document{}}, clock: setClock{now}, told: told,
		probes: slowCourses{now, make([]probes.Course, 4)}}
	c.ranges(context.Background())
	if got, want := screen.String(), "\rrewarm: asking: 50 %, 1.0 probes/s, 2s left\x1b[K"; !strings.Contains(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// slowCourses takes a second for each.
type slowCourses struct {
	now     *later
	courses []probes.Course
}

func (s slowCourses) Courses(context.Context, *runbook.Document, time.Time, time.Time, time.Duration) iter.Seq[probes.Course] {
	return func(yield func(probes.Course) bool) {
		for _, course := range s.courses {
			if s.now.now = s.now.now.Add(time.Second); !yield(course) {
				return
			}
		}
	}
}

func (slowCourses) Address() string { return "http://prometheus" }

// setClock is a clock of which only the time is asked.
type setClock struct{ *later }

func (setClock) Wait(context.Context, time.Time) error { panic("nobody waits") }
func (setClock) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	panic("nobody has a deadline")
}

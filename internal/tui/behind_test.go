package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// TestALongLogIsReadWithTheScreenAlive: between two frames only so many records are followed, and until the last that
// was there the screen says that what it shows is not now.
func TestALongLogIsReadWithTheScreenAlive(t *testing.T) {
	events := walked(t)
	for _, size := range [][2]int{{80, 24}, {40, 10}} {
		m := newModel(&Options{Watching: true, Now: events[len(events)-1].Record.At.UTC}, newQueue(), &Story{})
		m.width, m.height = size[0], size[1]
		m.queue.due.Store(events[len(events)-1].Record.Seq)
		for _, e := range events {
			m.queue.put(e)
		}
		frames := 0
		for ; m.at < len(events); frames++ {
			if shown := plain(m.frame()); !strings.Contains(shown, "reading the log: record ") {
				t.Fatalf("after %d of %d records nothing says so:\n%s", m.at, len(events), shown)
			}
			m.take()
		}
		if frames < len(events)/mostRecords {
			t.Errorf("%d records in %d frames", len(events), frames)
		}
		if shown := plain(m.frame()); strings.Contains(shown, "reading the log") || !strings.Contains(shown, "ended: closed") {
			t.Errorf("at the end:\n%s", shown)
		}
	}
}

// TestBeforeTheFirstRecord: an empty screen says what it waits for.
func TestBeforeTheFirstRecord(t *testing.T) {
	for before, want := range map[string]string{"": "waiting for the first record", "the day is being prepared": "the day is being prepared"} {
		m := newModel(&Options{Watching: true, Before: before, Now: func() time.Time { return time.Time{} }}, newQueue(), &Story{})
		m.width, m.height = 80, 24
		if shown := plain(m.frame()); !strings.Contains(shown, want) {
			t.Errorf("%q: %s", before, shown)
		}
	}
}

// TestALogWaitsForTheScreen: who reads a log faster than it is shown waits, until the screen is closed.
func TestALogWaitsForTheScreen(t *testing.T) {
	c, fed := New(Options{}), make(chan struct{})
	go func() {
		for i := range 3 * mostWaiting {
			c.Feed(Event{Record: audit.Record{Seq: uint64(i)}})
		}
		close(fed)
	}()
	shown := 0
	for shown < 2*mostWaiting && c.queue.wait() {
		events, _, _ := c.queue.take(mostRecords)
		shown += len(events)
		c.queue.mu.Lock()
		if waiting := len(c.queue.events); waiting > mostWaiting {
			t.Errorf("%d events wait for the screen", waiting)
		}
		c.queue.mu.Unlock()
	}
	c.Close()
	<-fed
}

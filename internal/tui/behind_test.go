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
		events := c.queue.take(mostRecords).events
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

// TestWhatAWatchHasToKnow stands first at the bottom of every screen, until it is over; a walk that was left says
// itself how it goes on.
func TestWhatAWatchHasToKnow(t *testing.T) {
	events := upTo(walked(t), 122)
	const gone = "nobody walks this run any more\x1b[2J"
	for _, size := range [][2]int{{80, 24}, {40, 10}, {200, 60}} {
		m := screenOf(t, events, size[0], size[1], Options{Watching: true})
		c := &Console{queue: m.queue}
		c.Notice(gone, true)
		m.take()
		shown := plain(m.frame())
		if !strings.Contains(shown, "\nnobody walks this run any more\\u001b[2J\n") || strings.Contains(shown, "may: look") {
			t.Errorf("%v:\n%s", size, shown)
		}
		c.Notice("", false)
		m.take()
		if shown := plain(m.frame()); strings.Contains(shown, "nobody walks") {
			t.Errorf("%v: when somebody walks again:\n%s", size, shown)
		}
	}
	stopped := events[len(events)-1].Record
	stopped.Kind, stopped.Body = "held", []byte(`{"cause":"interrupted","sentence":"interrupted: protections stay","can":"rewarm resume RUN"}`)
	m := screenOf(t, append(events[:len(events):len(events)], Event{Record: stopped}), 80, 24, Options{Watching: true})
	m.queue.notice(&notice{gone, true})
	m.take()
	if shown := plain(m.frame()); strings.Contains(shown, "nobody walks") || !strings.Contains(shown, "\nmay: rewarm resume RUN\n") {
		t.Errorf("stopped:\n%s", shown)
	}
}

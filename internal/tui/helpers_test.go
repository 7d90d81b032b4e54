package tui

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/rewarm/rewarm/audit"
)

// walked is the log of a walk on the lab that a person approved plan by plan, without most of the
// polls in which nothing changed.
func walked(t testing.TB) []Event {
	t.Helper()
	packed, err := os.Open("testdata/walk.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	log, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		record, err := audit.ParseRecord(bytes.Clone(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		event := Event{Record: record}
		if record.Kind != "observed" {
			event.Lines = []Line{{Where: "here/step", Text: record.Kind}}
		}
		events = append(events, event)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return events
}

// upTo are the events with numbers up to seq.
func upTo(events []Event, seq uint64) []Event {
	for i, e := range events {
		if e.Record.Seq > seq {
			return events[:i]
		}
	}
	return events
}

// screenOf is a screen that has followed these events. Its clock stands at the last of them.
func screenOf(t testing.TB, events []Event, width, height int, o Options) *model {
	t.Helper()
	if o.Out == nil {
		o.Out, o.NoColour = io.Discard, true
	}
	o.Now = func() time.Time { return events[len(events)-1].Record.At }
	o.Hand = o.Now
	story := &Story{}
	for _, e := range events {
		if err := story.Follow(e); err != nil {
			t.Fatal(err)
		}
	}
	m := newModel(&o, newQueue(), story)
	m.width, m.height, m.line.Width = width, height, max(width-4, 1)
	return m
}

// plain is a frame without colours and without blanks at the ends of its lines.
func plain(frame []string) string {
	var b strings.Builder
	for _, line := range frame {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return b.String()
}

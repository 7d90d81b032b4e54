package tui

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"os"
	"strconv"
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
	said := saidOf(t)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		record, err := audit.ParseRecord(bytes.Clone(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, Event{Record: record, Lines: said[record.Seq]})
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return events
}

// saidOf is what a console is told of each record of that log; a test of package cli keeps it so.
func saidOf(t testing.TB) map[uint64][]Line {
	t.Helper()
	text, err := os.ReadFile("testdata/walk.lines")
	if err != nil {
		t.Fatal(err)
	}
	said := map[uint64][]Line{}
	for row := range strings.Lines(string(text)) {
		number, list, _ := strings.Cut(row, " ")
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		var lines []Line
		if err := json.Unmarshal([]byte(list), &lines); err != nil {
			t.Fatal(err)
		}
		said[seq] = lines
	}
	return said
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

// again gives the records of events once more, as a log does.
func again(events []Event) func(from, to int) iter.Seq2[audit.Record, error] {
	return func(from, to int) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for i := from; i < to && yield(events[i].Record, nil); i++ {
			}
		}
	}
}

// plain is a frame without colours and without blanks at the ends of its lines.
func plain(frame []string) string {
	var b strings.Builder
	for _, line := range frame {
		b.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	return b.String()
}

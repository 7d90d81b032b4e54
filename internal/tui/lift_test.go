package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// TestAnUndoThatWaitsStandsOnTheBoard: with who wants it, and the word that drops it; and when it is asked for, with its plan.
func TestAnUndoThatWaitsStandsOnTheBoard(t *testing.T) {
	events := undone(t, upTo(walked(t), 83), "extend-stale")
	m := screenOf(t, events, 100, 60, Options{})
	board := strings.Join(strings.Fields(plain(m.frame())), " ")
	for _, want := range []string{"undo waits 0s: extend-stale: stale.product-detail to", "ordered by ben: copies are short", `"keep extend-stale"`} {
		if !strings.Contains(board, want) {
			t.Errorf("%q is not on the board:\n%s", want, plain(m.frame()))
		}
	}
	d := newDrawing(m.story, m.now(), &m.ink, false)
	lift := m.story.State.Lifts()[0]
	d.question = steps.Question{Step: lift.Step, Lift: &lift, Offers: []steps.Offer{{Digest: "0a1b2c3d4e5f", Word: "approve", Covers: []steps.Change{{Control: lift.Control}}}}}
	rows := strings.Join(d.planRows(d.step(), 120), "\n")
	if !strings.Contains(rows, "undo ordered by ben: copies are short") || !strings.Contains(rows, "plan 0a1b2c3d: stale.product-detail to absent") || !strings.Contains(d.may(120), "approve, keep extend-stale") {
		t.Errorf("it asks\n%s\n%s", rows, d.may(120))
	}
}

// undone has ben order that steps are put back.
func undone(t *testing.T, events []Event, names ...string) []Event {
	t.Helper()
	last := events[len(events)-1].Record
	for i, name := range names {
		body, err := json.Marshal(&steps.OrderedBody{Order: steps.OrderUndo, Step: name, By: "ben", Reason: "copies are short"})
		if err != nil {
			t.Fatal(err)
		}
		record := audit.Record{Seq: last.Seq + uint64(i) + 1, At: last.At, T: last.T, Actor: "ben", Kind: steps.KindOrdered, Body: body}
		events = append(events[:len(events):len(events)], Event{Record: record})
	}
	return events
}

// TestEveryUndoThatWaitsIsNamed: on the usual screen, too, and however many words count, those that stop are there.
func TestEveryUndoThatWaitsIsNamed(t *testing.T) {
	events := undone(t, upTo(walked(t), 301), "extend-stale", "no-retries", "pause-background-jobs")
	m := screenOf(t, events, 80, 24, Options{})
	board := plain(m.frame())
	var names []string
	for _, lift := range m.story.State.Lifts() {
		names = append(names, lift.Step)
	}
	for _, want := range []string{"undo waits: " + strings.Join(names, ", "), "\nmay: hold, abort, "} {
		if len(names) != 3 || !strings.Contains(board, want) {
			t.Errorf("%q is not on the board:\n%s", want, board)
		}
	}
}

// TestALadderTellsWhatIsInForceFromWhatIsNext: while the effect of a rung is awaited and while the next is asked about.
func TestALadderTellsWhatIsInForceFromWhatIsNext(t *testing.T) {
	for seq, want := range map[uint64]string{
		253: "ladder: routing.cell-c is 0%: ·10% ·25% ·50% ·100%",
		285: "ladder: routing.cell-c is 10%: ▶10% ·25% ·50% ·100%",
		306: "ladder: routing.cell-c is 25%: ✓10% ▶25% ·50% ·100%",
		314: "ladder: routing.cell-c is 25%: ✓10% ▶25% ·50% ·100%",
	} {
		m := screenOf(t, upTo(walked(t), seq), 80, 24, Options{})
		d := newDrawing(m.story, m.now(), &m.ink, false)
		if got := d.ladderText(d.s.Doc.Step("route-back")); got != want {
			t.Errorf("record %d: %q, not %q", seq, got, want)
		}
	}
}

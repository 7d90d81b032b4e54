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
	events := upTo(walked(t), 83)
	last := events[len(events)-1].Record
	body, err := json.Marshal(&steps.OrderedBody{Order: steps.OrderUndo, Step: "extend-stale", By: "ben", Reason: "copies are short"})
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, Event{Record: audit.Record{Seq: last.Seq + 1, At: last.At, T: last.T, Actor: "ben", Kind: steps.KindOrdered, Body: body}})
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
	if !strings.Contains(rows, "undo ordered by ben: copies are short") || !strings.Contains(rows, "plan 0a1b2c3d: stale.product-detail to absent") || !strings.Contains(d.may(), "approve, keep extend-stale") {
		t.Errorf("it asks\n%s\n%s", rows, d.may())
	}
}

package tui

import (
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/largerun"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// largeRun gives the events of a large run; all that does more than measure says a sentence.
func largeRun(t testing.TB, records int) []Event {
	var events []Event
	for _, r := range largerun.Walk(t, records) {
		event := Event{Record: r}
		if r.Kind != steps.KindObserved {
			event.Lines = []Line{{Where: "stage/step", Text: r.Kind + " was written down, in a sentence of about this length"}}
		}
		events = append(events, event)
	}
	return events
}

// TestLargeRun: what the benchmarks draw is what they say.
func TestLargeRun(t *testing.T) {
	events := largeRun(t, 400)
	doc := largerun.Book(t)
	if probes, count := len(doc.Probes), countSteps(doc); probes != largerun.Probes || count != largerun.Brakes+largerun.Releases {
		t.Errorf("%d probes, %d steps", probes, count)
	}
	owed := plain(screenOf(t, events[:400-largerun.Calm], 160, 50, Options{}).frame())
	asked := plain(screenOf(t, events, 160, 50, Options{}).frame())
	if !strings.Contains(owed, "on, unproved: step-") || !strings.Contains(asked, "waits for an approval") {
		t.Errorf("unproved:\n%s\nasked:\n%s", owed, asked)
	}
}

func countSteps(doc *runbook.Document) (n int) {
	for range doc.Steps() {
		n++
	}
	return n
}

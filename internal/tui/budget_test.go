package tui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBudgetHoldsWhatIsAdmitted: an admission that is tighter than the runbook's limit is the limit of the hour, and a
// looser one does not hold it.
func TestBudgetHoldsWhatIsAdmitted(t *testing.T) {
	for admitted, want := range map[string]string{
		`3200`: "live 1368 of limit 3200, room for 1832; knee 4200 attempts/s\n",
		`1000`: "live 1368 of limit 1000, 368 too many; knee 4200 attempts/s; origin.admission holds less",
		`4000`: "live 1368 of limit 3200, room for 1832; knee 4200 attempts/s; origin.admission DOES NOT",
	} {
		events := slices.Clone(upTo(walked(t), 122))
		for i, e := range events {
			if e.Record.Kind != "begun" && bytes.Contains(e.Record.Body, []byte("origin.admission")) {
				events[i].Record.Body = bytes.ReplaceAll(e.Record.Body, []byte("3200"), []byte(admitted))
			}
		}
		frame := plain(screenOf(t, events, 200, 60, Options{}).frame())
		if !strings.Contains(frame, want) {
			t.Errorf("admission %s: no %q on the screen:\n%s", admitted, want, frame)
		}
	}
}

// TestBudgetAsksNothingForWhatHasLapsed: readers have left what nobody renews.
func TestBudgetAsksNothingForWhatHasLapsed(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 285), 200, 60, Options{})
	for wait, want := range map[time.Duration]string{0: "prewarm may", time.Minute: "room for"} {
		d := newDrawing(m.story, m.now().Add(wait), &m.ink, false)
		b, ok := d.budgetOf()
		if !ok || !strings.Contains(b.text(), want) || strings.Contains(b.text(), "prewarm") != (wait == 0) {
			t.Errorf("%s later: %s", wait, b.text())
		}
		controls := plain(d.controlSection(200).rows)
		if lapsed := strings.Contains(controls, "LAPSED: readers obey 0 attempts/s"); lapsed != (wait > 0) {
			t.Errorf("%s later:\n%s", wait, controls)
		}
	}
}

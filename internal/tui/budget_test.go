package tui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
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

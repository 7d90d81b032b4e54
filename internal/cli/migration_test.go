//go:build !race

// Minutes of the model for a walk: CI runs these without the race detector.

package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Values that the new format's writer gets wrong stop the walk at the comparison, in
// the dark: no reader ever looks them up.
func TestFaultyWriterIsStoppedInTheDark(t *testing.T) {
	scenario, err := openScenario("cell-migration")
	if err != nil {
		t.Fatal(err)
	}
	scenario.Events[0].Share = 0.02
	tr := playing(t, bundled(t, scenario.Runbook), scenario, scenario.Seed)
	tr.longest = 10 * time.Minute
	state, err := tr.walked(context.Background(), true)
	if err != nil && !errors.Is(err, errTooLong) {
		t.Fatal(err)
	}
	if state.Recovered != nil {
		t.Error("the migration went through")
	}
	t.Log(lastHold(state))
	if hold := lastHold(state); !strings.Contains(hold, "mismatches") {
		t.Errorf("it does not hold for the mismatches: %s", hold)
	}
	for _, query := range []string{
		`catalog_replacement_reads_total == 0`, `catalog_stale_unmarked_total == 0`, `catalog_migration_open == 1`,
	} {
		if answer := answerOf(t, tr, query); !strings.Contains(answer, `"value"`) {
			t.Errorf("%s: %s", query, answer)
		}
	}
}

// answerOf is the answer of a trial's lab to a query, as it is.
func answerOf(t *testing.T, tr *trial, query string) string {
	t.Helper()
	client := http.Client{Transport: tr.lab.Transport()}
	found, err := client.PostForm(labURL+"/api/v1/query", url.Values{"query": {query}})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Body.Close()
	text, err := io.ReadAll(found.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

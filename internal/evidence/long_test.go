package evidence

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// longRun writes the log of a run that was watched for so many polls, a record each, of the size that those of a
// walk on the lab have, and gives its material.
func longRun(t testing.TB, polls, series int) Material {
	t.Helper()
	clock := &stopwatch{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	log, err := audit.Create(filepath.Join(t.TempDir(), "audit.jsonl"), clock, audit.Options{Run: smallID})
	if err != nil {
		t.Fatal(err)
	}
	records := smallRecords(t, false)
	doc, problems := runbook.Parse("origin-fault.yaml", records[0].body.(*steps.Begun).Runbook, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, r := range records {
		if _, err := log.Append("ana", r.kind, r.body); err != nil {
			t.Fatal(err)
		}
	}
	for n := range polls {
		if _, err := log.Append("ana", steps.KindObserved, pollOf(doc, clock.now, n, series)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := Read(smallID, []string{log.Path()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func pollOf(doc *runbook.Document, at time.Time, n, series int) *steps.Observed {
	body := &steps.Observed{At: at}
	for i := range doc.Probes {
		a := probes.Answer{Ask: probes.Ask{Probe: doc.Probes[i].Name}, Query: doc.Probes[i].Query, At: at,
			WindowStart: at.Add(-5 * time.Second), Stalest: at, Newest: []time.Time{at}}
		var readings []probes.Reading
		for cell := range series {
			readings = append(readings, probes.NewReading(fmt.Sprintf(`{cell="cell-%d"}`, cell), float64(n%97+cell)/8))
		}
		a.SetReadings(readings)
		body.Answers = append(body.Answers, a)
	}
	return body
}

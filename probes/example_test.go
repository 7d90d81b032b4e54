package probes_test

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// A gate is judged on plain values: what was seen, and since when it counts.
func ExampleJudge() {
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	age := probes.Answer{
		Ask: probes.Ask{Probe: "queue-age"}, At: noon,
		Oldest: noon.Add(-time.Second), Stalest: noon.Add(-time.Second), Newest: []time.Time{noon.Add(-time.Second)},
	}
	age.SetReadings([]probes.Reading{probes.NewReading("{}", 0.412)})
	seen := probes.Observation{At: noon, Answers: []probes.Answer{age}}
	doc := &runbook.Document{Probes: []runbook.Probe{{Name: "queue-age", Unit: "s"}}}
	gate := runbook.Gate{{{Probe: "queue-age", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.25, Text: "250ms"}}}}

	for _, mark := range []time.Time{{}, noon.Add(-time.Second)} {
		j := probes.Judge(gate, probes.Situation{Mark: mark, StaleAfter: 10 * time.Second, Answer: seen.Answer, Probe: doc.Probe})
		fmt.Println(j.Verdict, "-", j.Findings[0].Sentence)
	}
	// Output:
	// fail - queue-age 412ms > 250ms at most, 1s old
	// unknown - queue-age unknown: it rests on a sample of 11:59:59.000, and the flip was obeyed at 11:59:59.000
}

package steps

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
)

// TestRecordsFit: whatever the world says, and however much of it, a body fits into a
// record, and what a gate saw survives being split.
func TestRecordsFit(t *testing.T) {
	long := strings.Repeat("x\u202e", 2000)
	var findings []probes.Finding
	for i := range 300 {
		findings = append(findings, probes.Finding{Bound: fmt.Sprint(i), Verdict: probes.Verdict(i % 3), Sentence: long, Series: long, Notes: []string{long}})
	}
	for _, body := range []any{
		&StepBody{Why: long, Outcome: long}, &Judged{Findings: findings}, &Guarded{Findings: findings}, &Recovered{Gate: findings},
		&Skipped{Reason: long, Findings: findings}, &Held{Sentence: long, Can: long}, &Settled{Sentence: long, Hint: long},
		&ConfirmedBody{Ask: long, Answer: long}, &Called{Command: []string{long, long, long}},
	} {
		shorten(body)
		if n := size(body); n > audit.MaxBody {
			t.Errorf("%T takes %d bytes", body, n)
		}
	}
	if kept := shortFindings(findings); kept[0].Verdict == probes.Pass {
		t.Error("what passes was kept before what does not")
	}
}

func TestPollsAreSplit(t *testing.T) {
	long := strings.Repeat("label=\"value\",", 200)
	o := &Observed{At: start, Controls: map[string]*string{}, ControlsBase64: map[string][]byte{}}
	for i := range 60 {
		a := probes.Answer{Ask: probes.Ask{Probe: fmt.Sprint("probe-", i)}, Query: long + long, At: start, Newest: []time.Time{start}}
		a.SetReadings([]probes.Reading{probes.NewReading(long+"a", 1), probes.NewReading(long+"b", 2), probes.NewReading(long+"c", 3)})
		shortenAnswer(&a)
		if a.Readings[0].Series == a.Readings[1].Series {
			t.Fatal("two series became one")
		}
		raw := strings.Repeat("9", longestRaw)
		o.Answers = append(o.Answers, a)
		o.Controls[fmt.Sprint("control-", i)] = &raw
		o.ControlsBase64[fmt.Sprint("odd-", i)] = []byte(raw)
		o.Gates = append(o.Gates, GateSeen{Gate: long})
	}
	doc := mustParse(t, incident)
	j := &memoryJournal{now: func() time.Time { return start }}
	begun := &Begun{Format: FormatV1, Runbook: doc.Source, File: "test.yaml"}
	if _, err := j.Append("ana", KindBegun, begun); err != nil {
		t.Fatal(err)
	}
	err := inParts(o, func(part *Observed) error {
		_, err := j.Append("ana", KindObserved, part)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Fold(j.all())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.polls); n != 1 || len(s.polls[0].answers) != 60 || len(s.controls) < 120 {
		t.Errorf("%d polls, %d answers, %d controls", n, len(s.polls[0].answers), len(s.controls))
	}
}

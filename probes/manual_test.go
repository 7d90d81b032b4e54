package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// TestReadingByHand: what one person alone may let pass and fail, and what is from after a flip.
func TestReadingByHand(t *testing.T) {
	flip := noon.Add(-time.Minute)
	atMost := runbook.Bound{Probe: "queue", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.5}}
	falling := runbook.Bound{Probe: "queue", Op: runbook.Falling}
	for name, test := range map[string]struct {
		bound     runbook.Bound
		value     float64
		given     time.Time
		confirmed []string
		situation Situation
		verdict   Verdict
		reason    Reason
	}{
		"one person lets it pass":              {atMost, 0.4, noon, nil, Situation{AlonePasses: true}, Pass, ""},
		"one person does not":                  {atMost, 0.4, noon, nil, Situation{AloneFails: true}, Unknown, Unconfirmed},
		"one person lets it fail":              {atMost, 0.9, noon, nil, Situation{AloneFails: true}, Fail, ""},
		"one person does not let it fail":      {atMost, 0.9, noon, nil, Situation{}, Unknown, Unconfirmed},
		"two persons":                          {atMost, 0.4, noon, []string{"carol"}, Situation{}, Pass, ""},
		"older than stale_after":               {atMost, 0.4, noon.Add(-time.Hour), []string{"carol"}, Situation{StaleAfter: time.Second}, Pass, ""},
		"given before the flip":                {atMost, 0.4, flip, []string{"carol"}, Situation{ByHand: flip, Mark: flip}, Unknown, BeforeMark},
		"given after the flip":                 {atMost, 0.4, noon, []string{"carol"}, Situation{ByHand: flip, Mark: flip}, Pass, ""},
		"the mark is not known":                {atMost, 0.4, noon, []string{"carol"}, Situation{ByHand: flip, Unmarked: "not obeyed"}, Pass, ""},
		"it tells no trend":                    {falling, 0.4, noon, []string{"carol"}, Situation{}, Unknown, NoPrevious},
		"one person does not hide the unknown": {falling, 0.4, noon, nil, Situation{}, Unknown, NoPrevious},
	} {
		lost := Answer{Ask: Ask{Probe: "queue"}, At: noon, Reason: Transport, Detail: "nobody is there"}
		m := &Manual{By: "ana\x1b[2J", Source: "graf\u202eana", Given: test.given, Until: noon.Add(time.Minute), Digest: "0123456789", Confirmed: test.confirmed}
		now := ByHand(&lost, Freshness{StaleAfter: time.Second}, test.value, m, noon)
		test.situation.Answer = func(Ask) *Answer { return &now }
		test.situation.Previous = test.situation.Answer
		f := JudgeBound(test.bound, test.situation)
		if f.Verdict != test.verdict || f.Reason != test.reason {
			t.Errorf("%s: %v, %q (%s)", name, f.Verdict, f.Reason, f.Sentence)
		}
		if f.ByHand == "" || f.Verdict != Unknown && !strings.Contains(f.Sentence, "BY HAND: "+f.ByHand) {
			t.Errorf("%s is not marked: %+v", name, f)
		}
		if strings.ContainsAny(f.Sentence+f.ByHand, "\x1b\u202e") {
			t.Errorf("%s is not printable: %q", name, f.Sentence)
		}
		if now.Instead != "nobody is there" {
			t.Errorf("%s says %q of what was measured", name, now.Instead)
		}
	}
}

// TestUnmarkedWithoutHands: as long as a mark is not known, nothing that was measured counts.
func TestUnmarkedWithoutHands(t *testing.T) {
	bound := runbook.Bound{Probe: "queue", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.5}}
	a := Answer{Ask: Ask{Probe: "queue"}, At: noon, Stalest: noon, Oldest: noon}
	a.SetReadings([]Reading{NewReading("{}", 0.1)})
	s := Situation{Unmarked: "not obeyed yet", StaleAfter: time.Second, Answer: func(Ask) *Answer { return &a }}
	s.Previous = s.Answer
	if f := JudgeBound(bound, s); f.Reason != BeforeMark || f.Sentence != "queue unknown: not obeyed yet" {
		t.Errorf("%+v", f)
	}
	a = Answer{At: noon, Reason: Rejected, Detail: "it was refused"}
	if f := JudgeBound(bound, s); f.Reason != Rejected {
		t.Errorf("what keeps it from answering is not said: %+v", f)
	}
}

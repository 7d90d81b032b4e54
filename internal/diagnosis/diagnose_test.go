package diagnosis

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// reading is a probe that reads 1, 0 or nothing; the sign on it passes, fails or is unknown.
func reading(name string, v probes.Verdict) probes.Answer {
	now := time.Unix(1000, 0)
	a := probes.Answer{Ask: probes.Ask{Probe: name}, At: now, Stalest: now}
	switch v {
	case probes.Pass:
		a.SetReadings([]probes.Reading{probes.NewReading("{}", 1)})
	case probes.Fail:
		a.SetReadings([]probes.Reading{probes.NewReading("{}", 0)})
	default:
		a.Reason = probes.NoData
	}
	return a
}

func signOn(name string) runbook.Sign {
	return runbook.Sign{Says: name, When: runbook.Gate{{{Probe: name, Op: runbook.Equals, Operand: runbook.Operand{Number: 1}}}}}
}

// Whatever the signs say: each is told once, what is unknown is only ever missing, and
// the verdict can be read off from the evidence.
func TestVerdictFollowsFromEvidence(t *testing.T) {
	verdicts := []probes.Verdict{probes.Unknown, probes.Pass, probes.Fail}
	rapid.Check(t, func(t *rapid.T) {
		answers := map[string]probes.Answer{}
		counts := map[probes.Verdict]int{}
		draw := func(kind string, least int) (signs []runbook.Sign, said []probes.Verdict) {
			said = rapid.SliceOfN(rapid.SampledFrom(verdicts), least, 4).Draw(t, kind)
			for i, v := range said {
				name := kind + string(rune('a'+i))
				answers[name] = reading(name, v)
				signs = append(signs, signOn(name))
				counts[v]++
			}
			return signs, said
		}
		needs, needed := draw("need", 1)
		supports, supported := draw("support", 0)
		against, stood := draw("against", 0)
		e, verdict := weigh(needs, supports, against, sight{Situation: probes.Situation{StaleAfter: time.Second,
			Answer: func(a probes.Ask) *probes.Answer { found := answers[a.Probe]; return &found }}})

		if len(e.Missing) != counts[probes.Unknown] {
			t.Fatalf("%d signs are missing of %d that are unknown", len(e.Missing), counts[probes.Unknown])
		}
		if want := number(needed, probes.Pass) + number(supported, probes.Pass); len(e.For) != want {
			t.Fatalf("%d signs speak for it, want %d", len(e.For), want)
		}
		if want := number(needed, probes.Fail) + number(stood, probes.Pass); len(e.Against) != want {
			t.Fatalf("%d signs stand against it, want %d", len(e.Against), want)
		}
		want := Unknown
		switch {
		case len(e.Against) > 0:
			want = Unlikely
		case number(needed, probes.Pass) == len(needed):
			want = Likely
		case len(e.For) > 0:
			want = Possible
		}
		if verdict != want {
			t.Fatalf("%s, want %s: %+v", verdict, want, e)
		}
	})
}

func number(verdicts []probes.Verdict, v probes.Verdict) int {
	n := 0
	for _, got := range verdicts {
		if got == v {
			n++
		}
	}
	return n
}

package probes

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rewarm/rewarm/runbook"
	"pgregory.net/rapid"
)

func drawTime(t *rapid.T, label string) time.Time {
	ms := rapid.Int64Range(0, 2e12).Draw(t, label)
	if ms%5 == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// drawForeign draws text as it comes from outside, made printable as a Poller does.
func drawForeign(t *rapid.T, label string) string {
	return printable(string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, label)), longestText)
}

func drawAnswer(t *rapid.T) Answer {
	odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e-300, 1e300, math.MaxFloat64})
	value := rapid.OneOf(rapid.Float64(), odd)
	a := Answer{
		Ask:   Ask{Probe: drawForeign(t, "probe"), From: drawForeign(t, "from"), To: drawForeign(t, "to")},
		Query: drawForeign(t, "query"), At: drawTime(t, "at"),
		WindowStart: drawTime(t, "start"), Oldest: drawTime(t, "oldest"), Stalest: drawTime(t, "stalest"),
		Reason: Reason(drawForeign(t, "reason")), Detail: drawForeign(t, "detail"), Assumed: rapid.Bool().Draw(t, "assumed"),
	}
	var readings []Reading
	for range rapid.IntRange(0, 30).Draw(t, "series") {
		label := string(rapid.SliceOfN(rapid.Byte(), 0, 150).Draw(t, "label"))
		readings = append(readings, NewReading(seriesName(map[string]string{"cell": label}), value.Draw(t, "value")))
	}
	a.SetReadings(readings)
	for range rapid.IntRange(0, 3).Draw(t, "selectors") {
		a.Newest = append(a.Newest, drawTime(t, "newest"))
		a.Warnings = append(a.Warnings, drawForeign(t, "warning"))
		a.Infos = append(a.Infos, drawForeign(t, "info"))
	}
	return a
}

// https://github.com/argoproj/argo-rollouts/issues/2758
func TestObservationsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Observation{At: drawTime(t, "at"), Offset: time.Duration(rapid.Int64().Draw(t, "offset")), Answers: []Answer{drawAnswer(t)}}
		if rapid.Bool().Draw(t, "propagation") {
			in.Propagation = &Propagation{Version: rapid.Int64().Draw(t, "version"), Reported: true, Processes: 3, Obeying: 2, Oldest: drawTime(t, "oldest")}
		}
		roundTrip(t, in)
	})
}

func TestJudgementsSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		roundTrip(t, Judge(runbook.Gate{{drawBound(t)}}, situation(&a, nil)))
		roundTrip(t, Judge(runbook.Gate{{drawBound(t)}}, situation(answerOf(1, 2), beforeOf(2, 1))))
	})
}

func roundTrip[T any](t *rapid.T, in T) {
	line, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if diff := cmp.Diff(in, out, cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("%s\n%s", line, diff)
	}
	again, err := json.Marshal(out)
	if err != nil || string(again) != string(line) {
		t.Fatalf("%s\nbecame %s (%v)", line, again, err)
	}
}

func TestBadJSONIsRefused(t *testing.T) {
	for _, text := range []string{`{"readings":[{"series":"{}","value":"fast"}]}`, `{"readings":[{"series":"{}"}]}`, `{"at":"noon"}`} {
		if err := json.Unmarshal([]byte(text), new(Answer)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
	if err := json.Unmarshal([]byte(`{"verdict":"maybe"}`), new(Finding)); err == nil {
		t.Error("a fourth verdict was read")
	}
}

func gateOfSix() (Observation, Judgement) {
	o := Observation{At: noon}
	var g runbook.Gate
	for i := range 6 {
		a := *answerOf(0.412)
		a.Ask.Probe = fmt.Sprintf("probe-%d", i)
		a.Query = `sum(rate(catalog_origin_attempts_total{source="live"}[5s])) / sum(rate(catalog_reads_total[5s]))`
		o.Answers = append(o.Answers, a)
		g = append(g, runbook.Group{{Probe: a.Ask.Probe, Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.25}}})
	}
	return o, Judge(g, Situation{StaleAfter: time.Minute, Answer: o.Answer})
}

func BenchmarkMarshalGateOfSix(b *testing.B) {
	o, j := gateOfSix()
	for b.Loop() {
		for _, v := range []any{&o, &j} {
			if _, err := json.Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkJudgeGateOfSix(b *testing.B) {
	for b.Loop() {
		gateOfSix()
	}
}

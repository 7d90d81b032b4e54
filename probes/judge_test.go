package probes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rewarm/rewarm/runbook"
	"pgregory.net/rapid"
)

// answerOf is a fresh answer to a range query: judged at noon, reaching back 5 s.
func answerOf(values ...float64) *Answer {
	var readings []Reading
	for i, v := range values {
		name := "{}"
		if len(values) > 1 {
			name = fmt.Sprintf(`{cell="%c"}`, 'a'+i)
		}
		readings = append(readings, NewReading(name, v))
	}
	a := &Answer{Ask: Ask{Probe: "p"}, At: noon, WindowStart: noon.Add(-5 * sec), Stalest: noon.Add(-sec), Newest: []time.Time{noon.Add(-sec)}}
	a.SetReadings(readings)
	return a
}

// beforeOf is the same a second earlier.
func beforeOf(values ...float64) *Answer {
	a := answerOf(values...)
	a.At, a.WindowStart, a.Stalest = a.At.Add(-sec), a.WindowStart.Add(-sec), a.Stalest.Add(-sec)
	a.Newest = []time.Time{a.Stalest}
	return a
}

func with(a *Answer, change func(*Answer)) *Answer { change(a); return a }

var testProbes = map[string]*runbook.Probe{
	"p":     {Name: "p", Unit: "s"},
	"other": {Name: "other", Unit: "s"},
	"start": {Name: "start", Unit: "s", Baseline: true},
	"empty": {Name: "empty", EmptyPass: true},
	"rung":  {Name: "rung", Query: "x * ${to}"},
}

func situation(now, before *Answer) Situation {
	find := func(a *Answer) func(Ask) *Answer {
		return func(ask Ask) *Answer {
			switch {
			case ask.Probe == "p" || ask.Probe == "empty":
				return a
			case ask == Ask{"rung", "10", "25"}:
				return answerOf(7)
			case ask.Probe == "other":
				return answerOf(2)
			}
			return nil
		}
	}
	return Situation{
		StaleAfter: 10 * sec, From: "10", To: "25", Answer: find(now), Previous: find(before),
		Control: func(name string) (float64, bool) {
			return map[string]float64{"limit": 4, "open": math.Inf(1)}[name], name != "missing"
		},
		Baseline: func(string) (float64, bool) { return 3, true },
		Probe:    func(name string) *runbook.Probe { return testProbes[name] },
	}
}

func TestJudgeBound(t *testing.T) {
	number := func(v float64) runbook.Operand { return runbook.Operand{Number: v} }
	level := func(op runbook.Op, v float64) runbook.Bound {
		return runbook.Bound{Probe: "p", Op: op, Operand: number(v)}
	}
	atMost := func(v float64) runbook.Bound { return level(runbook.AtMost, v) }
	against := func(o runbook.Operand) runbook.Bound {
		return runbook.Bound{Probe: "p", Op: runbook.AtMost, Operand: o}
	}
	between := runbook.Bound{Probe: "p", Op: runbook.Between, Operand: number(1), High: number(2)}
	falling, rising := runbook.Bound{Probe: "p", Op: runbook.Falling}, runbook.Bound{Probe: "p", Op: runbook.Rising}
	anyOf := func(b runbook.Bound) runbook.Bound { b.Any = true; return b }
	mark := func(before time.Duration) func(*Situation) {
		return func(s *Situation) { s.Mark = noon.Add(-before) }
	}
	instant := func(a *Answer, oldest time.Duration) *Answer {
		a.WindowStart, a.Oldest = time.Time{}, noon.Add(-oldest)
		return a
	}
	var many []float64
	for i := range 30 {
		many = append(many, float64(i))
	}

	for _, test := range []struct {
		name        string
		bound       runbook.Bound
		now, before *Answer
		change      func(*Situation)
		verdict     Verdict
		reason      Reason
		says        string
	}{
		{name: "at most holds", bound: atMost(0.25), now: answerOf(0.2), verdict: Pass, says: "p 200ms <= 250ms at most, 1s old"},
		{name: "at most on the edge", bound: atMost(0.25), now: answerOf(0.25), verdict: Pass},
		{name: "at most broken", bound: atMost(0.25), now: answerOf(0.412), verdict: Fail, says: "p 412ms > 250ms at most, 1s old"},
		{name: "a hair too much is not rounded away", bound: atMost(0.25), now: answerOf(0.25000001), verdict: Fail, says: "p 250.00001ms > 250ms at most"},
		{name: "below on the edge", bound: level(runbook.Below, 5), now: answerOf(5), verdict: Fail, says: "p 5s >= 5s, 1s old"},
		{name: "above on the edge", bound: level(runbook.Above, 5), now: answerOf(5), verdict: Fail, says: "p 5s <= 5s"},
		{name: "at least", bound: level(runbook.AtLeast, 5), now: answerOf(5), verdict: Pass, says: "p 5s >= 5s at least"},
		{name: "equals", bound: level(runbook.Equals, 5), now: answerOf(5), verdict: Pass, says: "p 5s = 5s"},
		{name: "equals not", bound: level(runbook.Equals, 5), now: answerOf(5.5), verdict: Fail, says: "p 5.5s != 5s"},
		{name: "between", bound: between, now: answerOf(2), verdict: Pass, says: "p 2s inside 1s to 2s"},
		{name: "not between", bound: between, now: answerOf(2, 0.5), verdict: Fail, says: `p 500ms outside 1s to 2s in {cell="b"}, worst of 2 series`},
		{name: "an operator that is none", bound: level("", 5), now: answerOf(5), verdict: Fail},

		// https://github.com/kedacore/keda/issues/5202
		{name: "the worst series is named", bound: atMost(0.5), now: answerOf(0.1, 0.99), verdict: Fail, says: `p 990ms > 500ms at most in {cell="b"}, worst of 2 series`},
		{name: "and in the other order", bound: atMost(0.5), now: answerOf(0.99, 0.1), verdict: Fail, says: `in {cell="a"}`},
		{name: "any", bound: anyOf(atMost(0.5)), now: answerOf(0.99, 0.1), verdict: Pass, says: `in {cell="b"}, best of 2 series`},
		{name: "any fails", bound: anyOf(atMost(0.05)), now: answerOf(0.99, 0.1), verdict: Fail, says: `in {cell="b"}, best of 2 series`},
		{name: "more series than are kept", bound: atMost(28), now: answerOf(many...), verdict: Fail, says: "worst of 30 series"},
		{name: "any of more than are kept", bound: anyOf(level(runbook.Equals, 15)), now: answerOf(many...), reason: SeriesCount},
		{name: "series as expected", bound: func() runbook.Bound { b := atMost(1); b.Series = 2; return b }(), now: answerOf(1, 1), verdict: Pass},
		{name: "one series less", bound: func() runbook.Bound { b := atMost(1); b.Series = 3; return b }(), now: answerOf(1, 1), reason: SeriesCount, says: "2 series where 3 are expected"},

		{name: "not asked", bound: atMost(1), reason: NotAsked},
		{name: "no data", bound: atMost(1), now: answerOf(), reason: NoData},
		{name: "NaN", bound: atMost(1), now: answerOf(math.NaN()), reason: NotANumber},
		{name: "infinite", bound: level(runbook.Above, 1), now: answerOf(math.Inf(1)), reason: Infinite},
		{name: "one of many NaN", bound: level(runbook.Above, -1), now: answerOf(append(slices.Clone(many), math.NaN())...), reason: NotANumber},
		{name: "reason of the answer", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Reason, a.Detail = Transport, "refused" }), reason: Transport, says: "p unknown: refused"},
		{name: "reason without detail", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Reason = Transport }), reason: Transport, says: "p unknown: there was no answer"},
		{name: "partial", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Warnings = []string{"partial response"} }), reason: Partial},
		{name: "warned", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Warnings = []string{"PromQL warning: limit"} }), reason: Warned},
		// https://github.com/prometheus/prometheus/issues/14441
		{name: "stale", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Stalest = noon.Add(-11 * sec) }), reason: Stale, says: "11s old, more than the 10s of stale_after"},
		{name: "no age", bound: atMost(1), now: with(answerOf(1), func(a *Answer) { a.Stalest = time.Time{} }), reason: Stale, says: "no series behind it has a current sample"},
		{name: "no age allowed", bound: atMost(1), now: answerOf(1), change: func(s *Situation) { s.StaleAfter = 0 }, reason: Stale},

		// https://github.com/prometheus/prometheus/issues/1462
		{name: "window after the mark", bound: atMost(1), now: answerOf(1), change: mark(5*sec + 1), verdict: Pass},
		{name: "window on the mark", bound: atMost(1), now: answerOf(1), change: mark(5 * sec), reason: BeforeMark, says: "still looks back to 11:59:55.000, and the flip was obeyed at 11:59:55.000"},
		{name: "asked before the mark", bound: atMost(1), now: answerOf(1), change: mark(0), reason: BeforeMark},
		{name: "sample after the mark, twice", bound: atMost(1), now: instant(answerOf(1), 2*sec), before: instant(beforeOf(1), 3*sec), change: mark(4 * sec), verdict: Pass},
		{name: "sample after the mark, once", bound: atMost(1), now: instant(answerOf(1), 2*sec), before: instant(beforeOf(1), 5*sec), change: mark(4 * sec), reason: BeforeMark, says: "for the first time"},
		{name: "sample after the mark, nothing before", bound: atMost(1), now: instant(answerOf(1), 2*sec), change: mark(4 * sec), reason: BeforeMark},
		{name: "sample after the mark, error before", bound: atMost(1), now: instant(answerOf(1), 2*sec), before: &Answer{Reason: Transport}, change: mark(4 * sec), reason: BeforeMark},
		{name: "sample on the mark", bound: atMost(1), now: instant(answerOf(1), 4*sec), before: instant(beforeOf(1), 4*sec), change: mark(4 * sec), reason: BeforeMark, says: "rests on a sample of 11:59:56.000"},

		{name: "control", bound: against(runbook.Operand{Control: "limit"}), now: answerOf(5), verdict: Fail, says: "p 5s > 4s at most (control limit)"},
		{name: "unlimited control", bound: against(runbook.Operand{Control: "open"}), now: answerOf(5), reason: NoComparison},
		{name: "unknown control", bound: against(runbook.Operand{Control: "missing"}), now: answerOf(5), reason: NoComparison},
		{name: "probe", bound: against(runbook.Operand{Probe: "other"}), now: answerOf(1), verdict: Pass, says: "p 1s <= 2s at most (other)"},
		{name: "probe before the mark", bound: against(runbook.Operand{Probe: "other"}), now: with(answerOf(1), func(a *Answer) { a.WindowStart = noon.Add(-sec) }), change: mark(2 * sec), reason: BeforeMark, says: "compared with other, which is unknown"},
		{name: "probe of the rung", bound: against(runbook.Operand{Probe: "rung"}), now: answerOf(1), verdict: Pass, says: "(rung)"},
		{name: "probe that is missing", bound: against(runbook.Operand{Probe: "nobody"}), now: answerOf(1), reason: NotAsked},
		{name: "probe of many series", bound: runbook.Bound{Probe: "other", Op: runbook.AtMost, Operand: runbook.Operand{Probe: "p"}}, now: answerOf(1, 2), reason: SeriesCount},
		{name: "start value", bound: against(runbook.Operand{Probe: "start"}), now: answerOf(3), change: mark(6 * sec), verdict: Pass, says: "(start)"},
		{name: "no start value", bound: against(runbook.Operand{Probe: "start"}), now: answerOf(3), change: func(s *Situation) { s.Baseline = nil }, reason: NoComparison},
		{name: "start value judged", bound: runbook.Bound{Probe: "start", Op: runbook.AtMost, Operand: number(3)}, verdict: Pass},
		// https://github.com/fluxcd/flagger/issues/1095
		{name: "a bound that is NaN", bound: atMost(math.NaN()), now: answerOf(1), reason: NoComparison},

		{name: "empty passes", bound: runbook.Bound{Probe: "empty", Op: runbook.AtMost}, now: with(answerOf(), func(a *Answer) { a.Reason = NoData }), verdict: Pass, says: "has no series, which passes"},
		{name: "empty before the mark", bound: runbook.Bound{Probe: "empty", Op: runbook.AtMost}, now: with(answerOf(), func(a *Answer) { a.Reason = NoData }), change: mark(5 * sec), reason: BeforeMark},
		{name: "empty and partial", bound: runbook.Bound{Probe: "empty", Op: runbook.AtMost}, now: with(answerOf(), func(a *Answer) { a.Reason = NoData; a.Warnings = []string{"partial"} }), reason: Partial},
		{name: "empty by an error", bound: runbook.Bound{Probe: "empty", Op: runbook.AtMost}, now: with(answerOf(), func(a *Answer) { a.Reason = Transport }), reason: Transport},
		{name: "assumed", bound: atMost(0), now: with(answerOf(0), func(a *Answer) { a.Assumed = true }), verdict: Pass, says: "assumed: no series, its witness has data"},

		{name: "falling", bound: falling, now: answerOf(1), before: beforeOf(2), verdict: Pass, says: "p 1s after 2s, falling, 1s old"},
		{name: "level is not falling", bound: falling, now: answerOf(2), before: beforeOf(2), verdict: Fail, says: "p 2s after 2s, not falling"},
		{name: "rising", bound: rising, now: answerOf(3), before: beforeOf(2), verdict: Pass},
		{name: "falling is not rising", bound: rising, now: answerOf(1), before: beforeOf(2), verdict: Fail},
		{name: "each falls but one", bound: falling, now: answerOf(1, 5), before: beforeOf(2, 4), verdict: Fail, says: `p 5s after 4s, not falling in {cell="b"}, worst of 2 series`},
		{name: "any falls", bound: anyOf(falling), now: answerOf(1, 5), before: beforeOf(2, 4), verdict: Pass},
		{name: "no previous", bound: falling, now: answerOf(1), reason: NoPrevious},
		{name: "previous unknown", bound: falling, now: answerOf(1), before: beforeOf(math.NaN()), reason: NoPrevious},
		{name: "previous before the mark", bound: falling, now: answerOf(1), before: beforeOf(2), change: mark(6 * sec), reason: NoPrevious},
		{name: "both after the mark", bound: falling, now: answerOf(1), before: beforeOf(2), change: mark(7 * sec), verdict: Pass},
		{name: "same samples", bound: falling, now: answerOf(1), before: with(beforeOf(2), func(a *Answer) { a.Newest = []time.Time{noon.Add(-sec)} }), reason: SameSamples},
		{name: "another series", bound: falling, now: answerOf(1), before: with(beforeOf(2), func(a *Answer) { a.Readings[0].Series = `{cell="z"}` }), reason: NoPrevious},
		{name: "a series less", bound: falling, now: answerOf(1), before: beforeOf(2, 2), reason: SeriesCount},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := situation(test.now, test.before)
			if test.change != nil {
				test.change(&s)
			}
			f := JudgeBound(test.bound, s)
			if f.Verdict != test.verdict || f.Reason != test.reason || !strings.Contains(f.Sentence, test.says) {
				t.Errorf("got %s %s: %s\nwant %s %s: %s", f.Verdict, f.Reason, f.Sentence, test.verdict, test.reason, test.says)
			}
			if f.Sentence == "" || strings.HasSuffix(f.Sentence, ".") {
				t.Errorf("sentence %q", f.Sentence)
			}
		})
	}
}

func TestBoundText(t *testing.T) {
	for want, b := range map[string]runbook.Bound{
		"queue-age at most 500ms":                {Probe: "queue-age", Op: runbook.AtMost, Operand: runbook.Operand{Number: 0.5, Text: "500ms"}},
		"any leaders above control leaders.cell": {Probe: "leaders", Op: runbook.Above, Any: true, Operand: runbook.Operand{Control: "leaders.cell"}},
		"goodput at least probe offered":         {Probe: "goodput", Op: runbook.AtLeast, Operand: runbook.Operand{Probe: "offered"}},
		"x between 1 and 2":                      {Probe: "x", Op: runbook.Between, Operand: runbook.Operand{Number: 1}, High: runbook.Operand{Number: 2}},
		"queue-age falling":                      {Probe: "queue-age", Op: runbook.Falling},
	} {
		if got := boundText(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGates(t *testing.T) {
	pass := runbook.Bound{Probe: "p", Op: runbook.AtMost, Operand: runbook.Operand{Number: 2}}
	fail := runbook.Bound{Probe: "p", Op: runbook.AtMost}
	unknown := runbook.Bound{Probe: "nobody", Op: runbook.AtMost}
	for _, test := range []struct {
		gate runbook.Gate
		want Verdict
	}{
		{nil, Unknown}, {runbook.Gate{{}}, Unknown},
		{runbook.Gate{{pass}}, Pass}, {runbook.Gate{{fail}}, Fail}, {runbook.Gate{{unknown}}, Unknown},
		{runbook.Gate{{pass}, {}}, Unknown},
		{runbook.Gate{{pass}, {pass}}, Pass}, {runbook.Gate{{pass}, {unknown}}, Unknown},
		{runbook.Gate{{pass}, {unknown}, {fail}}, Fail},
		{runbook.Gate{{fail, pass}}, Pass}, {runbook.Gate{{unknown, pass}}, Pass},
		{runbook.Gate{{unknown, fail}}, Unknown}, {runbook.Gate{{fail, fail}}, Fail},
	} {
		j := Judge(test.gate, situation(answerOf(1), nil))
		if j.Verdict != test.want {
			t.Errorf("%v: %s, want %s", test.gate, j.Verdict, test.want)
		}
	}
	if j := Judge(runbook.Gate{{pass}, {fail}}, Situation{}); j.Verdict != Unknown || len(j.Findings) != 2 {
		t.Errorf("the zero situation: %+v", j)
	}
}

var operators = []runbook.Op{runbook.Above, runbook.AtLeast, runbook.Below, runbook.AtMost, runbook.Equals, runbook.Between, runbook.Falling, runbook.Rising}

func drawValues(t *rapid.T, label string, values *rapid.Generator[float64]) []float64 {
	return rapid.SliceOfN(values, 1, 25).Draw(t, label)
}

func drawBound(t *rapid.T) runbook.Bound {
	small := rapid.Float64Range(-3, 3)
	return runbook.Bound{
		Probe: "p", Op: rapid.SampledFrom(operators).Draw(t, "op"), Any: rapid.Bool().Draw(t, "any"),
		Operand: runbook.Operand{Number: small.Draw(t, "low")}, High: runbook.Operand{Number: small.Draw(t, "high")},
	}
}

func TestTheOrderOfSeriesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBound(t)
		values := drawValues(t, "values", rapid.SampledFrom([]float64{-2, -1, 0, 1, 2, math.NaN(), math.Inf(-1)}))
		now, before := answerOf(values...), beforeOf(values...)
		for i := range before.Readings {
			before.Readings[i].Value++
		}
		shuffled := *now
		shuffled.Readings = rapid.Permutation(now.Readings).Draw(t, "order")
		if diff := cmp.Diff(JudgeBound(b, situation(now, before)), JudgeBound(b, situation(&shuffled, before))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestNothingPassesThatIsNotFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, "values", rapid.Float64Range(-3, 3))
		odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "odd")
		values[rapid.IntRange(0, len(values)-1).Draw(t, "place")] = odd
		b := drawBound(t)
		if f := JudgeBound(b, situation(answerOf(values...), beforeOf(values...))); f.Verdict != Unknown {
			t.Fatalf("%+v", f)
		}
		b.Operand.Number, b.High.Number = odd, odd
		if f := JudgeBound(b, situation(answerOf(1), beforeOf(1))); f.Verdict == Pass {
			t.Fatalf("against %v: %+v", odd, f)
		}
	})
}

func TestMoreOfAGoodThingKeepsPassing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBound(t)
		b.Op = rapid.SampledFrom([]runbook.Op{runbook.AtMost, runbook.Below, runbook.AtLeast, runbook.Above}).Draw(t, "level")
		values := drawValues(t, "values", rapid.Float64Range(-3, 3))
		better := slices.Clone(values)
		place, by := rapid.IntRange(0, len(values)-1).Draw(t, "place"), rapid.Float64Range(0, 5).Draw(t, "by")
		if b.Op == runbook.AtMost || b.Op == runbook.Below {
			by = -by
		}
		better[place] += by
		if JudgeBound(b, situation(answerOf(values...), nil)).Verdict == Pass && JudgeBound(b, situation(answerOf(better...), nil)).Verdict != Pass {
			t.Fatalf("%v passes, %v does not", values, better)
		}
	})
}

// The verdict is what a plain loop over the series says.
func TestVerdictAgainstAPlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBound(t)
		b.Op = rapid.SampledFrom(operators[:6]).Draw(t, "level")
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{-2, -1, 0, 1, 2, b.Operand.Number, b.High.Number}), 1, 20).Draw(t, "values")
		held := 0
		for _, v := range values {
			if holds(b.Op, v, b.Operand.Number, b.High.Number) {
				held++
			}
		}
		want := verdictOf(held == len(values) || b.Any && held > 0)
		if f := JudgeBound(b, situation(answerOf(values...), nil)); f.Verdict != want {
			t.Fatalf("%+v, want %s", f, want)
		}
	})
}

func TestKnowingLessNeverMakesAGatePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d"}
		answers := map[string]*Answer{}
		for _, n := range names {
			answers[n] = answerOf(rapid.Float64Range(-1, 1).Draw(t, n))
		}
		var gate runbook.Gate
		for range rapid.IntRange(1, 4).Draw(t, "groups") {
			var group runbook.Group
			for range rapid.IntRange(1, 3).Draw(t, "bounds") {
				group = append(group, runbook.Bound{Probe: rapid.SampledFrom(names).Draw(t, "probe"), Op: runbook.AtMost})
			}
			gate = append(gate, group)
		}
		s := Situation{StaleAfter: time.Minute, Answer: func(a Ask) *Answer { return answers[a.Probe] }}
		full := Judge(gate, s).Verdict
		if mute := Decide(gate, s); mute != full {
			t.Fatalf("%s in words, %s without", full, mute)
		}
		delete(answers, rapid.SampledFrom(names).Draw(t, "lost"))
		if less := Judge(gate, s).Verdict; less == Pass && full != Pass || less == Fail && full != Fail {
			t.Fatalf("%s became %s", full, less)
		}
	})
}

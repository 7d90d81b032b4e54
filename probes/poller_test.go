package probes

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

const sec = time.Second

func scrapes(f *fakePrometheus, series string, from, to int, value func(i int) float64) {
	for i := from; i <= to; i++ {
		f.scrape(noon.Add(time.Duration(i)*sec), series, value(i))
	}
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }
func counter(i int) float64                { return float64(i) * 100 }

func pollOne(t *testing.T, f *fakePrometheus, probe runbook.Probe, others ...runbook.Probe) Answer {
	t.Helper()
	p := polling(t, f, newClock(noon))
	o := p.Poll(context.Background(), document(append([]runbook.Probe{probe}, others...)...), []Ask{{Probe: probe.Name}}, 0)
	if len(o.Answers) != 1 {
		t.Fatalf("got %d answers for one ask", len(o.Answers))
	}
	return o.Answers[0]
}

func TestAgesOfWhatAQueryRestsOn(t *testing.T) {
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(sec))) }
	for _, test := range []struct {
		name, query             string
		start, oldest, stalest  time.Time
		newest                  []time.Time
		value                   string
		skipValue, unmeasurable bool
	}{
		{name: "instant", query: `max(age)`, oldest: at(-1.5), stalest: at(-1.5), newest: []time.Time{at(-0.5)}, value: "3"},
		{name: "range", query: `sum(rate(reads[5s]))`, start: at(-5), stalest: at(-0.5), newest: []time.Time{at(-0.5)}, skipValue: true},
		{name: "range in a subquery", query: `round(max_over_time(sum(rate(reads[4s]))[3s:1s]), 100)`,
			start: at(-7), stalest: at(-0.5), newest: []time.Time{at(-0.5)}, skipValue: true},
		{name: "instant in a subquery", query: `max(max_over_time(age[3s:1s]))`,
			oldest: at(-2.5), stalest: at(-1.5), newest: []time.Time{at(-0.5)}, value: "3"},
		{name: "offsets", query: `sum(rate(reads[5s] offset 10s))`, start: at(-15), stalest: at(-0.5), newest: []time.Time{at(-10.5)}, skipValue: true},
		{name: "offset of an instant", query: `sum(age{cell="a"} offset 10s)`,
			oldest: at(-10.5), stalest: at(-0.5), newest: []time.Time{at(-10.5)}, value: "3"},
		{name: "nested subqueries with offsets", query: `max(max_over_time(sum_over_time(age{cell="a"}[2s:1s] offset 1s)[3s:1s] offset 2s))`,
			oldest: at(-6.5), stalest: at(-0.5), newest: []time.Time{at(-3.5)}, skipValue: true},
		{name: "two selectors", query: `sum(rate(reads[5s])) / sum(age{cell="a"})`,
			start: at(-5), oldest: at(-0.5), stalest: at(-0.5), newest: []time.Time{at(-0.5), at(-0.5)}, skipValue: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, noon)
			for i := -60; i <= 0; i++ {
				f.scrape(noon.Add(time.Duration(i)*sec-500*time.Millisecond), `age{cell="a"}`, 3)
				f.scrape(noon.Add(time.Duration(i)*sec-1500*time.Millisecond), `age{cell="b"}`, 1)
				f.scrape(noon.Add(time.Duration(i)*sec-500*time.Millisecond), `reads`, counter(i+100))
			}
			a := pollOne(t, f, runbook.Probe{Name: "p", Query: test.query})
			if a.Reason != "" {
				t.Fatalf("%s: %s", a.Reason, a.Detail)
			}
			same(t, "WindowStart", a.WindowStart, test.start)
			same(t, "Oldest", a.Oldest, test.oldest)
			same(t, "Stalest", a.Stalest, test.stalest)
			if len(a.Newest) != len(test.newest) {
				t.Fatalf("Newest = %v, want %v", a.Newest, test.newest)
			}
			for i := range a.Newest {
				same(t, "Newest", a.Newest[i], test.newest[i])
			}
			if !test.skipValue && a.Max.Raw != test.value {
				t.Errorf("value %s, want %s", a.Max.Raw, test.value)
			}
		})
	}
}

func same(t *testing.T, what string, got, want time.Time) {
	t.Helper()
	if !got.Equal(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestIdenticalQueriesAreAskedOnce(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "x", -10, 0, constant(1))
	p := polling(t, f, newClock(noon))
	doc := document(runbook.Probe{Name: "a", Query: "max(x)"}, runbook.Probe{Name: "b", Query: "max(x)"})
	for range 2 {
		p.Poll(context.Background(), doc, []Ask{{Probe: "a"}, {Probe: "b"}, {Probe: "a"}}, 0)
	}
	if n := f.count("max(x)"); n != 2 {
		t.Errorf("max(x) was asked %d times in two polls", n)
	}
	if n := f.count("time()"); n != 3 {
		t.Errorf("the time was asked %d times: once before the first poll and once in each", n)
	}
}

// https://github.com/prometheus/prometheus/issues/14607
func TestTheServersClockDecides(t *testing.T) {
	for _, skew := range []time.Duration{437 * sec, -6 * time.Minute} {
		f := newFake(t, noon)
		scrapes(f, "x", -10, 0, counter)
		p := polling(t, f, newClock(noon.Add(skew)))
		o := p.Poll(context.Background(), document(runbook.Probe{Name: "a", Query: "x"}), []Ask{{Probe: "a"}}, 0)
		same(t, "At", o.At, noon)
		if o.Offset != -skew || o.Answers[0].Reason != "" || o.Answers[0].Stalest != noon {
			t.Errorf("skew %v: offset %v, answer %+v", skew, o.Offset, o.Answers[0])
		}
		if !strings.Contains(o.Skew(), "clock of prometheus") {
			t.Errorf("skew %v is not told: %q", skew, o.Skew())
		}
	}
}

func TestTheOffsetFollowsTheLastPoll(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "x", -10, 100, counter)
	clock := newClock(noon)
	p := polling(t, f, clock)
	doc, asks := document(runbook.Probe{Name: "a", Query: "x"}), []Ask{{Probe: "a"}}
	p.Poll(context.Background(), doc, asks, 0)
	f.setNow(noon.Add(40 * sec)) // the server's clock is put forward
	p.Poll(context.Background(), doc, asks, 0)
	if o := p.Poll(context.Background(), doc, asks, 0); o.Offset != 40*sec {
		t.Errorf("offset %v, want 40s", o.Offset)
	}
}

func TestAbsentNeedsItsWitness(t *testing.T) {
	errors := runbook.Probe{Name: "errors", Query: `sum(rate(errors[5s]))`, Absent: &runbook.Absent{As: 0, Witness: "reads"}}
	witness := runbook.Probe{Name: "reads", Query: `sum(rate(reads[8s]))`}
	f := newFake(t, noon)
	scrapes(f, "reads", -30, 0, counter)
	a := pollOne(t, f, errors, witness)
	if !a.Assumed || a.Count != 1 || a.Max.Raw != "0" || a.Reason != "" {
		t.Errorf("with a witness: %+v", a)
	}
	same(t, "WindowStart", a.WindowStart, noon.Add(-8*sec))

	a = pollOne(t, newFake(t, noon), errors, witness)
	if a.Assumed || a.Reason != NotAlive {
		t.Errorf("without a witness: %+v", a)
	}
	scrapes(f, "errors", -30, 0, counter)
	if a = pollOne(t, f, errors, witness); a.Assumed || a.Max.Raw != "100" {
		t.Errorf("with data: %+v", a)
	}
}

func TestAliveQuery(t *testing.T) {
	probe := runbook.Probe{Name: "gone", Query: `absent(leader)`, Alive: `up`}
	if a := pollOne(t, newFake(t, noon), probe); a.Reason != NotAlive {
		t.Errorf("nothing is scraped: %+v", a)
	}
	f := newFake(t, noon)
	scrapes(f, "up", -10, -2, constant(1))
	a := pollOne(t, f, probe)
	if a.Reason != "" || a.Max.Raw != "1" {
		t.Fatalf("alive: %+v", a)
	}
	same(t, "Oldest", a.Oldest, noon.Add(-2*sec))
	same(t, "Stalest", a.Stalest, noon.Add(-2*sec))
}

func TestSources(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, `leaders{cell="a"}`, -10, 0, constant(1))
	scrapes(f, `leaders{cell="b"}`, -10, 0, constant(1))
	if a := pollOne(t, f, runbook.Probe{Name: "l", Query: "sum(leaders)", Sources: 2}); a.Reason != "" {
		t.Errorf("two of two: %s", a.Detail)
	}
	a := pollOne(t, f, runbook.Probe{Name: "l", Query: "sum(leaders)", Sources: 3})
	if a.Reason != SourceCount || !strings.Contains(a.Detail, "2 series behind leaders, at least 3") {
		t.Errorf("two of three: %s %s", a.Reason, a.Detail)
	}
}

const someRules = `{"status":"success","data":{"groups":[{"name":"g","file":"f","interval":15,"rules":[
 {"type":"recording","name":"job:reads:rate10s","query":"sum(rate(reads[10s] offset 2s))","health":"ok"},
 {"type":"recording","name":"job:reads:again","query":"max_over_time(job:reads:rate10s[1m])","health":"ok"},
 {"type":"alerting","name":"Deep","query":"queue > 3","duration":60,"labels":{},"annotations":{},"alerts":[],"health":"ok"}
]}]}}`

func TestRecordedSeriesCarryTheirWindows(t *testing.T) {
	for _, test := range []struct {
		name, query, rules string
		memory             time.Duration
		oldest, start      time.Duration // before noon
		reason             Reason
	}{
		{name: "resolved", query: "job:reads:rate10s", rules: someRules, oldest: (2 + 15 + 12) * sec},
		{name: "through another rule", query: "job:reads:again", rules: someRules, oldest: (2 + 15 + 60 + 15 + 12) * sec},
		{name: "range over recorded", query: "max_over_time(job:reads:rate10s[20s])", rules: someRules, start: (20 + 15 + 12) * sec},
		{name: "alert", query: `sum(ALERTS{alertname="Deep"})`, rules: someRules, oldest: (2 + 15 + 60) * sec},
		{name: "unknown rule", query: "job:other:rate", rules: someRules, reason: Unresolved},
		{name: "no rules endpoint", query: "job:reads:rate10s", reason: Unresolved},
		{name: "memory instead", query: "job:reads:rate10s", memory: 42 * sec, oldest: 44 * sec},
		{name: "memory of a summary", query: "max(queue)", memory: 40 * sec, oldest: 42 * sec},
		{name: "no name, and rules unknown", query: `count({job="x"})`, reason: Unresolved},
		{name: "no name, every rule may stand behind", query: `count({job="x"})`, rules: someRules, oldest: (2 + 15 + 60 + 15 + 12) * sec},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, noon)
			f.rules = test.rules
			for _, series := range []string{"job:reads:rate10s", "job:reads:again", "job:other:rate", "queue", `x{job="x"}`, `ALERTS{alertname="Deep",alertstate="firing"}`} {
				scrapes(f, series, -30, -2, constant(1))
			}
			a := pollOne(t, f, runbook.Probe{Name: "p", Query: test.query, Memory: test.memory})
			if a.Reason != test.reason {
				t.Fatalf("reason %q (%s), want %q", a.Reason, a.Detail, test.reason)
			}
			if test.reason != "" {
				return
			}
			if test.oldest > 0 {
				same(t, "Oldest", a.Oldest, noon.Add(-test.oldest))
			}
			if test.start > 0 {
				same(t, "WindowStart", a.WindowStart, noon.Add(-test.start))
			}
		})
	}
}

func TestRulesAreRemembered(t *testing.T) {
	f := newFake(t, noon)
	f.rules = someRules
	scrapes(f, "job:reads:rate10s", -30, 30, constant(1))
	clock := newClock(noon)
	p := polling(t, f, clock)
	doc := document(runbook.Probe{Name: "a", Query: "job:reads:rate10s"}, runbook.Probe{Name: "b", Query: "job:new:rate"})
	for range 3 {
		p.Poll(context.Background(), doc, []Ask{{Probe: "a"}}, 0)
	}
	if n := f.count("rules"); n != 1 {
		t.Errorf("rules asked %d times", n)
	}
	p.Poll(context.Background(), doc, []Ask{{Probe: "b"}}, 0)
	if n := f.count("rules"); n != 1 {
		t.Errorf("rules asked %d times within seconds", n)
	}
	clock.Set(noon.Add(15 * sec))
	f.setNow(noon.Add(15 * sec))
	p.Poll(context.Background(), doc, []Ask{{Probe: "b"}}, 0)
	if n := f.count("rules"); n != 2 {
		t.Errorf("a missing rule was not looked for again: asked %d times", n)
	}
}

func TestPropagation(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, `rewarm_controls_version{service="catalog",instance="a"}`, -10, -1, constant(7))
	scrapes(f, `rewarm_controls_version{service="catalog",instance="b"}`, -10, -3, constant(8))
	scrapes(f, `rewarm_controls_version{service="catalog",instance="c"}`, -10, 0, constant(6))
	scrapes(f, `rewarm_controls_version{service="other",instance="a"}`, -10, 0, constant(9))
	p := polling(t, f, newClock(noon))
	o := p.Poll(context.Background(), document(), nil, 7)
	want := Propagation{Version: 7, Reported: true, Processes: 3, Obeying: 2, Oldest: noon.Add(-3 * sec)}
	if o.Propagation == nil || *o.Propagation != want {
		t.Errorf("got %+v, want %+v", o.Propagation, want)
	}
	if o = p.Poll(context.Background(), document(), nil, 0); o.Propagation != nil {
		t.Errorf("not asked for: %+v", o.Propagation)
	}
	o = polling(t, newFake(t, noon), newClock(noon)).Poll(context.Background(), document(), nil, 7)
	if o.Propagation == nil || o.Propagation.Reported || o.Propagation.Reason != "" {
		t.Errorf("not reported: %+v", o.Propagation)
	}
}

func TestOneOddSelectorDoesNotBlindTheOthers(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "good", -10, 0, constant(1))
	scrapes(f, "odd", -10, 0, constant(1))
	f.refuse = func(q string) bool { return strings.Contains(q, "timestamp(odd)") }
	p := polling(t, f, newClock(noon))
	doc := document(runbook.Probe{Name: "good", Query: "max(good)"}, runbook.Probe{Name: "odd", Query: "max(odd)"})
	o := p.Poll(context.Background(), doc, []Ask{{Probe: "good"}, {Probe: "odd"}}, 0)
	if a := o.Answers[0]; a.Reason != "" || a.Oldest.IsZero() {
		t.Errorf("good: %+v", a)
	}
	if a := o.Answers[1]; a.Reason != Rejected || !strings.Contains(a.Detail, "how old the samples of odd are") {
		t.Errorf("odd: %+v", a)
	}
}

func TestRungsAreExpanded(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "reads", -10, 0, constant(10))
	doc := document(runbook.Probe{Name: "predicted", Query: "sum(reads) * (${to} - ${from})"}, runbook.Probe{Name: "plain", Query: "sum(reads)"})
	gate := runbook.Gate{{{Probe: "plain", Operand: runbook.Operand{Probe: "predicted"}}}, {{Probe: "plain"}}}
	asks := Asks(doc, gate, "10", "25")
	if len(asks) != 2 || asks[0] != (Ask{Probe: "plain"}) || asks[1] != (Ask{"predicted", "10", "25"}) {
		t.Fatalf("asks %+v", asks)
	}
	o := polling(t, f, newClock(noon)).Poll(context.Background(), doc, append(asks, Ask{Probe: "predicted"}, Ask{Probe: "missing"}), 0)
	// https://github.com/argoproj/argo-rollouts/issues/1591
	if a := o.Answer(asks[1]); a == nil || a.Max.Raw != "150" || a.Query != "sum(reads) * (25 - 10)" {
		t.Errorf("rung: %+v", a)
	}
	if a := o.Answers[2]; a.Reason == "" {
		t.Errorf("a query without its rung was asked: %+v", a)
	}
	if a := o.Answers[3]; a.Reason != NotAsked {
		t.Errorf("a probe that is not there: %+v", a)
	}
}

// https://github.com/llm-d/llm-d-autoscaling/issues/385
func TestTheSameSamplesAreOneObservation(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "x", -10, 0, counter)
	clock := newClock(noon)
	p := polling(t, f, clock)
	doc, asks := document(runbook.Probe{Name: "x", Query: "max(x)"}), []Ask{{Probe: "x"}}
	first := p.Poll(context.Background(), doc, asks, 0)
	clock.Set(noon.Add(sec))
	f.setNow(noon.Add(sec))
	second := p.Poll(context.Background(), doc, asks, 0)
	if Moved(second.Answer(asks[0]), first.Answer(asks[0])) {
		t.Error("the same sample counts twice")
	}
	f.scrape(noon.Add(sec), "x", 5)
	third := p.Poll(context.Background(), doc, asks, 0)
	if !Moved(third.Answer(asks[0]), first.Answer(asks[0])) {
		t.Error("a new sample does not count")
	}
	if Moved(nil, first.Answer(asks[0])) || !Moved(first.Answer(asks[0]), nil) {
		t.Error("nothing now has not moved, nothing before has")
	}
}

func TestWhatVouchesMustBeAnswered(t *testing.T) {
	partial := `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]},"warnings":["partial response"]}`
	alive := runbook.Probe{Name: "p", Query: "absent(leader)", Alive: "up"}
	absent := runbook.Probe{Name: "p", Query: "sum(nothing)", Absent: &runbook.Absent{As: 0, Witness: "w"}}
	for _, test := range []struct {
		name   string
		probe  runbook.Probe
		others []runbook.Probe
		bodies map[string]string
		reason Reason
		says   string
	}{
		{name: "alive query refused", probe: alive, bodies: map[string]string{"up": `{"status":"error","errorType":"execution","error":"odd"}`}, reason: NotAlive, says: "was not answered"},
		{name: "alive query partial", probe: alive, bodies: map[string]string{"up": partial}, reason: Partial},
		{name: "alive query wrong", probe: runbook.Probe{Name: "p", Query: "absent(leader)", Alive: "1"}, reason: Rejected, says: "the alive query: "},
		{name: "no witness", probe: absent, reason: NotAlive, says: "its witness w cannot be asked"},
		{name: "witness partial", probe: absent, others: []runbook.Probe{{Name: "w", Query: "up"}}, bodies: map[string]string{"up": partial}, reason: NotAlive, says: "does not vouch"},
		{name: "witness NaN", probe: absent, others: []runbook.Probe{{Name: "w", Query: "up / 0 * 0"}}, reason: NotAlive, says: "NaN"},
		{name: "a query that cannot be placed", probe: runbook.Probe{Name: "p", Query: "up @ 1"}, reason: Rejected, says: "@ modifier"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, noon)
			scrapes(f, "up", -10, 0, constant(1))
			for query, body := range test.bodies {
				f.bodies[query] = body
			}
			a := pollOne(t, f, test.probe, test.others...)
			if a.Reason != test.reason || !strings.Contains(a.Detail, test.says) || a.Assumed {
				t.Errorf("%s: %s", a.Reason, a.Detail)
			}
		})
	}
}

func TestPartialAgesAreNotBelieved(t *testing.T) {
	f := newFake(t, noon)
	scrapes(f, "up", -10, 0, constant(1))
	s := selector{vector: "up"}
	f.bodies[batchQuery([]string{s.newest(), s.stalest()})] = `{"status":"success","data":{"resultType":"vector","result":[]},"warnings":["No StoreAPIs matched for this query"]}`
	a := pollOne(t, f, runbook.Probe{Name: "p", Query: "up"})
	if a.Reason != Partial || !strings.Contains(a.Detail, "how old the samples of up are is not known") {
		t.Errorf("%s: %s", a.Reason, a.Detail)
	}
}

func TestPropagationThatCannotBeAsked(t *testing.T) {
	f := newFake(t, noon)
	f.refuse = func(q string) bool { return strings.Contains(q, "rewarm_controls_version") }
	o := polling(t, f, newClock(noon)).Poll(context.Background(), document(), nil, 7)
	if o.Propagation.Reported || o.Propagation.Reason != Rejected || o.Propagation.Detail == "" {
		t.Errorf("%+v", o.Propagation)
	}
}

func TestACalledOffPoll(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := polling(t, newFake(t, noon), newClock(noon)).Poll(ctx, document(runbook.Probe{Name: "p", Query: "up"}), []Ask{{Probe: "p"}}, 0)
	if o.Reason != Transport || !strings.Contains(o.Answers[0].Detail, "called off") {
		t.Errorf("%+v", o)
	}
}

func TestTimeThatIsNone(t *testing.T) {
	for _, body := range []string{vector(`[]`), `{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`} {
		f := newFake(t, noon)
		f.bodies["time()"] = body
		o := polling(t, f, newClock(noon)).Poll(context.Background(), document(), nil, 1)
		if o.Reason != Malformed || o.Propagation.Reason != Malformed {
			t.Errorf("%s: %+v", body, o)
		}
	}
}

package demand

import (
	"encoding/json"
	"strings"
	"testing"
)

// report sizes inputs that must parse.
func report(t *testing.T, texts map[string]string, after ...string) Report {
	t.Helper()
	in, err := Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	var states []State
	for _, text := range after {
		state, err := ParseState(text, in)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
	}
	return Size(in, states...)
}

func (r Report) figure(t *testing.T, key string) Figure {
	t.Helper()
	for _, f := range r.Figures {
		if f.Key == key {
			return f
		}
	}
	t.Fatalf("no figure %s", key)
	return Figure{}
}

func (c Check) figure(t *testing.T, key string) Figure {
	t.Helper()
	return Report{Figures: c.Figures}.figure(t, key)
}

func TestFiguresOfTheSources(t *testing.T) {
	guide := map[string]string{"reads": "300000", "hit-ratio": "90%", "cell-share": "4%"}
	for _, c := range []struct {
		name   string
		inputs map[string]string
		want   map[string]string
	}{
		{"the case study", nil, map[string]string{
			keySteadyMisses: "1560", keyHotReads: "33600", keyKnee: "8", keyExposed: "36000",
			keyCellLoss: "37092", keyCellLossOver: "11.59125", keyLocalRefreshes: "240",
			keyJointRefreshes: "24", keyAvoidedAttempts: "33576",
		}},
		{"one of 24 nodes, as the guide rounds it", guide, map[string]string{keyExposed: "12000", keySteadyMisses: "30000"}},
		{"one of 24 nodes exactly", with(guide, "cell-share", "1/24"), map[string]string{keyExposed: "12500", keyCellLoss: "41250"}},
		{"ten points of hits lost", with(guide, "hit-ratio", "0.8"), map[string]string{keySteadyMisses: "60000"}},
		{"50 processes, two seconds", map[string]string{"processes": "50", "local-ttl": "2s"}, map[string]string{keyLocalRefreshes: "25"}},
		{"300 processes, one second", map[string]string{"processes": "300"}, map[string]string{keyLocalRefreshes: "300"}},
		{"four reads a process at 250 ms", map[string]string{"local-ttl": "250ms"}, map[string]string{keyLocalRefreshes: "960"}},
		{"no tier, no coalescing", map[string]string{"local-ttl": None, "domains": None}, map[string]string{
			keyLocalRefreshes: "33600", keyJointRefreshes: "33600", keyAvoidedAttempts: "0"}},
		{"more processes than reads", map[string]string{"reads": "100"}, map[string]string{keyLocalRefreshes: "28", keyAvoidedAttempts: "4"}},
		{"nothing is hot", map[string]string{"hot-share": "0"}, map[string]string{keyKnee: "0", keyAvoidedAttempts: "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := report(t, c.inputs)
			for key, want := range c.want {
				if f := r.figure(t, key); f.Value.decimal(jsonDecimals) != want {
					t.Errorf("%s = %s by %s, want %s", key, f.Value.decimal(jsonDecimals), f.Work, want)
				}
			}
		})
	}
}

func with(texts map[string]string, name, text string) map[string]string {
	all := map[string]string{name: text}
	for n, t := range texts {
		if n != name {
			all[n] = t
		}
	}
	return all
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		name, after            string
		inputs                 map[string]string
		predicted              string
		affordable, answerable bool
		correctness            string // a part of the sentence
		admission              string // likewise
	}{
		{"the case's expiry is coalesced", "expiry", nil, "1147.2", true, true,
			"no read needs", "only while equal refreshes stay bounded: if every read refreshes it is 34,723.2 attempts/s"},
		{"an expiry on the local tier alone", "expiry", map[string]string{"domains": None}, "1363.2", true, true,
			"no read needs", "only while"},
		{"an expiry that nothing bounds", "expiry", map[string]string{"domains": None, "local-ttl": None}, "34723.2", false, true,
			"31,523.2 reads/s get a copy that says how old it is and why, or a refusal until a refresh has come back, within 120 s", "over the limit"},
		{"an expiry where stale is forbidden", "expiry", map[string]string{"domains": None, "local-ttl": None, "stale-window": None}, "34723.2", false, false,
			"31,523.2 reads/s are refused, for stale is forbidden", "over the limit"},
		{"the case's cell", "cell-loss", nil, "37092", false, true,
			"33,892 reads/s get a copy that says how old it is and why, or a refusal; refilling takes at least about 113.9 s, inside the 120 s of stale if the copies are at most about 6.15 s old",
			"the loss of a cell with 30 % of the reads asks the origin for 37,092 attempts/s, over the limit of 3,200 attempts/s"},
		{"a larger cell outlasts its copies", "cell-loss=0.4", nil, "48936", false, false,
			"stale ends after 120 s, so readers of what is missing then are refused", "over the limit"},
		{"one percent fits", "cell-loss=1%", nil, "2744.4", true, true, "no read needs", "2,744.4 attempts/s, inside the limit of 3,200 attempts/s"},
		{"exactly the limit fits", "cell-loss=0", map[string]string{"limit": "1560"}, "1560", true, true, "no read needs", "inside the limit"},
		{"nothing is left to refill with", "cell-loss=0.1", map[string]string{"limit": "1000"}, "13404", false, false,
			"nothing is refilled before the 120 s of stale end", "over the limit"},
		{"a cold region", "cold-region", nil, "120000", false, false, "refilling takes at least 250 s", "the cold start of a region with 100 % of the reads"},
		{"one percent of a cold region", "cold-region=1%", nil, "2744.4", true, true, "no read needs", "inside the limit"},
		{"the whole tier", "tier-loss", nil, "120000", false, false, "116,800 reads/s", "the loss of the whole tier asks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := report(t, c.inputs, c.after).After[0]
			if got := check.Predicted.Value.decimal(jsonDecimals); got != c.predicted {
				t.Errorf("predicted %s by %s, want %s", got, check.Predicted.Work, c.predicted)
			}
			if check.Affordable != c.affordable || check.Answerable != c.answerable {
				t.Errorf("affordable %v, answerable %v, want %v and %v", check.Affordable, check.Answerable, c.affordable, c.answerable)
			}
			if !strings.Contains(check.Correctness, c.correctness) {
				t.Errorf("correctness %q does not say %q", check.Correctness, c.correctness)
			}
			if !strings.Contains(check.Admission, c.admission) {
				t.Errorf("admission %q does not say %q", check.Admission, c.admission)
			}
		})
	}
}

func TestGoodputLostToOverload(t *testing.T) {
	const measured = "8400=2800,16800=1400"
	for _, c := range []struct {
		name, decline, curve, limit, share string
		goodput, lost                      string
	}{
		{"modelled at eight times the knee", "0.5", "", "3200", "28%", "933.333333", "3266.666667"},
		{"a plateau", "0", "", "3200", "28%", "4200", "0"},
		{"measured, between the knee and the first point", "0.5", measured, "3200", "5.25%", "3500", "700"},
		{"measured at a point", "0.5", measured, "3200", "7%", "2800", "1400"},
		{"measured, beyond the last point", "0.5", measured, "3200", "100%", "1400", "2800"},
		{"not beyond the knee", "0.5", "", "3200", "3.5%", "4200", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inputs := map[string]string{"hit-ratio": "1", "decline": c.decline, "limit": c.limit}
			if c.curve != "" {
				inputs["goodput-curve"] = c.curve
			}
			r := report(t, inputs, "cell-loss="+c.share)
			if got := r.After[0].figure(t, "unadmitted_goodput_per_second").Value.decimal(jsonDecimals); got != c.goodput {
				t.Errorf("goodput %s, want %s", got, c.goodput)
			}
			if got := r.After[0].figure(t, "goodput_lost_per_second").Value.decimal(jsonDecimals); got != c.lost {
				t.Errorf("lost %s, want %s", got, c.lost)
			}
		})
	}
}

func TestKeyRiskIsFourFigures(t *testing.T) {
	for _, c := range []struct {
		inputs map[string]string
		want   string
	}{
		{nil, "28 % | 54 ms | 24 | 1,640 attempts/s"},
		{map[string]string{"domains": None, "hot-share": "2%", "miss-cost": "3s"}, "2 % | 3 s | 240 | 1,640 attempts/s"},
		{map[string]string{"domains": None, "local-ttl": None}, "28 % | 54 ms | 1,814.4 | 1,640 attempts/s"},
		{map[string]string{"hit-ratio": "97%"}, "28 % | 54 ms | 24 | -400 attempts/s"},
	} {
		var texts []string
		for _, f := range report(t, c.inputs).Risk.Figures() {
			texts = append(texts, f.Text())
		}
		if got := strings.Join(texts, " | "); got != c.want {
			t.Errorf("%v: %s, want %s", c.inputs, got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	const depends = "the loss of a cell with 30 % of the reads asks the origin for 37,092 attempts/s, over the limit of 3,200 attempts/s: one lost cell cannot be afforded, so availability depends on stale service or a warm snapshot"
	for _, c := range []struct {
		inputs map[string]string
		want   []string // parts, one a note
	}{
		{nil, []string{depends}},
		{map[string]string{"cell-share": "1%"}, nil},
		{map[string]string{"limit": "40000"}, []string{"the limit of 40,000 attempts/s is not below the knee of 4,200 attempts/s"}},
		{map[string]string{"hit-ratio": "90%"}, []string{"the steady misses of 12,000 misses/s are over the limit", "depends on stale service"}},
	} {
		notes := report(t, c.inputs).Notes
		if len(notes) != len(c.want) {
			t.Fatalf("%v: %d notes %q, want %d", c.inputs, len(notes), notes, len(c.want))
		}
		for i, part := range c.want {
			if !strings.Contains(notes[i], part) {
				t.Errorf("%v: %q does not say %q", c.inputs, notes[i], part)
			}
		}
	}
}

func TestJSONHasItsKeysInOrder(t *testing.T) {
	const want = `{"steady_misses_per_second":1560,"hot_key_reads_per_second":33600,"knee_amplification":8,` +
		`"exposed_reads_per_second":36000,"cell_loss_attempts_per_second":37092,"cell_loss_over_limit":11.59125,` +
		`"local_tier_refreshes_per_second":240,"coalesced_refreshes_per_second":24,"avoided_attempts_per_second":33576,` +
		`"key_risk":{"concentration_ratio":0.28,"miss_cost_seconds":0.054,"independent_refreshers":24,"headroom_attempts_per_second":1640},` +
		`"origin_curve":"modelled","states":[{"state":"expiry","share_ratio":0.28,`
	first, err := json.Marshal(report(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(first), want) {
		t.Errorf("the JSON begins\n%s\nwant\n%s", first[:len(want)], want)
	}
	if again, _ := json.Marshal(report(t, nil)); string(again) != string(first) {
		t.Error("the same inputs gave other bytes")
	}
	if strings.Contains(string(first), `"after"`) {
		t.Error("the JSON has after although nothing was asked for")
	}
}

package probes

import (
	"strings"
	"testing"
	"time"
)

func TestAnalyse(t *testing.T) {
	for _, test := range []struct {
		query   string
		reaches []time.Duration // selector by selector
		oldest  string          // of the first selector
	}{
		{`up`, []time.Duration{0}, `min(timestamp(up))`},
		{`-up{job="a"}`, []time.Duration{0}, `min(timestamp(up{job="a"}))`},
		{`sum(rate(x[5m] offset 1m)) / scalar(y)`, []time.Duration{6 * time.Minute, 0}, ``},
		{`max_over_time(up[3s:1s])`, []time.Duration{3 * sec}, `min(min_over_time(timestamp(up)[3s:1s]))`},
		{`max_over_time(up[3s:])`, []time.Duration{3 * sec}, `min(min_over_time(timestamp(up)[3s:]))`},
		{`max_over_time(sum(rate(x[4s]))[3s:1s] offset 2s)`, []time.Duration{9 * sec}, ``},
		{`max_over_time(min_over_time(up[1m:5s] offset 10s)[2m:30s] offset 1h)`, []time.Duration{time.Hour + 190*sec},
			`min(min_over_time(min_over_time(timestamp(up)[1m:5s] offset 10s)[2m:30s] offset 1h))`},
		{`{"strange.name"}`, []time.Duration{0}, `min(timestamp({__name__="strange.name"}))`},
		{`histogram_quantile(0.99, sum by (le) (rate(x_bucket[1m])))`, []time.Duration{time.Minute}, ``},
		{`a or vector(0)`, []time.Duration{0}, `min(timestamp(a))`},
	} {
		found, err := analyse(test.query)
		if err != nil || len(found) != len(test.reaches) {
			t.Errorf("%s: %d selectors, %v", test.query, len(found), err)
			continue
		}
		for i, s := range found {
			if s.reach() != test.reaches[i] {
				t.Errorf("%s: selector %d reaches %v, want %v", test.query, i, s.reach(), test.reaches[i])
			}
		}
		if test.oldest != "" && found[0].oldest() != test.oldest {
			t.Errorf("%s: asks %s, want %s", test.query, found[0].oldest(), test.oldest)
		}
	}
}

func TestQueriesThatCannotBePlaced(t *testing.T) {
	for query, says := range map[string]string{
		`x @ 1`: "@ modifier", `x @ start()`: "@ modifier", `max_over_time(x[5m:1m] @ end())`: "@ modifier",
		`x offset -5m`: "future", `rate(x[5m] offset -5m)`: "future", `max_over_time(x[5m:] offset -1m)`: "future",
		`1`: "selects no series", `vector(0)`: "selects no series", `time()`: "selects no series",
		`rate(x`: "unclosed", ``: "no expression",
	} {
		if _, err := analyse(query); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", query, err, says)
		}
	}
}

// What is asked about a query's ages must itself be a query that reaches as far.
func FuzzAnalyse(f *testing.F) {
	for _, query := range []string{
		`up`, `sum(rate(x[5m] offset 1m)) / scalar(y)`, `max_over_time(up[3s:1s] offset 2s)`,
		`max_over_time(sum(rate(x{a=~"b|c"}[4s]))[3s:1s])`, `{__name__=~"a:.*",b!="\x1b"}`, `count(up{job="catalog"} == 1)`,
		`{"a.b"}`, `absent(ALERTS)`, `max_over_time(min_over_time(up[1m:5s] offset 10s)[2m:30s] offset 1h)`, `x[1m]`, `x anchored`,
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		found, err := analyse(query)
		if err != nil {
			return
		}
		for _, s := range found {
			if s.reach() < 0 || s.shift() < 0 || s.reach() < s.shift()+s.window {
				t.Errorf("%q: reach %v, shift %v, window %v", query, s.reach(), s.shift(), s.window)
			}
			questions := []string{s.newest(), s.stalest(), s.sources()}
			if s.instant() {
				questions = append(questions, s.oldest())
			}
			for i, q := range questions {
				again, err := analyse(q)
				if err != nil || len(again) != 1 || again[0].vector != s.vector {
					t.Errorf("%q asks %q: %v", query, q, err)
					continue
				}
				if i == 3 && again[0].reach() != s.reach() || i < 3 && again[0].reach() != s.shift() {
					t.Errorf("%q asks %q, which reaches %v", query, q, again[0].reach())
				}
			}
		}
		if q := batchQuery([]string{found[0].newest(), found[0].stalest()}); len(q) > 0 {
			if _, err := analyse(q); err != nil {
				t.Errorf("%q is batched as %q: %v", query, q, err)
			}
		}
	})
}

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// exchange asks the lab's Prometheus and gives status and body.
func (b *bench) exchange(method, path string, form url.Values) (int, string) {
	b.t.Helper()
	address := "http://prometheus.example:9090/" + strings.TrimPrefix(path, "/")
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(form.Encode())
	} else if len(form) > 0 {
		address += "?" + form.Encode()
	}
	r, err := http.NewRequestWithContext(context.Background(), method, address, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := (&http.Client{Transport: b.Transport()}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestAPI walks through testdata/api: a request a case, with the answer to the
// byte. -rewrite writes the answers anew.
func TestAPI(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins + time.Minute})
	datadriven.RunTest(t, "testdata/api", func(t *testing.T, d *datadriven.TestData) string {
		var path string
		d.ScanArgs(t, "path", &path)
		form := url.Values{}
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			if name, value, ok := strings.Cut(line, "="); ok {
				form.Add(name, value)
			}
		}
		status, body := b.exchange(strings.ToUpper(d.Cmd), path, form)
		return fmt.Sprintf("%d %s\n", status, regexp.MustCompile(`"goVersion":"[^"]*"`).ReplaceAllString(strings.TrimSpace(body), `"goVersion":"…"`))
	})
}

// An answer is given at the time that was asked for.
func TestAnswersTheTimeAsked(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins + 2*time.Minute})
	at := b.Clock().Now().Add(-time.Minute)
	query := url.Values{"query": {"timestamp(catalog_retry_waiters)"}, "time": {fmt.Sprint(at.Unix())}}
	_, body := b.exchange(http.MethodPost, "/api/v1/query", query)
	if want := fmt.Sprintf(`"value":[%d,"%d"]`, at.Unix(), at.Unix()); !strings.Contains(body, want) {
		t.Errorf("asked for %d: %s", at.Unix(), body)
	}
}

// Ten minutes are kept, and no more, however long a lab lives.
func TestRetentionIsBounded(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins + time.Second, ScrapeEvery: 100 * time.Millisecond})
	b.forward(2 * time.Minute)
	if n := b.ask("count_over_time(catalog_retry_waiters[1h])"); n != keptScrapes {
		t.Errorf("%v samples are kept", n)
	}
	if v := b.ask("catalog_retry_waiters offset 50s"); v < 0 {
		t.Error(v)
	}
	if _, err := b.query("catalog_retry_waiters offset 90s"); err == nil {
		t.Error("a sample that was dropped is still answered")
	}
}

// Selectors of every kind find the same samples, also those that only look at one moment.
func TestSelectors(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: launchLapses + 10*time.Second})
	b.forward(300 * time.Millisecond)
	for query, want := range map[string]float64{
		`count({job="catalog", __name__=~"catalog_reads_total|up"})`:                                     5 + 240,
		`count(up{instance!="catalog-001"})`:                                                             239,
		`count(up{instance=~"catalog-00."})`:                                                             9,
		`time() - timestamp(catalog_retry_waiters)`:                                                      0.3,
		`time() - timestamp(catalog_retry_waiters offset 10s)`:                                           10.3,
		`time() - min_over_time(timestamp(catalog_retry_waiters)[5s:1s])`:                                4.3,
		`count_over_time(catalog_retry_waiters[5s])`:                                                     5,
		`count_over_time(catalog_retry_waiters[5s:])`:                                                    5,
		`max_over_time(catalog_origin_reserved_rate{partition="checkout"}[30s] offset 1m)`:               500,
		`catalog_origin_reserved_rate{partition="checkout"} offset 2m`:                                   500,
		`sum(rate(catalog_origin_completed_total{partition="checkout"}[1m] offset 2m))`:                  500,
		`histogram_quantile(1, sum by (le) (rate(catalog_refresh_leader_seconds_bucket[5m]))) >= bool 2`: 1,
	} {
		if v := b.ask(query); v < want-1e-6 || v > want+1e-6 {
			t.Errorf("%s is %v, want %v", query, v, want)
		}
	}
}

// A request that was given up is not answered.
func TestCancelledRequest(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://lab/api/v1/query?query=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := b.Transport().RoundTrip(r); !errors.Is(err, context.Canceled) {
		if err == nil {
			resp.Body.Close()
		}
		t.Errorf("answered with %v", err)
	}
}

// All counters of the page are there from the start, at 0.
func TestCountersStartAtZero(t *testing.T) {
	m := newCase(small(), 1, caseBegins)
	m.orders = &m.fleet.obeyed
	for _, f := range newPage(m, noReport).families {
		for _, s := range f.series {
			if f.kind == "counter" && s.value() != 0 {
				t.Errorf("%s starts at %v", s.text, s.value())
			}
		}
		if f.kind == "counter" && len(f.series) == 0 {
			t.Errorf("%s has no series", f.name)
		}
	}
}

package lab

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"encoding/json"
)

// The times of the case study.
var (
	launch       = clock(10, 0, 0)
	launchLapses = clock(10, 3, 0)
	cellLost     = clock(10, 7, 0)
)

// newCase is the service in the case study.
func newCase(p *params, seed uint64, at time.Duration) *model {
	story := CaseStudy()
	return newModel(p, &story, seed, at)
}

// bench is a lab with the clients that a test needs.
type bench struct {
	*Lab
	t     testing.TB
	redis net.Conn
	lines *bufio.Reader

	transport http.RoundTripper // that is asked
}

// newBench makes a lab. One that starts in the collapse, as most do, does not go
// through the whole case before.
func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	if o.From == 0 {
		o.begin = cellLost - 20*time.Second
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	conn, err := l.DialRedis(context.Background(), "tcp", "lab:6379")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &bench{Lab: l, t: t, redis: conn, lines: bufio.NewReader(conn), transport: l.Transport()}
}

// set writes a control by hand.
func (b *bench) set(control, value string) {
	b.t.Helper()
	b.do("HSET", "rewarm:{catalog}:controls", control, value)
}

func (b *bench) do(args ...string) string {
	b.t.Helper()
	if _, err := io.WriteString(b.redis, resp(args...)); err != nil {
		b.t.Fatal(err)
	}
	line, err := b.lines.ReadString('\n')
	if err != nil || strings.HasPrefix(line, "-") {
		b.t.Fatalf("%q: %q, %v", args, line, err)
	}
	return strings.TrimSpace(line)
}

// forward lets the incident go on.
func (b *bench) forward(d time.Duration) {
	b.t.Helper()
	if err := b.Clock().Wait(context.Background(), b.Clock().Now().Add(d)); err != nil {
		b.t.Fatal(err)
	}
}

// ask is the value of a query with one series.
func (b *bench) ask(query string) float64 {
	b.t.Helper()
	v, err := b.query(query)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *bench) query(query string) (float64, error) {
	form := url.Values{"query": {query}}
	found, err := (&http.Client{Transport: b.transport}).PostForm("http://lab/api/v1/query", form)
	if err != nil {
		return 0, err
	}
	defer found.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(found.Body).Decode(&answer); err != nil {
		return 0, err
	}
	if len(answer.Data.Result) != 1 {
		return 0, fmt.Errorf("%s: %d series %s", query, len(answer.Data.Result), answer.Error)
	}
	var v float64
	_, err = fmt.Sscan(answer.Data.Result[0].Value[1].(string), &v)
	return v, err
}

const (
	offered    = `sum(rate(catalog_origin_attempts_total{source="live"}[5s]))`
	goodput    = `sum(rate(catalog_origin_completed_total{partition="catalog"}[5s]))`
	queueAge   = `max(catalog_origin_queue_age_seconds)`
	retrying   = `sum(catalog_retry_waiters)`
	staleShare = `sum(rate(catalog_reads_total{outcome="declared_stale"}[5s])) / sum(rate(catalog_reads_total[5s]))`
	refused    = `sum(rate(catalog_reads_total{outcome="rejected"}[5s])) / sum(rate(catalog_reads_total[5s]))`
	errorShare = `sum(rate(catalog_reads_total{outcome="error"}[5s])) / sum(rate(catalog_reads_total[5s]))`
	hitRatio   = `sum(rate(catalog_cache_attempts_total{result="hit"}[30s])) / sum(rate(catalog_cache_attempts_total[30s]))`
	coverage   = `catalog_warm_key_coverage_ratio{cell="cell-c"}`
	readCov    = `catalog_warm_read_coverage_ratio{cell="cell-c"}`
)

// resp spells a command in Redis' protocol.
func resp(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// small is the catalog with a hundredth of the keys, to be quick.
func small() *params {
	p := catalog
	p.Keys /= 100
	return &p
}

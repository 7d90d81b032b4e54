package probes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// wallClock is the machine's clock, for figures that are about real time.
type wallClock struct{ stillClock }

func (*wallClock) Now() time.Time { return time.Now() }

// BenchmarkGateOf20 polls 20 probes with different queries at a server that takes 20 ms
// for each question, and compares the polls with single questions asked between them.
func BenchmarkGateOf20(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		time.Sleep(20 * time.Millisecond)
		now := float64(time.Now().UnixMilli()) / 1000
		if query == "time()" {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[%f,"%f"]}}`, now, now)
			return
		}
		var samples []string
		for i := range max(1, strings.Count(query, "label_replace")) {
			samples = append(samples, fmt.Sprintf(`{"metric":{"rewarm":"%d"},"value":[%f,"%f"]}`, i, now, now))
		}
		fmt.Fprint(w, vector("["+strings.Join(samples, ",")+"]"))
	}))
	defer server.Close()
	p, err := NewPoller(Options{URL: server.URL}, &wallClock{})
	if err != nil {
		b.Fatal(err)
	}
	doc := document()
	var asks []Ask
	for i := range 20 {
		name := fmt.Sprintf("p%d", i)
		doc.Probes = append(doc.Probes, runbook.Probe{Name: name, Query: fmt.Sprintf("sum(rate(metric_%d_total[5s])) / max(gauge_%d)", i, i)})
		asks = append(asks, Ask{Probe: name})
	}
	p.Poll(context.Background(), doc, asks, 0)

	var single, poll time.Duration
	for b.Loop() {
		start := time.Now()
		p.client.query(context.Background(), "up", start, time.Second)
		single += time.Since(start)

		start = time.Now()
		o := p.Poll(context.Background(), doc, asks, 0)
		poll += time.Since(start)
		if a := o.Answers[19]; a.Reason != "" {
			b.Fatalf("%s: %s", a.Reason, a.Detail)
		}
	}
	b.ReportMetric(float64(poll)/float64(single), "x-slowest")
}

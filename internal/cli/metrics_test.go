package cli

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/runbook"
)

func TestMetricsAddress(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "9464": "127.0.0.1:9464", ":9464": "127.0.0.1:9464", "0.0.0.0:9464": "0.0.0.0:9464", "[::1]:9464": "[::1]:9464", "desk:0": "desk:0",
		"desk": "refused", "desk:http": "refused", "70000": "refused", "http://desk:9464": "refused", "a\x1b[2J:1": "refused",
	} {
		got, err := (&settings{metricsListen: given}).metricsAddress()
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("--metrics-listen %q: %s (%v), want %s", given, got, err, want)
		}
	}
}

// measuredWalks gives a process that serves the metrics of its walks, and what it says.
func measuredWalks(address string) (begin func(run string) *walk, p *program, said *bytes.Buffer) {
	said = &bytes.Buffer{}
	p = newProgram(strings.NewReader(""), io.Discard, said, madeUp(nil))
	p.settings.metricsListen = address
	return func(run string) *walk {
		w := &walk{p: p, doc: &runbook.Document{Service: "catalog"}}
		w.measured(run)
		return w
	}, p, said
}

// TestMetricsAreServed: at one address that is said once, the metrics of each walk as long as it is. An address that is
// taken by another process is said, and stops nothing.
func TestMetricsAreServed(t *testing.T) {
	begin, p, said := measuredWalks("0")
	first := begin("FIRST")
	address, found := strings.CutPrefix(strings.TrimSpace(said.String()), "rewarm: metrics ")
	if !found {
		t.Fatalf("said: %s", said)
	}
	begin("SECOND")
	served := func(run string) bool {
		return strings.Contains(scraped(t, address), `rewarm_run_stage{run="`+run+`",service="catalog",stage="declare-mode"} 0`)
	}
	if !served("FIRST") || !served("SECOND") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("served is %s, said %s", scraped(t, address), said)
	}
	resumed := begin("FIRST")
	if err := first.close(); err != nil || !served("FIRST") {
		t.Errorf("the run that goes on in another walk is not served: %v", err)
	}
	if err := resumed.close(); err != nil || served("FIRST") || !served("SECOND") {
		t.Errorf("behind the end of one walk of two (%v): %s", err, scraped(t, address))
	}
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/metrics")
	stranger, _, said := measuredWalks(host)
	if w := stranger("THIRD"); w.meter != nil ||
		!strings.HasPrefix(said.String(), "rewarm: warning: the metrics of this walk are not served: listen tcp ") {
		t.Errorf("another process says: %s", said)
	}
	for _, shut := range p.closers {
		if err := shut(); err != nil {
			t.Error(err)
		}
	}
	if _, err := http.Get(address); err == nil {
		t.Error("it is served when the process is over")
	}
}

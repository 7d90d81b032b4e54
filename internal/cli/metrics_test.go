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

// measuredWalk is a walk that serves its metrics, with what it has said.
func measuredWalk(address string) (*walk, *bytes.Buffer) {
	said := &bytes.Buffer{}
	p := newProgram(strings.NewReader(""), io.Discard, said, madeUp(nil))
	p.settings.metricsListen = address
	w := &walk{p: p, doc: &runbook.Document{Service: "catalog"}}
	w.measured("RUN")
	return w, said
}

// TestMetricsAreServed: at the address that is said, as long as the walk is. An address that is taken is said, and
// stops nothing.
func TestMetricsAreServed(t *testing.T) {
	w, said := measuredWalk("0")
	address, found := strings.CutPrefix(strings.TrimSpace(said.String()), "rewarm: metrics ")
	if !found {
		t.Fatalf("said: %s", said)
	}
	if page := scraped(t, address); !strings.Contains(page, `rewarm_run_stage{run="RUN",service="catalog",stage="declare-mode"} 0`) {
		t.Errorf("served is %s", page)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/metrics")
	other, said := measuredWalk(host)
	if other.meter != nil || !strings.HasPrefix(said.String(), "rewarm: warning: the metrics of this walk are not served: listen tcp ") {
		t.Errorf("a second walk says: %s", said)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(address); err == nil {
		t.Error("it is served when the walk is over")
	}
}

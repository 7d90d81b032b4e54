//go:build realservers && linux

package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/runbook"
)

// TestDiagnoseOnAYoungPrometheus: a Prometheus that has just begun to scrape names what
// it can see within seconds, and never another mode. What happened before its first
// sample, the loss of a cell, it does not rule out.
func TestDiagnoseOnAYoungPrometheus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		scenario string
		mode     runbook.Mode
		verdict  diagnosis.Verdict
	}{
		{"hot-shard", "hot-shard", diagnosis.Likely},
		{"serializer-rejection", "serializer-rejection", diagnosis.Likely},
		{"origin-fault", "origin-fault", diagnosis.Likely},
		{"cell-loss", "cell-loss", diagnosis.Possible},
	}
	for _, test := range tests {
		t.Run(test.scenario, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, dir: t.TempDir(), prometheusPort: freeport.Take(t)}
			w.prometheusURL = "http://127.0.0.1:" + w.prometheusPort
			w.startLab("--scenario", test.scenario)
			w.startPrometheus()
			eventually(t, func() error {
				report := w.diagnosed()
				for _, m := range report.Modes {
					switch {
					case m.Mode != test.mode && m.Verdict == diagnosis.Likely, m.Mode == test.mode && m.Verdict == diagnosis.Unlikely:
						t.Fatalf("%s is %s: %+v", m.Mode, m.Verdict, m.Evidence)
					}
				}
				if !slices.ContainsFunc(report.Modes, func(m diagnosis.Mode) bool { return m.Mode == test.mode && m.Verdict == test.verdict }) {
					return fmt.Errorf("%s is not %s: %+v", test.mode, test.verdict, report.Modes)
				}
				return nil
			})
		})
	}
}

// diagnosed is what diagnose says now.
func (w *world) diagnosed() *diagnosis.Report {
	w.t.Helper()
	out, err := exec.Command("rewarm", "diagnose", bundledBook, "--prometheus", w.prometheusURL, "--output", "json").Output()
	if err != nil {
		w.t.Fatalf("diagnose: %v", err)
	}
	said := diagnosed{Report: &diagnosis.Report{}}
	if err := json.Unmarshal(out, &said); err != nil {
		w.t.Fatalf("%v in %s", err, out)
	}
	return said.Report
}

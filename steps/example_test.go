package steps

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rewarm/rewarm/runbook"
)

// bundled is the runbook that comes with rewarm, for the incident of the case study.
func bundled(t tester) *runbook.Document {
	file := filepath.Join("..", "templates", "runbooks", "hot-key-collapse.yaml")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, problems := runbook.Parse(file, source, nil)
	if len(problems) > 0 {
		t.Fatal(problems.Error())
	}
	return doc
}

// collapsed is a world in the middle of the collapse of the case study, in which the
// signals follow the controls as the case says.
func collapsed(t tester, doc *runbook.Document) *walker {
	w := newWalker(t, doc)
	w.autoCalls = true
	for probe, value := range map[string]float64{
		"offered": 9100, "admitted-peak": 9100, "goodput": 900, "queue-age": 4.2, "retrying": 21000,
		"stale-share": 0.2, "rejected-share": 0.3, "error-share": 0.31, "leaders": 900, "partitions": 0.6,
		"cell-memory": 0.5, "processes": 240, "processes-then": 240, "predicted": 9100,
	} {
		w.signal(probe).set(point{at: start.Add(-time.Minute), values: []float64{value}})
	}
	follow := func(control, raw string, after time.Duration, probe string, value float64) {
		w.react = append(w.react, reaction{control: control, raw: raw, after: after, probe: probe, values: []float64{value}})
	}
	follow("origin.admission", "3200", 2*time.Second, "admitted-peak", 3200)
	follow("origin.admission", "3200", 5*time.Second, "queue-age", 0.2)
	follow("retries.budget", "0", 3*time.Second, "retrying", 20)
	follow("jobs.background", "off", 2*time.Second, "partitions", 1)
	follow("stale.product-detail", "120", time.Second, "error-share", 0.0005)
	follow("leaders.cell", "60", time.Second, "leaders", 60)
	follow("local.ttl", "1", 4*time.Second, "offered", 1200)
	follow("local.ttl", "1", 4*time.Second, "goodput", 2900)
	follow("local.ttl", "1", 4*time.Second, "rejected-share", 0.0005)
	follow("prewarm.bucket", "working-set", 20*time.Second, "warm-keys", 0.95)
	follow("prewarm.bucket", "working-set", 5*time.Second, "predicted", 2800)
	follow("routing.cell-c", "100", 2*time.Second, "stale-share", 0.001)
	return w
}

// TestCaseStudy walks the bundled runbook through the collapse of the case study.
func TestCaseStudy(t *testing.T) {
	datadriven.RunTest(t, "testdata/case-study", func(t *testing.T, d *datadriven.TestData) string {
		w := collapsed(t, bundled(t))
		if err := w.begin(""); err != nil {
			t.Fatal(err)
		}
		if err := w.walk(20 * time.Minute); err != nil {
			t.Fatal(err)
		}
		sameFold(t, w.journal, w.machine.State())
		return w.out.String()
	})
}

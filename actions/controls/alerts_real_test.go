//go:build realservers

package controls

import (
	"os"
	programs "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const alerts = "../../docs/prometheus/rewarm-alerts"

// The rules that are shipped do what they say, by Prometheus' own tool.
func TestAlertRules(t *testing.T) {
	promtool, err := programs.LookPath("promtool")
	if err != nil {
		t.Fatal("install Debian's prometheus")
	}
	for _, args := range [][]string{{"check", "rules", filepath.Base(alerts) + ".yaml"}, {"test", "rules", filepath.Base(alerts) + "_test.yaml"}} {
		cmd := programs.Command(promtool, args...)
		cmd.Dir = filepath.Dir(alerts)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
		}
	}
}

// What they and the dashboard ask for of services is what the reader writes; the metrics of walks are checked where
// those are.
func TestAlertRulesAskForWhatThereIs(t *testing.T) {
	r := startRedis(t).reader(t, nil)
	page := string(r.AppendMetrics(nil))
	for _, file := range []string{alerts + ".yaml", filepath.Join(filepath.Dir(alerts), "rewarm-dashboard.json")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\brewarm_[a-z_]+`).FindAllString(string(text), -1) {
			if !strings.HasPrefix(name, "rewarm_run_") && !strings.Contains(page, "# TYPE "+name+" ") {
				t.Errorf("%s: the reader has no metric %s", file, name)
			}
		}
	}
}

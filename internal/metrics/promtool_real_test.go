//go:build realservers

package metrics

import (
	"os/exec"
	"strings"
	"testing"
)

// TestPromtoolLikesThePage: names, kinds and units are as Prometheus wants them.
func TestPromtoolLikesThePage(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("install Debian's prometheus")
	}
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = strings.NewReader(full(t).page())
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, said)
	}
}

package cli

import (
	"strings"
	"testing"
)

// A walk whose disk broke says where its other records are: a resume without them would
// not know of the flips that were made since.
func TestBrokenLogIsNamed(t *testing.T) {
	if got := brokenLogText("/mnt/two/e.jsonl", "catalog", "RUN"); !strings.Contains(got, "/mnt/two/e.jsonl") || strings.Contains(got, "redis") {
		t.Errorf("with an emergency log: %q", got)
	}
	got := brokenLogText("", "catalog", "RUN")
	for _, part := range []string{"XRANGE 'rewarm:{catalog}:log:RUN' - +", "> emergency.jsonl"} {
		if !strings.Contains(got, part) {
			t.Errorf("without one: %q lacks %q", got, part)
		}
	}
}

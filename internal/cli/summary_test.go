package cli

import (
	"strings"
	"testing"
)

// A walk whose disk broke says where its other records are.
func TestBrokenLogIsNamed(t *testing.T) {
	if got := brokenLogText("/mnt/two/e.jsonl"); !strings.Contains(got, "/mnt/two/e.jsonl") || strings.Contains(got, "redis") {
		t.Errorf("with an emergency log: %q", got)
	}
	if got := brokenLogText(""); !strings.Contains(got, "the mirror in redis") {
		t.Errorf("without one: %q", got)
	}
}

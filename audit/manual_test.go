package audit

import (
	"path/filepath"
	"strings"
	"testing"
)

// The logs shown in the manuals verify, and read as the text around them says.
func TestManualsShowValidLogs(t *testing.T) {
	for _, c := range []struct {
		file, prefix string
		records      int
	}{
		{"doc.go", "//\t", 3},
		{"../docs/audit-log.md", "    ", 5},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			writeFile(t, path, []byte(shownLog(t, c.file, c.prefix)))
			if r := mustVerify(t, path); r.Ended != "closed" {
				t.Errorf("ended is %q", r.Ended)
			}
			if rs := allRecords(t, path); len(rs) != c.records {
				t.Errorf("%d records, want %d", len(rs), c.records)
			}
		})
	}
}

// shownLog picks the lines of a log out of a text, and the torn line among them.
func shownLog(t *testing.T, file, prefix string) string {
	t.Helper()
	var log strings.Builder
	for line := range strings.Lines(string(readFile(t, file))) {
		if rest, ok := strings.CutPrefix(line, prefix); ok && strings.HasPrefix(rest, `{"seq":`) {
			log.WriteString(rest)
		}
	}
	return log.String()
}

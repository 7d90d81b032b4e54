//go:build unix

package audit

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeIsNoLog: nobody writes into the pipe, so whoever opened it to read would wait for ever.
func TestPipeIsNoLog(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	looks := map[string]func() error{
		"verify": func() error { _, err := Verify([]string{pipe}, VerifyOptions{}); return err },
		"tail":   func() error { _, err := NewTail(pipe).Read(); return err },
		"last":   func() error { _, err := Last(pipe); return err },
		"records": func() error {
			for _, err := range Records(pipe) {
				return err
			}
			return nil
		},
		"open": func() error { _, err := Open(pipe, newClock(), Options{Run: "run"}); return err },
	}
	for name, look := range looks {
		if err := look(); err == nil || !strings.Contains(err.Error(), "is no file but a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

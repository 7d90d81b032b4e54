//go:build unix

package audit

import (
	"os"
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
		"whole": func() error { _, err := ReadRegular(pipe, MaxBeside); return err },
		"open":  func() error { _, err := Open(pipe, newClock(), Options{Run: "run"}); return err },
	}
	for name, look := range looks {
		if err := look(); err == nil || !strings.Contains(err.Error(), "is no file but a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWholeFileHasAnEnd: a file that should be small is not read for ever.
func TestWholeFileHasAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "head")
	for text, says := range map[string]string{"": "", "12345678": "", "123456789": "head is longer than the 8 bytes that it can have"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRegular(path, 8)
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) || err == nil && string(got) != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

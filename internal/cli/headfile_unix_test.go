//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHeadThatIsNoFile: whoever reads a pipe that nobody writes into, or a device, waits for ever. Of a head that is
// none, everybody who looks at the run is told.
func TestHeadThatIsNoFile(t *testing.T) {
	s := newMirrorSeat(t)
	s.keeps(s.ended(s.records("ops-1", 1, 3))...)
	s.signs("keys", 3, s.records("ops-1", 1, 4)[3].Prev)
	head := filepath.Join(s.dir, "runs", mirroredID, "head")
	for says, put := range map[string]func() error{
		"head is no file but a pipe":   func() error { return syscall.Mkfifo(head, 0o600) },
		"head is no file but a device": func() error { return os.Symlink(os.DevNull, head) },
		"head: the signed head: ":      func() error { return os.WriteFile(head, []byte("\x1b[31m\x00"), 0o600) },
		"head is longer than the ":     func() error { return os.WriteFile(head, make([]byte, 2<<20), 0o600) },
	} {
		if err := os.Remove(head); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		s.says(exitDone, "status last", "state aborted", "warning: ", says)
		s.says(exitDone, "watch last --plain", "aborted", "warning: ", says)
		s.says(exitUnverified, "audit verify last", says)
		s.says(exitUnverified, "resume last", says)
	}
}

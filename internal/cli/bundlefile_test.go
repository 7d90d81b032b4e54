package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestABundleReplacesNothingElse: as root a rename puts a file in the place of whatever has its name, a device, too.
func TestABundleReplacesNothingElse(t *testing.T) {
	bundle := func(to io.Writer) error { _, err := io.WriteString(to, "PK\x03\x04 a bundle"); return err }
	for name, c := range map[string]struct {
		make    func(path string) error
		refused string // "" when the bundle is written
	}{
		"nothing":       {func(string) error { return nil }, ""},
		"a bundle":      {func(path string) error { return os.WriteFile(path, []byte("PK\x03\x04 an older one"), 0o600) }, ""},
		"an empty file": {func(path string) error { return os.WriteFile(path, nil, 0o600) }, ""},
		"a runbook":     {func(path string) error { return os.WriteFile(path, []byte("kind: Runbook\n"), 0o600) }, "is no bundle"},
		"a short file":  {func(path string) error { return os.WriteFile(path, []byte("k"), 0o600) }, "is no bundle"},
		"a directory":   {func(path string) error { return os.Mkdir(path, 0o700) }, "a directory"},
		"a link":        {func(path string) error { return os.Symlink("elsewhere", path) }, "a symbolic link"},
		"a pipe":        {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "a pipe"},
		"a half export": {func(path string) error { return os.WriteFile(path+".part", []byte("PK"), 0o600) }, "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.evidence.zip")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			written, err := writeBundleFile(path, bundle)
			if c.refused == "" {
				if err != nil || written.size != 13 {
					t.Fatalf("%d bytes, %v", written.size, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Fatalf("%v, want %q", err, c.refused)
			}
			if after, _ := os.Lstat(path); (before == nil) != (after == nil) || before != nil && before.Mode() != after.Mode() {
				t.Errorf("it was %v and is %v", before, after)
			}
		})
	}
}

// TestAFailedExportLeavesNothing: what was there stays, and no half of a bundle.
func TestAFailedExportLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.evidence.zip")
	if err := os.WriteFile(path, []byte("PK\x03\x04 an older one"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	if _, err := writeBundleFile(path, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

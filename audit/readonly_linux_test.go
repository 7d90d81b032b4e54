package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// A log that may not be written is refused, also when root runs the tests: the
// file system is asked as somebody else.
func TestReadOnlyLogIsRefused(t *testing.T) {
	path, content := writeLog(t, 2)
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its odd identity
		const nobody = 65534
		syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		_, err := Open(path, newClock(), Options{})
		_, verr := verify(path)
		errs <- err
		errs <- verr
	}()
	if err := <-errs; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open says %v", err)
	}
	if err := <-errs; err != nil {
		t.Errorf("verify says %v", err)
	}
	if string(readFile(t, path)) != string(content) {
		t.Error("the file was touched")
	}
}

package audit

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the writer's lock of a file without waiting. Locks of Windows keep
// others from reading what they cover, so this one covers a byte far behind any
// end.
func lock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	far := windows.Overlapped{OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return &LockedError{Path: f.Name()}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", show(f.Name()), err)
	}
	return nil
}

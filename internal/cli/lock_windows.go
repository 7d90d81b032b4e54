package cli

import (
	"errors"

	"golang.org/x/sys/windows"

	"github.com/rewarm/rewarm/audit"
)

// beingWritten reports whether a process has the log open for writing: the lock
// decides, which ends with the process that holds it.
func beingWritten(path string) bool {
	file, err := audit.OpenRegular(path)
	if err != nil {
		return false
	}
	defer file.Close()
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: 0x7fffffff})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

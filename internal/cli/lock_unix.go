//go:build unix

package cli

import (
	"errors"

	"golang.org/x/sys/unix"

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
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK)
}

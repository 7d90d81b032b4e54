//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the writer's lock of a file without waiting. The kernel gives it
// back when the file is closed, however the process ends.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return &LockedError{Path: f.Name()}
		default:
			return fmt.Errorf("lock %s: %w: this file system may not support locks", show(f.Name()), err)
		}
	}
}

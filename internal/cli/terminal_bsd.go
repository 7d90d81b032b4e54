//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// fread is the queue of input for TIOCFLUSH.
const fread = 1

// drain drops what was typed and not read yet, a line that has no end yet included.
// A terminal that cannot do it leaves the count of lines as the guard.
func drain(file *os.File) {
	_ = unix.IoctlSetPointerInt(int(file.Fd()), unix.TIOCFLUSH, fread)
}

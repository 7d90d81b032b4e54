package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// drain drops what was typed and not read yet, a line that has no end yet included.
// A terminal that cannot do it leaves the count of lines as the guard.
func drain(file *os.File) {
	_ = unix.IoctlSetInt(int(file.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}

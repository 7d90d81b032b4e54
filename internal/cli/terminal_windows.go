package cli

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// waiting cannot tell on a console whether a whole line waits: lines of a paste are
// then taken one by one.
func waiting(*os.File, time.Duration) bool { return false }

// drain drops what was typed and not read yet.
func drain(file *os.File) {
	_ = windows.FlushConsoleInputBuffer(windows.Handle(file.Fd()))
}

package evidence

import (
	"os"
	"runtime/debug"
)

// roomyGC is the GOGC of a process that reads long logs.
const roomyGC = 400

// MakeRoom lets more garbage stand before it is collected, until the function that it gives is called. It is for the
// whole process, so for commands that do nothing but make or check evidence: nearly all that is read from a log is
// garbage a few records later, and a heap that is kept as small as what lives spends a fifth of the time on collecting
// it. A GOGC of the environment goes before.
func MakeRoom() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(roomyGC)
	return func() { debug.SetGCPercent(before) }
}

//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

var (
	stopSignals = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}
	pipeSignals = []os.Signal{unix.SIGPIPE}
)

package cli

import "os"

var (
	stopSignals = []os.Signal{os.Interrupt}
	pipeSignals []os.Signal
)

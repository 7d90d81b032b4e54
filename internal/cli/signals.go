package cli

import (
	"os"
	"os/signal"
)

// interrupts gives the signals that stop a walk, by name. While they are watched, an
// output that nobody reads any more does not end the process.
func interrupts() (<-chan string, func()) {
	raw := make(chan os.Signal, 2)
	for _, stop := range stopSignals {
		if !signal.Ignored(stop) { // as nohup has SIGHUP ignored
			signal.Notify(raw, stop)
		}
	}
	if len(pipeSignals) > 0 { // of no signals, Ignore would ignore all
		signal.Ignore(pipeSignals...)
	}
	names := make(chan string)
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-raw:
				select {
				case names <- s.String():
				case <-ended:
					return
				}
			case <-ended:
				return
			}
		}
	}()
	return names, func() {
		signal.Stop(raw)
		if len(pipeSignals) > 0 {
			signal.Reset(pipeSignals...)
		}
		close(ended)
	}
}

package cli

import (
	"syscall"
	"time"
)

// stopsAsked tells one wish to stop from two. A terminal that is closed hangs up more than
// once, by its kernel, its shell and its multiplexer, and whoever runs rewarm may pass a
// Ctrl-C on that the terminal has sent it already: that must not cut short what idles the load.
type stopsAsked struct {
	any  bool
	last time.Time // when the latest came
}

// stopWish is what a signal or a key asks for.
type stopWish int

const (
	stopFirst stopWish = iota // let the walk stop
	stopSame                  // the same wish over again
	stopNow                   // leave at once
)

// echo is how soon a signal repeats the one before it: no person asks twice in it.
const echo = 200 * time.Millisecond

// hangup is the name of the signal of a terminal that is gone.
var hangup = syscall.SIGHUP.String()

// take gives the wish behind the next signal. Nobody types a hangup, so it is never the
// second wish.
func (s *stopsAsked) take(signal string, now time.Time) stopWish {
	first, since := !s.any, now.Sub(s.last)
	s.any, s.last = true, now
	switch {
	case first:
		return stopFirst
	case signal == hangup || since < echo:
		return stopSame
	}
	return stopNow
}

// onceMore says what leaves at once after a signal.
func onceMore(signal string) string {
	if signal == hangup {
		return "an interrupt"
	}
	return "once more"
}

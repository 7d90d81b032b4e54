package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestASecondSignal: only a person who asks twice leaves at once; a closed terminal, which
// hangs up several times, and a signal that is passed on do not.
// https://github.com/irontec/sngrep/issues/424
func TestASecondSignal(t *testing.T) {
	type ask struct {
		after  time.Duration
		signal string
	}
	for name, c := range map[string]struct {
		asks []ask
		left bool
	}{
		"nobody":                      {nil, false},
		"once":                        {[]ask{{0, "interrupt"}}, false},
		"twice by a person":           {[]ask{{0, "interrupt"}, {time.Second, "interrupt"}}, true},
		"a supervisor loses patience": {[]ask{{0, "terminated"}, {10 * time.Second, "terminated"}}, true},
		"passed on":                   {[]ask{{0, "interrupt"}, {5 * time.Millisecond, "interrupt"}, {time.Millisecond, "terminated"}}, false},
		"passed on, then a person":    {[]ask{{0, "interrupt"}, {5 * time.Millisecond, "interrupt"}, {time.Second, "interrupt"}}, true},
		"a terminal is closed":        {[]ask{{0, "hangup"}, {time.Millisecond, "hangup"}, {time.Second, "hangup"}, {time.Minute, "hangup"}}, false},
		"closed after a Ctrl-C":       {[]ask{{0, "interrupt"}, {time.Second, "hangup"}}, false},
		"closed, then from elsewhere": {[]ask{{0, "hangup"}, {time.Second, "terminated"}}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			said := &bytes.Buffer{}
			w := &walk{p: &program{clock: wallClock{}, err: said}, mail: &mailbox{}}
			signals, done, ended := make(chan string), make(chan error, 1), errors.New("ended")
			go func() {
				for _, a := range c.asks {
					time.Sleep(a.after)
					select {
					case signals <- a.signal:
					case <-time.After(time.Hour): // nobody listens who has left
					}
				}
				done <- ended
			}()
			left, err := w.untilLeft(done, signals, nil)
			if left != c.left || !left && err != ended {
				t.Errorf("%s: left %v, error %v", name, left, err)
			}
			if posted := len(w.mail.take()); posted != min(len(c.asks), 1) {
				t.Errorf("%s: the walk is told %d times", name, posted)
			}
			if strings.Count(said.String(), "warning") != min(len(c.asks), 1) {
				t.Errorf("%s: said %q", name, said)
			}
		})
	}
}

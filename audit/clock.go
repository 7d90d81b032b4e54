package audit

import "time"

// Clock is where the log gets its time from. In real use the times carry Go's
// monotonic reading, which does not jump and stands still while the machine
// sleeps.
type Clock interface {
	Now() time.Time
}

// stepLimit is how far the wall clock may part from the run time before it is
// called a step.
const stepLimit = time.Second

// runClock keeps run time: the monotonic time since the run began, over all its
// processes, without sleeps and without the time between two processes.
type runClock struct {
	clock  Clock
	last   time.Time
	run    time.Duration
	parted time.Duration // wall time less run time since the last report
}

func startClock(clock Clock, t int64) runClock {
	return runClock{clock: clock, last: clock.Now(), run: time.Duration(t) * time.Millisecond}
}

// tick reads the clock once. Run time never decreases; the wall clock is taken
// as it is.
func (c *runClock) tick() (at time.Time, t int64) {
	now := c.clock.Now()
	ran := max(0, now.Sub(c.last))
	c.parted += now.Round(0).Sub(c.last.Round(0)) - ran
	c.run += ran
	c.last = now
	return now.UTC(), c.run.Milliseconds()
}

// step gives how far the wall clock has parted from the run time since the last
// call that reported a step.
func (c *runClock) step() (time.Duration, bool) {
	c.tick()
	if c.parted.Abs() < stepLimit {
		return 0, false
	}
	parted := c.parted
	c.parted = 0
	return parted, true
}

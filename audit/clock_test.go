package audit

import (
	"testing"
	"time"
	"unsafe"
)

var steps = []time.Duration{0, time.Nanosecond, time.Millisecond, time.Second, time.Hour, -time.Second, -10 * time.Minute}

// https://github.com/agentrust-io/cmcp/issues/166: a wall clock set back put
// records out of order.
func TestClockSetBack(t *testing.T) {
	path := logPath(t)
	clock := newClock()
	l, err := Create(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, l, "begun", nil)
	clock.advance(2 * time.Second)
	second := mustCommit(t, l, "noted", nil)
	clock.advance(-10 * time.Minute)
	third := mustCommit(t, l, "noted", nil)
	if third.T != second.T || !third.At.Equal(second.At.Add(-10*time.Minute)) {
		t.Errorf("after the step at=%v t=%d", third.At, third.T)
	}
	if step, ok := l.ClockStep(); !ok || step != -10*time.Minute {
		t.Errorf("step is %v, %v", step, ok)
	}
	if step, ok := l.ClockStep(); ok {
		t.Errorf("the step was reported twice: %v", step)
	}
	clock.advance(3 * time.Second)
	if fourth := mustCommit(t, l, "closed", nil); fourth.T != 5000 {
		t.Errorf("run time is %d, want 5000", fourth.T)
	}
	mustClose(t, l)
	if r := mustVerify(t, path); r.ClockSet != 1 {
		t.Errorf("%d steps back in the report", r.ClockSet)
	}
}

// asleep moves the wall clock of a time and leaves its monotonic reading, as a
// sleeping machine does. Package time has no call for it, so this writes into the
// wall seconds of the struct, which stand above 30 bits of nanoseconds.
func asleep(t time.Time, d time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(d/time.Second) << 30
	return t
}

func TestSleepIsNotRunTime(t *testing.T) {
	start := time.Now()
	clock := &fakeClock{now: start}
	l, err := Create(logPath(t), clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	clock.now = asleep(start.Add(1500*time.Millisecond), time.Hour)
	if wall := clock.now.Round(0).Sub(start.Round(0)); wall != time.Hour+1500*time.Millisecond {
		t.Fatalf("the test's clock is wrong: %v", wall)
	}
	r := mustCommit(t, l, "noted", nil)
	if r.T != 1500 {
		t.Errorf("run time is %d ms, want 1500", r.T)
	}
	if step, ok := l.ClockStep(); !ok || step != time.Hour {
		t.Errorf("step is %v, %v", step, ok)
	}
}

func TestRunTimeGoesOnAfterAResume(t *testing.T) {
	path := logPath(t)
	clock := newClock()
	l, err := Create(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(1700 * time.Millisecond)
	mustCommit(t, l, "begun", nil)
	mustClose(t, l)
	clock.advance(time.Hour)
	l, err = Open(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	clock.advance(300 * time.Millisecond)
	if r := mustCommit(t, l, "resumed", nil); r.T != 2000 {
		t.Errorf("run time is %d ms, want 2000", r.T)
	}
	if step, ok := l.ClockStep(); ok {
		t.Errorf("the time between two processes is no step: %v", step)
	}
}

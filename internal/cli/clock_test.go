package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWallClockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := (wallClock{}).Wait(t.Context(), began.Add(time.Minute)); err != nil || time.Since(began) != time.Minute {
			t.Errorf("waited %s: %v", time.Since(began), err)
		}
		if err := (wallClock{}).Wait(t.Context(), began); err != nil {
			t.Errorf("a moment that has passed: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := (wallClock{}).Wait(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that ends first: %v", err)
		}
	})
}

// modelClock is a model's time, which stands still but for waits.
type modelClock struct {
	now   time.Time
	waits int
}

func (c *modelClock) Now() time.Time { return c.now }

func (c *modelClock) Wait(ctx context.Context, until time.Time) error {
	c.waits++
	if until.After(c.now) {
		c.now = until
	}
	return ctx.Err()
}

func (c *modelClock) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func TestPacedClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)
		model := &modelClock{now: start}
		paced := newPacedClock(model, wallClock{}, 4)
		began := time.Now()
		if err := paced.Wait(t.Context(), start.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 15*time.Second || took > 15*time.Second+2*pace {
			t.Errorf("a minute of the model took %s at speed 4, want 15s", took)
		}
		if got := paced.Now(); !got.Equal(start.Add(time.Minute)) {
			t.Errorf("the model stands at %s", got)
		}

		// An order ends the wait; the model stands where it should at that time.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := paced.Wait(ctx, start.Add(time.Hour)); err == nil {
			t.Error("the wait did not end with its context")
		}
		if gone := paced.Now().Sub(start) - time.Minute; gone < 3*time.Second || gone > 5*time.Second {
			t.Errorf("the model went on by %s in a second at speed 4", gone)
		}

		// A process that was stopped for an hour goes on from where it was.
		before := paced.Now()
		time.Sleep(time.Hour)
		if err := paced.Wait(t.Context(), before.Add(4*time.Second)); err != nil {
			t.Fatal(err)
		}
		if got := paced.Now().Sub(before); got != 4*time.Second {
			t.Errorf("the model leapt by %s", got)
		}
	})
}

// TestPacedClockLingers: a deadline of 20 s is 20 s to a person, and then it is brisk again.
func TestPacedClockLingers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)
		for speed, want := range map[float64]time.Duration{4: 25 * time.Second, 0.5: 80 * time.Second} {
			paced := newPacedClock(&modelClock{now: start}, wallClock{}, speed)
			began := time.Now()
			for i, answering := range []bool{true, false} {
				paced.linger(answering)
				if err := paced.Wait(t.Context(), start.Add(time.Duration(i+1)*20*time.Second)); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took < want || took > want+3*pace {
				t.Errorf("at speed %g an answer and 20 s more took %s, want %s", speed, took, want)
			}
		}
	})
}

// restlessClock is real time as a program meets it: it moves between any two looks.
type restlessClock struct{ modelClock }

func (c *restlessClock) Now() time.Time {
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

func TestPacedClockSleepsBetweenSteps(t *testing.T) {
	start := time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)
	model, real := &modelClock{now: start}, &restlessClock{modelClock{now: start}}
	paced := newPacedClock(model, real, 4)
	if err := paced.Wait(t.Context(), start.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if most := int(15*time.Second/pace) + 2; model.waits > most {
		t.Errorf("the model was stepped %d times in 15 s, want %d at most", model.waits, most)
	}
}

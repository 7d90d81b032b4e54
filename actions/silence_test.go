package actions

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// sleeper is a Redis that takes everything and answers only while it is awake, like one that was stopped by a signal or
// whose packets are dropped.
type sleeper struct {
	node   *node
	asleep atomic.Bool
	delay  time.Duration // of each answer
}

func newSleeper(t *testing.T) *sleeper {
	s := &sleeper{}
	s.node = &node{t: t, answer: func(args []string) string {
		if s.asleep.Load() {
			return ""
		}
		time.Sleep(s.delay) // virtual
		switch args[0] {
		case "ping":
			return pass
		case "hget":
			return "$-1\r\n"
		}
		return words("commanded", "", "0", "", "", "0", "0", "0")
	}}
	return s
}

var leaders = []*runbook.Control{{Name: "leaders.max"}}

// awaken lets the questions that hang come to their end.
func (s *sleeper) awaken() {
	s.asleep.Store(false)
	time.Sleep(2 * time.Second) // virtual
	synctest.Wait()
}

// TestHungRedisCostsOneExchange: what a walk wants of a Redis that hangs is answered at once after the first exchange,
// whatever it is. Each had cost its whole time, which kept signals, questions and polls waiting.
func TestHungRedisCostsOneExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := newSleeper(t)
		s := openStore(t, "redis://a:1", network{"a:1": redis.node}.dial, 2*time.Second)
		redis.asleep.Store(true)
		start := time.Now()
		_, err := s.Read(t.Context(), leaders)
		if took := time.Since(start); took != 2*time.Second || err == nil {
			t.Errorf("the first exchange took %s: %v", took, err)
		}
		for _, exchange := range []func() error{
			func() error { _, err := s.Renew(t.Context(), Lease{}, nil); return err },
			func() error { _, err := s.Take(t.Context(), Holder{}); return err },
			func() error { _, _, err := s.Receive(t.Context(), "r"); return err },
			func() error { return s.Mirror(t.Context(), "r", [][]byte{{'x'}}) },
			func() error { _, err := s.Read(t.Context(), leaders); return err },
		} {
			start = time.Now()
			err := exchange()
			var failure *Failure
			if took := time.Since(start); took > patience || !errors.As(err, &failure) || failure.Cause != Unreachable || failure.Retry == 0 {
				t.Errorf("an exchange with a Redis that hangs took %s: %v", took, err)
			}
		}
		if o := s.Apply(t.Context(), Lease{Run: "r"}, Plan{Run: "r", Control: "leaders.max"}, Stamp{}); o.Result != NotSent {
			t.Errorf("a flip that was kept back is %v", o)
		}
		if n := redis.node.count("evalsha") + redis.node.count("xadd"); n > 0 {
			t.Errorf("%d commands were sent to a Redis that hangs", n)
		}
		redis.awaken()
	})
}

// TestSilenceEnds: the first exchange after Redis has come to is sent, also where each answer takes longer than the
// patience with a silent one.
func TestSilenceEnds(t *testing.T) {
	for _, delay := range []time.Duration{0, 3 * patience / 2} {
		synctest.Test(t, func(t *testing.T) {
			redis := newSleeper(t)
			redis.delay = delay
			s := openStore(t, "redis://a:1", network{"a:1": redis.node}.dial, 2*time.Second)
			redis.asleep.Store(true)
			_, _ = s.Read(t.Context(), leaders)
			redis.awaken()
			_ = s.await(t.Context()) // asks
			time.Sleep(delay)
			synctest.Wait()
			var commanded *Commanded
			if _, err := s.Renew(t.Context(), Lease{}, nil); !errors.As(err, &commanded) {
				t.Errorf("with a delay of %s: %v", delay, err)
			}
		})
	}
}

// TestSlowConnectionIsMadeBesideTheWalk: where connecting takes longer than an exchange may, the question after the
// first one makes the connection for all that follow.
func TestSlowConnectionIsMadeBesideTheWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis := newSleeper(t)
		redis.delay = 400 * time.Millisecond
		far := network{"a:1": redis.node}
		s := openStore(t, "redis://a:1", func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(1500 * time.Millisecond) // virtual
			return far.dial(ctx, network, addr)
		}, 2*time.Second)
		var commanded *Commanded
		for try := range 6 {
			if _, err := s.Renew(t.Context(), Lease{}, nil); errors.As(err, &commanded) {
				if try == 0 {
					t.Error("it connected within an exchange")
				}
				return
			}
			time.Sleep(2 * time.Second)
		}
		t.Error("it never connected")
	})
}

// TestCallingOffIsNoSilence: an exchange that was called off at once says nothing of Redis; one that had waited does,
// so that whoever leaves need not wait again.
func TestCallingOffIsNoSilence(t *testing.T) {
	for _, test := range []struct {
		after  time.Duration
		silent bool
	}{{patience / 2, false}, {patience, true}} {
		synctest.Test(t, func(t *testing.T) {
			redis := newSleeper(t)
			s := openStore(t, "redis://a:1", network{"a:1": redis.node}.dial, 2*time.Second)
			redis.asleep.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(test.after, cancel)
			_, _ = s.Read(ctx, leaders)
			if err := s.await(t.Context()); (err != nil) != test.silent {
				t.Errorf("called off after %s: %v", test.after, err)
			}
			redis.awaken()
		})
	}
}

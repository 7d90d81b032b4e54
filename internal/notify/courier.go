package notify

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options are what a courier works with.
type Options struct {
	Run, Service string
	Lab          bool
	Clock        Clock
	Transport    http.RoundTripper
	Jitter       func() float64                        // from 0 to 1, spreads the waits between tries
	Delivered    func(receiver string, seq uint64)     // told up to where a receiver has everything; may be nil
	Trouble      func(receiver Receiver, words string) // told that it takes no messages, and that it does again; may be nil
}

// Courier delivers events to one receiver, in their order.
type Courier struct {
	receiver Receiver
	o        Options

	mu       sync.Mutex
	waiting  []Event
	signed   string
	stats    Stats
	leftOut  int // since the last delivery
	troubled bool

	filled chan struct{}
	ending chan struct{}
}

// Stats is how far a courier has come, in events.
type Stats struct {
	Delivered, Failed, LeftOut, Waiting int
	Last                                string // why the last exchange failed that did
}

// Undelivered counts the events that the receiver does not have.
func (s Stats) Undelivered() int { return s.Failed + s.LeftOut + s.Waiting }

const (
	room        = 256 // events that wait; beyond them the oldest are left out
	firstPause  = time.Second
	lastPause   = 30 * time.Second
	endingPause = 250 * time.Millisecond // between tries when the run has ended
	patience    = 3                      // tries in a row until it is said that a receiver does not take messages
)

// NewCourier makes a courier. Run delivers.
func NewCourier(r Receiver, o Options) *Courier {
	return &Courier{receiver: r, o: o, filled: make(chan struct{}, 1), ending: make(chan struct{})}
}

// Receiver is whom it delivers to.
func (c *Courier) Receiver() Receiver { return c.receiver }

// Send hands an event over and returns at once. Signed is the newest signed head, "" when it is the one of before.
func (c *Courier) Send(e Event, signed string) {
	c.mu.Lock()
	if signed != "" {
		c.signed = signed
	}
	if c.receiver.wants(e.Kind) {
		if len(c.waiting) == room {
			c.waiting = c.waiting[1:]
			c.stats.LeftOut++
			c.leftOut++
		}
		c.waiting = append(c.waiting, e)
	}
	c.mu.Unlock()
	select {
	case c.filled <- struct{}{}:
	default:
	}
}

// Stats gives how far it has come.
func (c *Courier) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Waiting = len(c.waiting)
	return s
}

// End says that nothing more will come: Run returns when everything is delivered or the context ends, and does not
// wait long between tries any more.
func (c *Courier) End() { close(c.ending) }

// Run delivers until End was called and nothing waits, or until the context ends.
func (c *Courier) Run(ctx context.Context) {
	for tries := 0; ; {
		m := c.message()
		if len(m.Events) == 0 {
			if !c.await(ctx) {
				return
			}
			continue
		}
		var refused *refusal
		if !errors.As(c.try(ctx, m), &refused) {
			tries = 0
			c.has(m)
			continue
		}
		if ctx.Err() != nil {
			c.cutShort()
			return
		}
		if tries++; refused.final {
			c.giveUp(m, refused)
			tries = 0
			continue
		}
		c.failed(refused, tries)
		if !c.pause(ctx, refused, tries) {
			return
		}
	}
}

// message is what is sent next.
func (c *Courier) message() Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := slices.Clone(c.waiting[:min(len(c.waiting), formats[c.receiver.Kind].most)])
	return Message{Format: FormatV1, Run: c.o.Run, Service: c.o.Service, Lab: c.o.Lab, LeftOut: c.leftOut,
		Events: events, SignedHead: c.signed}
}

// await waits for events; false when none will come.
func (c *Courier) await(ctx context.Context) bool {
	select {
	case <-c.filled:
		return true
	case <-ctx.Done():
		return false
	case <-c.ending:
		return c.Stats().Waiting > 0
	}
}

func (c *Courier) try(ctx context.Context, m Message) error {
	ctx, cancel := c.o.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	return exchange(ctx, c.o.Transport, c.receiver, m)
}

// has notes that the receiver has a message.
func (c *Courier) has(m Message) {
	c.mu.Lock()
	had := len(m.Events) - c.take(m) // were left out while they were on their way
	c.stats.LeftOut -= had
	c.leftOut -= had + m.LeftOut
	c.stats.Delivered += len(m.Events)
	over := c.troubled
	c.troubled = false
	c.mu.Unlock()
	if c.o.Delivered != nil {
		c.o.Delivered(c.receiver.Name, m.last())
	}
	if over {
		c.tell("takes messages again")
	}
}

// take removes a message from what waits, and gives how many events of it were still there.
func (c *Courier) take(m Message) int {
	n := 0
	for n < len(c.waiting) && c.waiting[n].Seq <= m.last() {
		n++
	}
	c.waiting = c.waiting[n:]
	return n
}

// giveUp leaves out a message that would be refused again.
func (c *Courier) giveUp(m Message, why *refusal) {
	c.mu.Lock()
	lost := c.take(m)
	c.stats.Failed += lost
	c.leftOut += lost
	c.mu.Unlock()
	c.failed(why, patience)
}

// failed notes why an exchange failed, and says so once until the next that does not.
func (c *Courier) failed(why *refusal, tries int) {
	c.mu.Lock()
	c.stats.Last = why.sentence
	first := !c.troubled && tries >= patience
	c.troubled = c.troubled || first
	c.mu.Unlock()
	if first {
		c.tell("does not take messages: " + why.sentence)
	}
}

// cutShort notes that there was no time for an answer, where nothing is known that is worse.
func (c *Courier) cutShort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stats.Last == "" {
		c.stats.Last = "the time was over before it answered"
	}
}

func (c *Courier) tell(words string) {
	if c.o.Trouble != nil {
		c.o.Trouble(c.receiver, words)
	}
}

// pause waits before the next try; false when the context ended. The end of the run cuts it short, and from then on
// there are only short ones, but for what the receiver asks for itself.
func (c *Courier) pause(ctx context.Context, why *refusal, tries int) bool {
	wait := backoff(tries, c.o.Jitter())
	select {
	case <-c.ending:
		return c.wait(ctx, max(min(wait, endingPause), why.wait))
	default:
	}
	cut, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.ending:
			cancel()
		case <-cut.Done():
		}
	}()
	c.wait(cut, max(wait, why.wait))
	return ctx.Err() == nil
}

func (c *Courier) wait(ctx context.Context, d time.Duration) bool {
	return c.o.Clock.Wait(ctx, c.o.Clock.Now().Add(d)) == nil
}

// backoff is how long to wait after so many failures in a row: doubling, and between half of that and all of it.
func backoff(tries int, jitter float64) time.Duration {
	pause := min(float64(lastPause), float64(firstPause)*math.Pow(2, float64(min(tries, 10)-1)))
	return time.Duration(pause * (0.5 + 0.5*jitter))
}

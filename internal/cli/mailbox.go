package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// mail is what reaches a walk from outside: a typedLine, a steps.CallDone, a steps.Order
// from elsewhere, an unreadable entry of the inbox, an interruption, an undelivered, a seenSigns
// or a terminalGone.
type mail any

// interruption is a signal that asks the walk to stop.
type interruption struct{ signal string }

// terminalGone says that no person can be heard any more.
type terminalGone struct{}

// mailbox hands mail to the one goroutine that drives the machine, and ends its
// sleep.
type mailbox struct {
	mu      sync.Mutex
	waiting []mail
	wake    context.CancelFunc
	hurry   func() // ends what a move waits for; nil between two moves
}

// lastMoment is what an interruption leaves the move that is under way. A server that answers
// needs less; one that hangs must not keep whoever wants to leave.
const lastMoment = 1500 * time.Millisecond

// post never blocks.
func (m *mailbox) post(item mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, item)
	if m.wake != nil {
		m.wake()
	}
	if isInterruption(item) && m.hurry != nil {
		m.hurry()
	}
}

func isInterruption(item mail) bool {
	_, is := item.(interruption)
	return is
}

// take gives what has come in, in order.
func (m *mailbox) take() []mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.waiting
	m.waiting = nil
	return items
}

// keep puts back what was taken, for the next time.
func (m *mailbox) keep(item mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, item)
}

// waits reports whether something has come in.
func (m *mailbox) waits() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting) > 0
}

// sleeping gives a context that ends as soon as there is mail.
func (m *mailbox) sleeping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wake = cancel
	if len(m.waiting) > 0 {
		cancel()
	}
	return ctx, cancel
}

// moving gives a context for one move of the machine that ends soon after an interruption.
func (m *mailbox) moving(ctx context.Context, clock clock) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hurry = func() {
		moment, stop := clock.Deadline(ctx, lastMoment)
		context.AfterFunc(moment, func() { stop(); cancel() })
	}
	if slices.ContainsFunc(m.waiting, isInterruption) {
		m.hurry()
	}
	return ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.hurry = nil
		cancel()
	}
}

var _ mail = steps.CallDone{}

package actions

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

// patience is how long an exchange waits for a Redis that has just let another one wait
// in vain. One that answers slower than this is still found to answer: what asks it goes
// on for as long as an exchange may take, and the exchanges after that are sent.
const patience = 200 * time.Millisecond

// silence remembers that Redis gives no answer. A server that hangs would cost each of the
// exchanges of a walk its whole time, one after the other, and with it the walk's polls,
// questions and signals. While it is silent nothing is sent to it but one question at a
// time, and who wants something of it learns at once that there is no answer.
type silence struct {
	mu    sync.Mutex
	of    *controls.Server // that gave no answer, nil while there is none to wait for
	since time.Time
	asked *inquiry // the latest question, nil before the first
}

// inquiry is a question to a silent server.
type inquiry struct {
	began time.Time
	over  chan struct{} // closed once it was answered, or given up
}

// exchange bounds one exchange with a server in time. It sends nothing while Redis is silent.
func (s *Store) exchange(ctx context.Context, server *controls.Server, send func(context.Context) error) error {
	ctx, cancel := s.clock.Deadline(ctx, s.timeout)
	defer cancel()
	if err := s.await(ctx); err != nil {
		return err
	}
	began := s.clock.Now()
	err := send(ctx)
	if gaveUp(err) && s.clock.Now().Sub(began) >= patience {
		s.silence.begin(server, began)
	}
	return err
}

// gaveUp reports whether an error says that no answer came, rather than which.
func gaveUp(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

func (q *silence) begin(of *controls.Server, since time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of, q.since, q.asked = of, since, nil
	}
}

func (q *silence) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of = nil
}

// await gives Redis a moment if it was silent, and fails with nothing sent if it still is.
func (s *Store) await(ctx context.Context) error {
	asked := s.inquire()
	if asked == nil {
		return nil
	}
	moment, cancel := s.clock.Deadline(ctx, patience-s.clock.Now().Sub(asked.began))
	defer cancel()
	select {
	case <-asked.over:
	case <-moment.Done():
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return &controls.NotSentError{Err: err}
	}
	return s.stillSilent()
}

// inquire asks a silent server whether it answers, unless that is being asked already.
// It gives nil when there is no silence.
func (s *Store) inquire() *inquiry {
	q := &s.silence
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.of == nil:
		return nil
	case q.asked != nil && !q.asked.ended():
		return q.asked
	}
	q.asked = &inquiry{began: s.clock.Now(), over: make(chan struct{})}
	go s.ask(q.of, q.asked.over)
	return q.asked
}

func (i *inquiry) ended() bool {
	select {
	case <-i.over:
		return true
	default:
		return false
	}
}

// ask reads one field of the commander's, as every user of the controls may. Any answer
// ends the silence, and so does a failure that comes without waiting for one. Nobody waits
// for it, so it has the time to make a connection that is too slow to be made within an
// exchange; the exchanges that follow find that connection.
func (s *Store) ask(server *controls.Server, over chan<- struct{}) {
	defer close(over)
	ctx, cancel := s.clock.Deadline(context.Background(), 2*s.timeout)
	defer cancel()
	if err := server.Do(ctx, redis.NewStringCmd(ctx, "hget", s.keys.Commander, "run")); !gaveUp(err) {
		s.silence.end()
	}
}

func (s *Store) stillSilent() error {
	q := &s.silence
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		return nil
	}
	return &Failure{
		Cause: Unreachable,
		Sentence: fmt.Sprintf("redis %s has given no answer since %s, nothing more was sent",
			s.at(q.of), q.since.UTC().Format("15:04:05 MST")),
		Hint:  "see that it runs and that the address is right; what asks it goes on as soon as it answers",
		Retry: time.Second,
		err:   context.DeadlineExceeded,
	}
}

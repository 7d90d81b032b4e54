package cli

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/steps"
)

// stagedWalk is a process of a walk on real servers in which the script of a game day has the place of the person. It
// is made as that of rewarm run is, and takes orders, tells others and serves its metrics as that does.
type stagedWalk struct {
	*walk
	of      gameday.Walk
	driver  *driver
	stopped bool // in order
	shut    func() error
}

// process makes a process of a run of the day.
func (s *stage) process(of gameday.Walk) (gameday.Process, error) {
	on, err := s.p.realTargets(s.day.Book)
	if err != nil {
		return nil, err
	}
	w := s.p.newUnseenWalk(s.calling, s.day.Book, on)
	w.approve, w.over, w.printer = of.Approve, of.Over, dayPrinter(of.OnRecord)
	w.actor, w.host = of.Actor, cmp.Or(of.Host, w.host)
	staged := &stagedWalk{walk: w, of: of}
	staged.shut = sync.OnceValue(w.close)
	s.walks[of.Run] = staged
	return staged, nil
}

// dayPrinter tells the day of every record, and shows none.
type dayPrinter func(audit.Record, any)

func (p dayPrinter) print(record audit.Record, body any) error {
	p(record, body)
	return nil
}

// Begin begins the run.
func (s *stagedWalk) Begin(ctx context.Context) error {
	if err := s.begin(ctx, s.of.Run, ""); err != nil {
		return errors.Join(err, s.Close())
	}
	s.driver = s.newDriver(nil)
	return nil
}

// Resume goes on with the run from its log.
func (s *stagedWalk) Resume(ctx context.Context) error {
	log, err := s.p.logOf(ctx, s.of.Run, s.doc.Service)
	if err == nil {
		err = log.trouble
	}
	if err != nil {
		return err
	}
	state, err := s.p.foldWhole(log)
	if err != nil {
		return err
	}
	if err := s.resume(ctx, state, log); err != nil {
		return err
	}
	s.driver = s.newDriver(nil)
	return nil
}

// Step hands over what has come for the walk, and lets it make a move. A walk that has stopped gives everything back
// beside the day, for receivers that hang take their time.
func (s *stagedWalk) Step(ctx context.Context) (steps.Move, error) {
	move, err := s.driver.next(ctx)
	if _, stop := move.(steps.Stop); (stop || err != nil) && ctx.Err() == nil {
		s.stopped = true
		go func() { _ = s.shut() }() // whoever closes it hears of it too
	}
	return move, err
}

// Order gives an order of the script.
func (s *stagedWalk) Order(o steps.Order) error { return s.machine.Order(o) }

// State is nil before the run has begun.
func (s *stagedWalk) State() *steps.State {
	if s.machine == nil {
		return nil
	}
	return s.machine.State()
}

// Hears gives a context that ends when an order or the end of a call comes.
func (s *stagedWalk) Hears(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.mail.sleeping(ctx)
}

// Close ends the process. One that has not stopped is killed, and waits for no receiver.
func (s *stagedWalk) Close() error {
	if !s.stopped {
		s.hurried = true
	}
	return s.shut()
}

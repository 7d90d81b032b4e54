package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// walk lets the person walk until the end, in one process after the other where the day kills some.
func (s *practice) walk(ctx context.Context) (*walk, error) {
	w := s.newWalk(ctx, s.doc)
	if err := w.beginNew(ctx, ""); err != nil {
		return nil, errors.Join(err, w.close())
	}
	s.playing.Sits(w.machine)
	s.greet(w)
	for {
		process, kill := context.WithCancel(ctx)
		s.kill, s.killed = kill, false
		err := w.drive(process, w.person)
		kill()
		if errors.Is(err, errLeft) || !s.killed {
			return w, err
		}
		next, err := s.comeBack(ctx, w)
		if next == nil {
			return w, err
		}
		w = next
	}
}

func (s *practice) newWalk(ctx context.Context, doc *runbook.Document) *walk {
	w := s.p.newWalk(ctx, doc, s.on)
	w.mail, w.asks = s.mail, s.playing.Waits
	w.watchers = append(w.watchers, s)
	return w
}

// shown tells the day of a record of the walk.
func (s *practice) shown(record audit.Record, body any) { s.playing.Record(record, body) }

// replayed does nothing: the day knows what came before.
func (s *practice) replayed(audit.Record, any) {}

// greet says what a person who was called knows, and how far their words reach. Half a screen has room for two rows of
// it, the first ones.
func (s *practice) greet(w *walk) {
	out := w.person.out()
	if out == nil {
		out = s.p.err
	}
	say(out, "", fmt.Sprintf("you were called %s ago: something is wrong with %s", s.playing.Elapsed(), s.doc.Service))
	if s.on.past {
		say(out, "", "the metrics are of the past: flips change nothing in them")
	}
	say(out, "", "the end tells what it was; no other terminal reaches this lab")
	say(out, "", "type help for what you can say here")
}

// comeBack goes on with the run in a new process when that can be, as a person does whose process was killed. It gives
// nil when they do not wait for that.
func (s *practice) comeBack(ctx context.Context, gone *walk) (*walk, error) {
	if err := gone.close(); err != nil {
		return nil, err
	}
	away := s.playing.Back().Sub(s.on.clock.Now())
	sayWarning(s.p.err, fmt.Sprintf("the process of this walk was killed, and what it added to the load dies with it; "+
		"a new one goes on with the log in %s", away))
	if err := s.waitAway(ctx); err != nil {
		return nil, quiet(exitInterrupted, err)
	}
	if t := s.p.terminal(); t != nil {
		drain(t.file) // nobody was there to read it
	}
	s.mail.take()
	log, err := s.p.logOf(ctx, gone.folder.run, "")
	if err != nil {
		return nil, err
	}
	state, err := s.p.foldWhole(log)
	if err != nil {
		return nil, err
	}
	w := s.newWalk(ctx, state.Doc)
	if t, lines := gone.person.(*terminal); lines {
		w.person = t // it is being read from: a read cannot be called back
	}
	if err := w.resume(ctx, state, log); err != nil {
		return nil, errors.Join(err, w.close())
	}
	s.playing.Sits(w.machine)
	return w, nil
}

// waitAway waits until a killed process can be followed by another. The error says that the person left.
func (s *practice) waitAway(ctx context.Context) error {
	ctx, cancel := s.p.untilInterrupted(ctx)
	defer cancel()
	return s.on.clock.Wait(ctx, s.playing.Back())
}

// practiceCaller has the lab answer the calls of a runbook: nothing is executed.
type practiceCaller struct {
	playing *gameday.Playing
	post    func(mail)
}

// Start answers at once.
func (c practiceCaller) Start(r steps.CallRequest) {
	c.playing.Call(r, func(done steps.CallDone) { c.post(done) })
}

// dayOver is why the walk ends with the day.
const dayOver = "the time of the day is up"

// second ends the walk when the time of the day is up.
func (s *practice) second(elapsed time.Duration) {
	if elapsed >= s.play.day.Duration && !s.over {
		s.over = true
		s.mail.post(interruption{dayOver})
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// machine is what a walk drives.
type machine interface {
	Step(ctx context.Context) (steps.Move, error)
	Order(order steps.Order) error
	Receive(order steps.Order) (steps.Receipt, error)
	Called(done steps.CallDone) error
	HoldFor(cause, sentence string) error
	State() *steps.State
}

// driver drives one walk: it asks the machine for move after move, sleeps when the
// machine says so, and hands over what comes in. Only its goroutine touches the
// machine.
type driver struct {
	machine  machine
	clock    clock
	mail     *mailbox
	person   person    // nil when no person can be heard
	say      io.Writer // for the person, beside the records
	actor    string
	resume   string                       // the command that goes on with this run
	answers  func(answered)               // tells who gave an order elsewhere what became of it
	look     func(context.Context)        // posts what lies in the inbox now; nil where nobody else reaches the walk
	stepped  func() (time.Duration, bool) // how far the wall clock has parted from the run's; may be nil
	lingers  func(answering bool)         // slows a rehearsal down for a person; may be nil
	waits    func(steps.Question)         // told of what is asked, also of nothing; may be nil
	asked    asked
	listed   string // the step whose question was shown in full
	blocking string // what blocked the next release when the machine last waited
	rests    bool   // the machine waits since its last move
	stopped  bool   // an interruption was handed over
	leaves   error  // why the walk stops although it is held, nil while it goes on
	junk     junk   // what lay in the inbox and was no order
	looking  looking
}

// longestHold is how long a walk without a terminal stays on one hold.
const longestHold = 5 * time.Minute

// walk drives the machine to an end. The error is nil when the run closed.
func (d *driver) walk(ctx context.Context) error {
	for {
		move, err := d.next(ctx)
		if err != nil {
			return err
		}
		switch m := move.(type) {
		case steps.Stop:
			return d.ended(m.Ending)
		case steps.Wait:
			if err := d.wait(ctx, m); err != nil {
				return err
			}
		}
	}
}

// next hands over what has come in, and lets the machine make a move.
func (d *driver) next(ctx context.Context) (steps.Move, error) {
	if err := d.noteStep(); err != nil {
		return nil, err
	}
	if err := d.deliver(); err != nil {
		return nil, err
	}
	if err := d.timeIsUp(); err != nil {
		return nil, err
	}
	move, err := d.move(ctx)
	if err != nil {
		return nil, err
	}
	wait, waits := move.(steps.Wait)
	if d.rests = waits; waits {
		d.blocking = wait.Blocking
		d.tellWaits(wait.Question)
	}
	return move, nil
}

// move lets the machine make one move. What an interruption has broken off is nil and no
// error: it was not made, or what became of it is not known and will be settled.
func (d *driver) move(ctx context.Context) (steps.Move, error) {
	moving, cancel := d.mail.moving(ctx, d.clock)
	defer cancel()
	move, err := d.machine.Step(moving)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return nil, nil
	}
	return move, err
}

// ended gives each ending its exit code. A walk that stops after the stage that it was
// told to go through has done what it was asked.
func (d *driver) ended(ending steps.Ending) error {
	switch {
	case ending == steps.EndedClosed:
		return nil
	case ending == steps.EndedAborted:
		return quiet(exitAborted, errors.New("aborted"))
	case d.leaves != nil:
		return d.leaves
	case !d.stopped && d.machine.State().Begun.Through != "":
		return nil
	}
	return quiet(exitInterrupted, errors.New("interrupted"))
}

// wait sleeps until the machine wants to go on or something comes in. Where no
// person can be heard it does not wait for one.
func (d *driver) wait(ctx context.Context, m steps.Wait) error {
	if d.lingers != nil {
		d.lingers(!m.Question.Until.IsZero())
	}
	if d.person == nil {
		if err := d.unheard(ctx, m); err != nil {
			return err
		}
	} else if err := d.ask(m.Question); err != nil {
		return err
	} else {
		d.lookAtSignals(ctx, m.Question)
	}
	sleep, cancel := d.mail.sleeping(ctx)
	defer cancel()
	if err := d.clock.Wait(sleep, m.Until); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

func (d *driver) tellWaits(q steps.Question) {
	if d.waits != nil {
		d.waits(q)
	}
}

// noteStep writes into the log that the wall clock was set or that the machine slept:
// who reads the times later must know.
func (d *driver) noteStep() error {
	if d.stepped == nil {
		return nil
	}
	parted, is := d.stepped()
	switch {
	case !is:
		return nil
	case parted > 0:
		return d.note(fmt.Sprintf("the wall clock has gone %s ahead of the run: it was set, or this machine slept",
			parted.Round(time.Millisecond)))
	}
	return d.note(fmt.Sprintf("the wall clock was set back by %s: records are in the order of their numbers",
		(-parted).Round(time.Millisecond)))
}

// note is a remark of the program itself.
func (d *driver) note(text string) error { return d.remark(steps.Order{Text: text}) }

func (d *driver) remark(order steps.Order) error {
	order.Kind, order.By = steps.OrderNote, "rewarm"
	err := d.machine.Order(order)
	var refused *steps.RefusedOrder
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// unheard ends a walk that needs a word, or that has been held for long, and has no
// terminal: the machine idles what adds load and gives the command back. What it leaves
// in force is in the log, and a later process goes on. A word from elsewhere that has
// come already counts first.
func (d *driver) unheard(ctx context.Context, m steps.Wait) error {
	first, why := d.stuck(m)
	if why == nil || d.leaves != nil || d.hasCome(ctx) {
		return nil
	}
	return d.leave(why, first)
}

// stuck says why a walk that nobody hears cannot go on, nil when it can, and what comes
// first for whoever resumes it.
func (d *driver) stuck(m steps.Wait) (first string, why error) {
	if q := m.Question; d.needsWord(q) {
		return "go on at a terminal: ", errors.New(q.Step + " waits for a word and there is no terminal")
	}
	for _, hold := range d.machine.State().Holds() {
		if lasted := d.clock.Now().Sub(hold.Since); lasted >= longestHold {
			return "mend what blocks, then: ", fmt.Errorf("held for %s: %s", steps.Lasts(lasted), hold.Sentence)
		}
	}
	return "", nil
}

// hasCome reports whether something is to be delivered, as what lies in the inbox at this
// moment is.
func (d *driver) hasCome(ctx context.Context) bool {
	if d.look != nil {
		d.look(ctx)
	}
	return d.mail.waits()
}

// leave lets the machine come to a stop, and says why when it has.
func (d *driver) leave(why error, first string) error {
	d.leaves = fail(exitHeld, why, d.goOn(first))
	return d.machine.HoldFor(steps.CauseNoTerminal, why.Error())
}

// goOn says how to go on with a walk that has stopped. The lab ends with its process.
func (d *driver) goOn(first string) string {
	if d.machine.State().Begun.Lab {
		return "run it on a terminal, or with --approve auto"
	}
	return first + d.resume
}

// needsWord reports whether a question stays until a person answers: an approval,
// or a confirm without a default time.
func (d *driver) needsWord(q steps.Question) bool {
	if q.Asks == "" {
		return q.Step != "" || len(q.Offers) > 0
	}
	step := d.machine.State().Doc.Step(q.Step)
	return step == nil || step.Confirm == nil || step.Confirm.After == 0
}

// deliver hands over what has come in.
func (d *driver) deliver() error {
	for _, item := range d.mail.take() {
		var err error
		if !d.rests && isApproval(item) {
			d.mail.keep(item)
			continue
		}
		switch m := item.(type) {
		case typedLine:
			err = d.typed(m)
		case steps.CallDone:
			err = d.machine.Called(m)
		case interruption:
			d.stopped = true
			err = d.order(steps.Order{Kind: steps.OrderInterrupt, Text: m.signal})
		case steps.Order:
			err = d.receive(m)
		case unreadable:
			err = d.refuseUnreadable(m)
		case undelivered:
			err = d.hears(m)
		case seenSigns:
			err = d.noteSigns(m)
		case terminalGone:
			d.person, d.asked = nil, asked{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isApproval reports whether mail is to approve something. It is kept until the machine waits: between two moves
// nothing is on offer, and a word that came while a slow poll was under way would be refused for that.
func isApproval(item mail) bool {
	switch m := item.(type) {
	case typedLine:
		return approves(m.text)
	case steps.Order:
		return m.Kind == steps.OrderApprove
	}
	return false
}

// order gives an order to the machine; a refusal is said to the person and no error.
func (d *driver) order(order steps.Order) error {
	order.By = d.actor
	err := d.machine.Order(order)
	var refused *steps.RefusedOrder
	if !errors.As(err, &refused) {
		if waits := d.undoWaits(order); err == nil && waits != "" {
			d.tell(waits)
		}
		return err
	}
	d.tell("refused: " + refused.Sentence)
	d.tellHint(refused.Hint)
	return nil
}

// undoWaits says of an undo that is not made at once what it waits for, "" of any other order.
func (d *driver) undoWaits(order steps.Order) string {
	if order.Kind != steps.OrderUndo {
		return ""
	}
	s := d.machine.State()
	for _, l := range s.Lifts() {
		if order.Step == l.Step || order.Step == l.Control {
			return "the undo of " + l.Step + " lifts a protection: " + l.Awaits(s.Approve)
		}
	}
	return ""
}

func (d *driver) tell(text string) { say(d.say, "", text) }

func (d *driver) tellHint(text string) { sayHint(d.say, text) }

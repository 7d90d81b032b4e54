package gameday

import (
	"context"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// Playing is a day whose operator sits outside: a person, with a machine of their own on the
// day's clock, metrics and Redis. The day goes on while its clock is waited on, which only one
// goroutine may do at a time, that which drives the machine.
type Playing struct {
	w    *world
	lab  *labGround
	seat *walker
	sat  bool // a machine was seated before
}

// Seat opens a day for a person, and lets it happen until they have reacted. Close it.
func (d *Day) Seat(ctx context.Context, o Options) (*Playing, error) {
	o.person = true
	w, err := d.open(o)
	if err != nil {
		return nil, err
	}
	if w.run() == nil {
		w.close()
		return nil, fmt.Errorf("nobody walks a runbook on game day %s", d.Name)
	}
	lab, is := w.ground.(*labGround)
	if !is {
		w.close()
		return nil, fmt.Errorf("a person sits at the lab, and game day %s has a target", d.Name)
	}
	p := &Playing{w: w, lab: lab, seat: w.run()}
	if err := p.Clock().Wait(ctx, p.seat.beginAt); err != nil {
		w.close()
		return nil, err
	}
	return p, nil
}

// Clock is the time of the day. Waiting on it lets the day happen.
func (p *Playing) Clock() Clock { return happening{p.w} }

type happening struct{ w *world }

func (h happening) Now() time.Time { return h.w.clock.Now() }

func (h happening) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return h.w.clock.Deadline(ctx, d)
}

// Wait lets the day go on until then. What the day does at that moment comes before what the machine does then, and the
// look at the service behind it, as when a script walks.
func (h happening) Wait(ctx context.Context, until time.Time) error {
	for h.w.clock.Now().Before(until) {
		if _, err := h.w.happen(ctx); err != nil {
			return err
		}
		if err := h.w.wait(ctx, until); err != nil {
			return err
		}
	}
	h.w.act()
	return ctx.Err()
}

// Prober opens the way to the metrics of the person's walk, with the day's faults.
func (p *Playing) Prober() (*probes.Poller, error) { return p.lab.prober() }

// Store opens the way to the controls, with the day's faults. Who opens one closes it.
func (p *Playing) Store() (*actions.Store, error) { return p.lab.store() }

// Call makes a call of the runbook, and hands its outcome in.
func (p *Playing) Call(c steps.CallRequest, answer func(steps.CallDone)) { p.lab.call(c, answer) }

// Sits says with which machine the person walks. After a kill that is another one, which goes on with the run.
func (p *Playing) Sits(m *steps.Machine) {
	p.seat.machine, p.seat.id = m, m.State().Begun.Run
	if p.sat {
		p.w.tell(Event{Event: "walk", Outcome: "resumed"})
	}
	p.sat = true
}

// Back is when a process that was killed can be started again.
func (p *Playing) Back() time.Time { return p.seat.beginAt }

// Waits says what the person is asked now.
func (p *Playing) Waits(q steps.Question) { p.seat.question = q }

// Record tells of a record of the person's walk.
func (p *Playing) Record(record audit.Record, body any) { p.seat.record(record, body) }

// Elapsed is the time since the start of the day.
func (p *Playing) Elapsed() time.Duration { return p.w.elapsed() }

// Lost says why the person's walk has ended before its end.
func (p *Playing) Lost(why string) { p.w.tell(Event{Event: "walk", Outcome: "ended", Detail: why}) }

// End judges the day: at this moment when the person has left their walk before its end, else
// after everything that is yet to come. The machine must be at rest.
func (p *Playing) End(ctx context.Context) (*Result, error) {
	p.seat.question = steps.Question{}
	if s := p.seat.machine; p.w.run() == p.seat && (s == nil || s.State() == nil || s.State().Ending == "") {
		if err := p.w.look(ctx); err != nil {
			return nil, err
		}
		p.w.judge.end(ctx)
		return p.w.result(), nil
	}
	p.seat.stopped = true
	return p.w.toEnd(ctx)
}

// Close ends the lab.
func (p *Playing) Close() { p.w.close() }

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/internal/tui"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// playWatched plays a day by its script at a speed at which people can look on.
func (p *program) playWatched(ctx context.Context, plays []play, evidence string) ([]played, error) {
	if err := watchable(plays); err != nil {
		return nil, err
	}
	speed, flatOut, err := p.settings.pace(demoSpeed)
	if err != nil {
		return nil, err
	}
	eyes := &onlooker{real: p.clock, speed: speed}
	eyes.looks, eyes.leave = context.WithCancel(ctx)
	defer eyes.leave()
	if flatOut {
		eyes.leave()
	}
	one := plays[0]
	one.options.Pace, one.options.OnRecord, one.options.OnEvent = eyes.pace, eyes.shown, eyes.happened
	var end played
	if t := p.terminal(); p.fullScreen(t) {
		end = p.playOnScreen(ctx, one, evidence, eyes, t.file)
	} else {
		eyes.printer, eyes.says = p.printerFor(true), p.err
		say(p.err, "", dayAbout(one.day))
		seen, cancel := p.untilInterrupted(ctx)
		defer cancel()
		end = p.playDay(seen, one, evidence)
	}
	if end.err != nil {
		return []played{end}, notPlayed(end, 0, 1)
	}
	return []played{end}, errors.Join(p.showDay(end), p.showLesson(one.day))
}

// dayAbout says what somebody who looks on at a day will see.
func dayAbout(day *gameday.Day) string { return "game day " + oneLine(day.Name+": "+day.About) }

// showLesson prints what a day teaches, where its file says it.
func (p *program) showLesson(day *gameday.Day) error {
	if day.Lesson == "" || p.settings.json() {
		return nil
	}
	_, err := fmt.Fprint(p.out, wrapRows([]string{"  lesson  " + oneLine(day.Lesson)}, columnsOf(p.out)))
	return err
}

// watchable says why nobody can look on at plays, nil when they can.
func watchable(plays []play) error {
	switch day := plays[0].day; {
	case len(plays) > 1:
		return usage(errors.New("one game day is watched at a time"),
			"write: rewarm gameday run FILE|NAME --watch, with one --mistake at most")
	case day.Target != "":
		return usage(fmt.Errorf("game day %s breaks real servers, where its run is an ordinary one", day.Name),
			"leave --watch out; rewarm watch, at another terminal, shows it")
	case day.Runbook == runbook.NoRunbook:
		return usage(fmt.Errorf("nobody walks a runbook on game day %s, so there is nothing to watch", day.Name),
			"leave --watch out")
	}
	return nil
}

// playOnScreen shows the walk in the console until whoever looks on leaves; the rest of the day is then played at once.
func (p *program) playOnScreen(ctx context.Context, one play, evidence string, eyes *onlooker, in io.Reader) played {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := p.newScreen(in, p.screenFile(), tui.Options{Now: eyes.now, Watching: true, Again: eyes.again,
		Before: dayBegins(one.day)})
	eyes.printer, eyes.says = newScreenPrinter(s.console), s.console
	say(s.console, "", dayAbout(one.day))
	signals, stop := p.where.interrupts()
	defer stop()
	ended := make(chan played, 1)
	go func() {
		end := p.playDay(ctx, one, evidence)
		switch {
		case end.err != nil:
			s.console.Close()
		case one.day.Lesson != "":
			say(s.console, "", "the day is over; its lesson: "+oneLine(one.day.Lesson))
		}
		ended <- end
	}()
	go func() {
		select {
		case <-signals:
		case <-s.keys:
		case <-ctx.Done():
		}
		s.console.Close()
		select { // whoever does not wait for the rest of the day
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.console.Run(ctx)
	s.gone()
	eyes.leave()
	end := <-ended
	end.err = errors.Join(end.err, err)
	return end
}

// dayBegins says what a person sees nothing of: the walk of a day begins when its operator has reacted.
func dayBegins(day *gameday.Day) string {
	return fmt.Sprintf("game day %s is being prepared; its walk begins %s into the day, when the operator has reacted",
		oneLine(day.Name), day.Operator.Reacts)
}

// onlooker has a day go on at a speed at which people can follow, and shows them its walk.
type onlooker struct {
	real    clock
	speed   float64
	printer recordPrinter
	says    io.Writer
	looks   context.Context // done when nobody looks on any more
	leave   context.CancelFunc

	mu      sync.Mutex
	model   clock
	records []audit.Record // that were shown: there is no log of a day that is under way to read them from again
}

// pace puts a clock between the day and its time.
func (o *onlooker) pace(model gameday.Clock) gameday.Clock {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.model = model
	return watchedClock{newPacedClock(model, o.real, o.speed), o.looks}
}

// now is the time of the day.
func (o *onlooker) now() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.model == nil {
		return o.real.Now()
	}
	return o.model.Now()
}

// shown prints a record. A screen that is gone must not stop the day.
func (o *onlooker) shown(record audit.Record, body any) {
	o.mu.Lock()
	o.records = append(o.records, record)
	o.mu.Unlock()
	_ = o.printer.print(record, body)
	if begun, is := body.(*steps.Begun); is && begun.Over != nil {
		say(o.says, "", "the walk shown from here on is that of who took over: "+
			"it begins at the first stage again, and keeps what is flipped")
	}
}

// again gives records once more, to go back in time.
func (o *onlooker) again(from, to int) iter.Seq2[audit.Record, error] {
	o.mu.Lock()
	defer o.mu.Unlock()
	return eachOf(o.records[from:to:to])
}

// happened tells what the day does.
func (o *onlooker) happened(e gameday.Event) {
	say(o.says, "", fmt.Sprintf("%s of the day: %s %s%s", moment(e.Seconds), e.Event, e.Outcome, also(": ", e.Detail)))
}

// watchedClock goes at a speed until nobody looks on any more, and then as fast as it can.
type watchedClock struct {
	*pacedClock
	looks context.Context
}

// Wait lets the day go on until then.
func (c watchedClock) Wait(ctx context.Context, until time.Time) error {
	looked, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.looks, cancel)()
	if err := c.pacedClock.Wait(looked, until); err == nil || ctx.Err() != nil {
		return err
	}
	return c.model.Wait(ctx, until)
}

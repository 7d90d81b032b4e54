package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// stage is one playing of a day on real servers.
type stage struct {
	p        *program
	day      *gameday.Day
	on       targets
	folder   dayFolder
	evidence string // the folder of the bundles, "" for none
	log      *audit.Log
	injector *gameday.Injector
	calling  context.Context        // of the calls of the runbook
	walks    map[string]*stagedWalk // by run, the latest process of each
}

// playOnTarget plays a day on real servers. However it ends, by a panic too, what it has injected
// is taken back.
func (p *program) playOnTarget(ctx context.Context, one play, asked askedDays) (all []played, err error) {
	if err := p.dayConsent(one.day, asked.target); err != nil {
		return nil, err
	}
	if _, err := p.receivers(); err != nil {
		return nil, err
	}
	on, err := p.realTargets(one.day.Book)
	if err != nil {
		return nil, err
	}
	if err := p.marked(ctx, one.day, on); err != nil {
		return nil, err
	}
	s := &stage{p: p, day: one.day, on: on, evidence: asked.evidence, walks: map[string]*stagedWalk{}}
	o := one.options
	if o.Run, err = p.newRun(one.day.Book.Name); err != nil {
		return nil, err
	}
	if err := s.open(o.Run); err != nil {
		return nil, err
	}
	stops := p.watchStops(ctx)
	defer stops.end()
	s.calling = stops.leave
	defer func() { err = errors.Join(s.end(stops.leave), err) }()
	s.introduce(o.Run)
	o.Target, o.OnEvent = s.target(stops.stop), s.happened
	result, err := one.day.Play(stops.leave, o)
	if errors.Is(err, gameday.ErrStopped) {
		return nil, fail(exitInterrupted, err, "")
	}
	if err == nil {
		err = s.keep()
	}
	if err != nil {
		return nil, fmt.Errorf("game day %s: %w", one.day.Name, err)
	}
	shown := played{day: one.day, result: result, replay: p.playedAgain(one.name, one.day.Target, o, one.flags)}
	return []played{shown}, p.showDay(shown)
}

// dayConsent refuses a day on real servers that nobody has named, and one after which something
// is still to be taken back.
func (p *program) dayConsent(day *gameday.Day, named string) error {
	switch named {
	case day.Target:
	case "":
		return usage(fmt.Errorf("game day %s breaks real servers, those of the target %s", day.Name, day.Target),
			"if that is what you want, write --target "+day.Target)
	default:
		return usage(fmt.Errorf("game day %s is for the target %s, not for %s", day.Name, day.Target, named),
			"play it where it belongs")
	}
	folders, err := p.dayFolders()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		_, open, err := folder.read()
		if err != nil {
			return err
		}
		if len(open) > 0 {
			return fail(exitHeld, fmt.Errorf("game day %s has not taken back %s", folder.day, countOf(len(open), "injection")),
				p.command("gameday undo", folder.day)+" takes it back, unless the day is still being played")
		}
	}
	return nil
}

// marked requires that whoever runs the service lets game days break it: a name that was
// typed says nothing of the servers that stand in the settings.
func (p *program) marked(ctx context.Context, day *gameday.Day, on targets) error {
	if err := p.introduce(ctx, on); err != nil {
		return commandError(err)
	}
	name, err := on.store.TargetName(ctx)
	if err != nil {
		return commandError(err)
	}
	key := actions.TargetKey(day.Book.Service)
	switch name {
	case day.Target:
		return nil
	case "":
		return usage(fmt.Errorf("redis %s does not say that game days may break %s", on.redis, day.Book.Service),
			"where they may: redis-cli HSET "+shellWord(key)+" target "+day.Target)
	}
	return usage(fmt.Errorf("by %s redis %s is the target %s, and the day is for %s", key, on.redis, name, day.Target),
		"are these the right servers?")
}

// open begins the log of the day.
func (s *stage) open(run string) error {
	p := s.p
	id, err := p.newRun(s.day.Name)
	if err != nil {
		return err
	}
	if s.folder, err = p.newDayFolder(id); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	const writable = "make the state directory writable, or give another --state-dir"
	if s.log, err = audit.Create(s.folder.logPath(), s.on.clock, audit.Options{Wrap: p.where.logFile}); err != nil {
		return fail(exitError, err, writable)
	}
	sum := sha256.Sum256(s.day.Source)
	_, err = s.log.Commit(p.where.user, gameday.KindDayBegun, gameday.DayBegun{
		Format: gameday.LogFormat, Day: s.day.Name, File: s.day.File, SHA256: hex.EncodeToString(sum[:]),
		Target:  s.day.Target,
		Service: s.day.Book.Service, Prometheus: s.on.prometheus, Redis: s.on.redis, Run: run, Dir: dir,
		Version: p.where.version, Host: p.where.host, User: p.where.user, PID: p.where.pid,
	})
	if err != nil {
		return fail(exitError, errors.Join(err, s.log.Close()), writable)
	}
	s.injector = gameday.NewInjector(s.log, s.on.clock, s.p.callProgram, p.where.user, nil)
	return nil
}

// callProgram makes a call of a game day.
func (p *program) callProgram(ctx context.Context, inv runbook.Invocation, timeout time.Duration) actions.CallOutcome {
	return actions.RunCall(ctx, p.clock, inv, timeout)
}

// introduce says what is about to happen, and how to look on.
func (s *stage) introduce(run string) {
	say(s.p.err, "", fmt.Sprintf("game day %s is played on the target %s; what it injects is in %s",
		s.day.Name, s.day.Target, s.folder.logPath()))
	say(s.p.err, "", "an interrupt ends it early and takes back what was injected; a second one leaves at once")
	say(s.p.err, "", "the run is "+run+"; "+s.p.command("watch", run)+" follows it")
}

// happened tells of the day as it goes.
func (s *stage) happened(e gameday.Event) {
	say(s.p.err, "", fmt.Sprintf("%s %s %s%s", moment(e.Seconds), e.Event, e.Outcome, also(": ", e.Detail)))
}

func (s *stage) target(stop context.Context) *gameday.Target {
	return &gameday.Target{
		Clock: s.on.clock, Injector: s.injector, Stop: stop, Process: s.process,
		Prober: func() (*probes.Poller, error) { return s.p.openPoller(s.on.clock) },
		Store:  func() (*actions.Store, error) { return s.p.openStore(s.day.Book, s.on.clock) },
	}
}

// end takes back what is open, and says what could not be.
func (s *stage) end(ctx context.Context) error {
	for _, w := range s.walks {
		if err := w.Close(); err != nil {
			sayWarning(s.p.err, err.Error())
		}
	}
	err := s.p.takeBack(ctx, s.injector, s.folder, "")
	if err == nil {
		_, err = s.log.Commit(s.p.where.user, gameday.KindDayEnded, struct{}{})
	}
	return errors.Join(err, s.log.Close())
}

// keep captures what can vanish of the runs that are over, and writes their bundles.
func (s *stage) keep() error {
	for _, run := range slices.Sorted(maps.Keys(s.walks)) {
		w := s.walks[run]
		switch state := w.State(); {
		case state == nil: // it never began
			continue
		case w.takenOver() != nil: // whoever did it walks on, or is named here too
			continue
		case !over(state):
			sayWarning(s.p.err, "run "+run+" is open: "+s.p.command("resume", run)+" goes on with it")
			continue
		}
		w.captureEvidence()
		if s.evidence == "" {
			continue
		}
		if err := s.p.writeBundle(s.evidence, w.folder); err != nil {
			return err
		}
	}
	return nil
}

// stopWatch turns signals into the two ways to end a day early.
type stopWatch struct {
	stop  context.Context // done at the first: the day ends in order
	leave context.Context // done when somebody does not wait for that
	end   func()
}

// watchStops watches the signals until its end is called.
func (p *program) watchStops(ctx context.Context) stopWatch {
	stop, stopped := context.WithCancel(ctx)
	leave, left := context.WithCancel(ctx)
	signals, unwatch := p.where.interrupts()
	var watching sync.WaitGroup
	ended := make(chan struct{})
	watching.Go(func() {
		var asked stopsAsked
		for {
			select {
			case <-ended:
				return
			case signal := <-signals:
				switch asked.take(signal, p.clock.Now()) {
				case stopFirst:
					stopped()
				case stopNow:
					left()
				}
			}
		}
	})
	return stopWatch{stop, leave, sync.OnceFunc(func() {
		close(ended)
		watching.Wait()
		unwatch()
		stopped()
		left()
	})}
}

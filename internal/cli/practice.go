package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Who plays the operator of a game day.
const operatorScript, operatorHuman = "script", "human"

// practiceName is the runbook of a practice on every screen and in its log: the name of the real one says what broke.
const practiceName = "practice"

// practiceAgain begins another practice; which day was practised the log does not tell.
const practiceAgain = "rewarm gameday run DAY --operator " + operatorHuman

// practiceSpeed is that of an incident.
const practiceSpeed = 1

// practice is one game day on which a person plays the operator.
type practice struct {
	p       *program
	play    play
	doc     *runbook.Document // without what tells which it is
	playing *gameday.Playing
	on      targets
	mail    *mailbox
	over    bool // the time of the day is up
	kill    context.CancelFunc
	killed  bool
}

// practise lets a person walk, and shows what they did beside what the script does.
func (p *program) practise(ctx context.Context, asked askedDays) error {
	s, err := p.newPractice(asked)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.sitDown(ctx); err != nil {
		return err
	}
	defer s.playing.Close()
	script := s.scriptMeanwhile(ctx)
	w, err := s.walk(ctx)
	if w == nil || errors.Is(err, errLeft) {
		return err
	}
	defer w.close()
	w.captureEvidence()
	err = s.judged(commandError(err))
	one, failed := s.compare(ctx, w, script)
	if failed == nil {
		failed = s.keep(w, one, asked)
	}
	switch {
	case failed != nil || err != nil:
		return errors.Join(err, failed)
	case !one.result.Passed:
		return quiet(exitNotHeld, errNotHeld)
	}
	return nil
}

// keep checks the log, and writes what is asked for.
func (s *practice) keep(w *walk, one played, asked askedDays) error {
	if err := w.checkLog(); err != nil {
		return err
	}
	if err := s.p.keepJUnit(asked.junit, []played{one}); err != nil || asked.evidence == "" {
		return err
	}
	return s.p.writeBundle(asked.evidence, w.folder)
}

// judged leaves the end of a walk to what the day expects, unless its person has stopped it or it has failed.
func (s *practice) judged(err error) error {
	switch codeOf(err) {
	case exitAborted:
		return nil
	case exitCommanded:
		s.playing.Lost(err.Error())
		sayWarning(s.p.err, err.Error()+"; the rest of the day was played without you")
		return nil
	case exitInterrupted:
		if s.over {
			return nil
		}
	}
	return err
}

// scriptMeanwhile plays the day by its script, with the same seed.
func (s *practice) scriptMeanwhile(ctx context.Context) <-chan played {
	told := make(chan played, 1)
	go func() {
		result, err := s.play.day.Play(ctx, s.play.options)
		told <- played{day: s.play.day, result: result, err: err}
	}()
	return told
}

// compare ends the day, and shows and keeps what the person did beside what the script does.
func (s *practice) compare(ctx context.Context, w *walk, script <-chan played) (played, error) {
	one := played{day: s.play.day, replay: s.replay()}
	var err error
	if one.result, err = s.playing.End(ctx); err != nil {
		return one, err
	}
	told := <-script
	if told.err != nil {
		return one, told.err
	}
	c := comparedPlay{s.play.day.Compare(one.result, told.result), s.play.day.File, w.folder.run, one.replay}
	text, err := json.Marshal(c)
	if err != nil {
		return one, err
	}
	if err := os.WriteFile(filepath.Join(w.folder.dir, practiceName+".json"), append(text, '\n'), 0o600); err != nil {
		return one, fail(exitError, err, "make the state directory writable, or give another --state-dir")
	}
	return one, s.p.showPractice(c, w)
}

// replay is the command that plays the script of the day.
func (s *practice) replay() string {
	return s.p.playedAgain(s.play.name, "", s.play.options, s.play.flags)
}

// newPractice finds the day, and refuses what cannot be practised before anything is played.
func (p *program) newPractice(asked askedDays) (*practice, error) {
	if err := p.checkPractice(asked); err != nil {
		return nil, err
	}
	name, day, err := p.drawDay(asked)
	if err != nil {
		return nil, err
	}
	s := &practice{p: p, mail: &mailbox{}}
	set, err := p.settings.parameters()
	if err != nil {
		return nil, err
	}
	s.play = play{day, name, p.options(day, asked), bookFlag(asked.book) + setFlags(set)}
	if len(day.Operator.Mistakes) > 0 {
		s.play.options.Mistakes = []string{} // those are the script's
	}
	if s.doc, err = disguised(day.Book); err != nil {
		return nil, err
	}
	if p.terminal() == nil {
		return nil, usage(errors.New("a person plays at a terminal, and there is none"),
			"run it on a terminal, with --plain for lines; without --operator human the script plays")
	}
	return s, nil
}

// checkPractice refuses flags that mean nothing to a person.
func (p *program) checkPractice(asked askedDays) error {
	speed, flatOut, err := p.settings.pace(practiceSpeed)
	switch {
	case err != nil:
		return err
	case asked.watch:
		return usage(errors.New("--watch is for looking on while the script plays"), "leave it out: who walks sees the walk")
	case flatOut || speed <= 0:
		return usage(errors.New("at --speed max no person can keep up"), "give a number, or leave it out for real time")
	case slices.ContainsFunc(asked.mistakes, func(name string) bool { return name != noMistake }):
		return usage(errors.New("--mistake is for the script; a person makes their own"), "leave --mistake out")
	case p.settings.approve != string(steps.Manual):
		return usage(errors.New("a person who practises approves by hand"), "leave --approve out")
	}
	return nil
}

// drawDay gives the day that was asked for, or one of several, so that whoever asked does not know which.
func (p *program) drawDay(asked askedDays) (string, *gameday.Day, error) {
	var names []string
	var days []*gameday.Day
	for _, name := range asked.names {
		day, err := p.openDay(name, asked.book)
		if err == nil {
			err = practicable(day)
		}
		if err != nil && !asked.all {
			return "", nil, err
		}
		if err == nil {
			names, days = append(names, name), append(days, day)
		}
	}
	if len(days) == 0 {
		return "", nil, usage(errors.New("no game day can be practised so"), "leave out what was changed of them")
	}
	drawn, err := rand.Int(p.where.random, big.NewInt(int64(len(days))))
	if err != nil {
		return "", nil, err
	}
	return names[drawn.Int64()], days[drawn.Int64()], nil
}

// practicable says why there is nothing for a person to do on a day, nil when there is.
func practicable(day *gameday.Day) error {
	const script = "leave --operator out, and the script plays it"
	switch {
	case day.Target != "":
		return usage(fmt.Errorf("game day %s breaks real servers, and a person practises on the lab", day.Name), script)
	case day.Runbook == runbook.NoRunbook:
		return usage(fmt.Errorf("nobody walks a runbook on game day %s", day.Name),
			"give one, as with --runbook "+bundledBook)
	case len(day.Breaks) > 0:
		return usage(fmt.Errorf("on game day %s the runbook is the mistake, and no person makes it good", day.Name), script)
	case day.Operator.Approve == runbook.ApproveNobody:
		return usage(fmt.Errorf("on game day %s nobody answers, so there is nothing to do", day.Name), script)
	}
	return nil
}

// sitDown opens the day and lets it happen until the person has reacted.
func (s *practice) sitDown(ctx context.Context) error {
	o := s.play.options
	year, month, date := s.p.clock.Now().UTC().Date()
	o.Date = time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
	o.OnSecond = s.second
	o.Killed = func() { s.killed = true; s.kill() }
	var err error
	if s.playing, err = s.play.day.Seat(ctx, o); err != nil {
		return err
	}
	return s.open()
}

// open makes what a walk of the person acts on.
func (s *practice) open() error {
	poller, err := s.playing.Prober()
	if err != nil {
		return err
	}
	store, err := s.playing.Store()
	if err != nil {
		return err
	}
	s.p.closeLater(store.Close)
	speed, _, err := s.p.settings.pace(practiceSpeed)
	if err != nil {
		return err
	}
	paced := newPacedClock(s.playing.Clock(), s.p.clock, speed)
	s.on = targets{
		prober: poller, store: store, caller: practiceCaller{s.playing, s.mail.post}, clock: paced, lingers: paced.linger,
		prometheus: poller.Address(), redis: store.Target(), lab: true, past: s.play.day.Past != nil,
		again: s.replay() + " --operator " + operatorHuman, logged: practiceAgain,
	}
	return nil
}

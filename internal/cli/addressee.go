package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

// addressee is a run that is told something: wherever it is walked, by its Redis.
type addressee struct {
	run, service string
	store        *actions.Store
	spells       func(words, about string) string // a command that finds the run as it was found
}

// command spells a command about a run of the same service.
func (to addressee) command(words, run string) string { return to.spells(words, run) }

// addressee finds a run by its log on this machine or, where a service is given, by what
// that service's Redis says.
func (p *program) addressee(ctx context.Context, name, service string) (addressee, error) {
	if service != "" {
		return p.addresseeOf(ctx, name, service)
	}
	folder, err := p.findRun(name)
	if err != nil {
		return addressee{}, elsewhere(err)
	}
	state, err := p.fold(folder)
	if err != nil {
		return addressee{}, err
	}
	if state.Begun.Lab {
		return addressee{}, usage(fmt.Errorf("run %s was walked on the lab, which nobody else reaches", folder.run),
			"type it where the run is walked")
	}
	if hand := state.Begun.Hand; hand != nil {
		return addressee{}, usage(fmt.Errorf("run %s is one flip of %s by hand, which nobody walks", folder.run,
			hand.Control),
			p.command("controls set", state.Begun.Service+" "+hand.Control+" VALUE --reason TEXT")+
				" flips it again, as back to what it was")
	}
	p.fromLog(state.Begun)
	return p.reach(folder.run, state.Begun.Service)
}

// elsewhere adds how a run of another machine is found.
func elsewhere(err error) error {
	var f *failure
	if errors.As(err, &f) && f.code == exitUsage {
		return usage(f.err, f.hint+"; one that is walked elsewhere is found with --service NAME --redis URL")
	}
	return err
}

func (p *program) reach(run, service string) (addressee, error) {
	s := p.settings
	if s.redis == "" && s.redisConfig == "" {
		return addressee{}, usage(errors.New("no redis is given"),
			"give --redis URL or --redis-config FILE, set REWARM_REDIS, or use a --profile")
	}
	store, err := actions.Open(actions.Options{URL: s.redis, ConfigFile: s.redisConfig, Service: service, Clock: p.clock})
	if err != nil {
		return addressee{}, usage(err, "")
	}
	p.closeLater(store.Close)
	return addressee{run: run, service: service, store: store, spells: p.command}, nil
}

// addresseeOf takes a whole id as it is; part of one, or last, is that of the commander.
func (p *program) addresseeOf(ctx context.Context, name, service string) (addressee, error) {
	to, err := p.reach(name, service)
	if err != nil {
		return to, err
	}
	to.spells = func(words, about string) string { return p.elsewhereCommand(words, about, service) }
	commander, err := to.store.Commander(ctx)
	if err != nil {
		return to, commandError(err)
	}
	switch {
	case commander.Run != "" && (name == latest || strings.HasPrefix(commander.Run, name) ||
		strings.HasSuffix(commander.Run, name)):
		to.run = commander.Run
	case !runShape().MatchString(name):
		return to, usage(fmt.Errorf("no run %q commands service %s: %s", name, service, commander.Error()),
			"give the whole id of the run")
	}
	return to, nil
}

// walked reports whether a process walks the run now; if not, why, and the way out.
func (to addressee) walked(ctx context.Context) error {
	commander, err := to.store.Commander(ctx)
	if err != nil {
		return notSent(err)
	}
	switch {
	case commander.Run == to.run && !commander.Until.Before(commander.Now):
		return nil
	case commander.Run == to.run:
		return fail(exitError, fmt.Errorf("nothing was sent: %s", commander.Error()),
			"its process is gone, or cut off from redis: "+to.command("resume", to.run)+" goes on")
	}
	if ending := to.ending(ctx); ending != "" {
		return fail(exitError, fmt.Errorf("nothing was sent: run %s is %s", to.run, ending),
			to.command("status", to.run)+" says what it left")
	}
	if by, err := to.store.TakenOver(ctx, to.run); err == nil && by != nil {
		return fail(exitError, fmt.Errorf("nothing was sent: %w", by),
			"give it to that run: "+to.command("status", by.Run)+" says where it stands")
	}
	return fail(exitError, fmt.Errorf("nothing was sent: no process walks run %s now; %s", to.run, commander.Error()),
		to.command("resume", to.run)+" goes on with it")
}

// ending is how a run ended, as the mirror of its log says; "" when it says nothing.
func (to addressee) ending(ctx context.Context) steps.Ending {
	const looked = 4 // the end itself, and heads that were signed after it
	lines, err := to.store.Newest(ctx, to.run, looked)
	if err != nil {
		return ""
	}
	for _, line := range lines {
		var record struct {
			Kind steps.Kind `json:"kind"`
		}
		if json.Unmarshal([]byte(line), &record) != nil {
			continue
		}
		switch record.Kind {
		case steps.KindClosed:
			return steps.EndedClosed
		case steps.KindAborted:
			return steps.EndedAborted
		}
	}
	return ""
}

// notSent is why an order did not leave this machine, or was refused by Redis.
func notSent(err error) error {
	var failure *actions.Failure
	if !errors.As(err, &failure) {
		return err
	}
	hint := failure.Hint
	if failure.Cause == actions.NoAnswer { // it was only looked at
		hint = "see that it runs and that the address is right; where the run is walked every order can be typed"
	}
	return fail(exitError, fmt.Errorf("nothing was sent: %w", err), hint)
}

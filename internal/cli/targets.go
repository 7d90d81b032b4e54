package cli

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// realTargets opens the Prometheus and the Redis of the settings. It asks neither:
// one that is down must not keep a walk from starting.
func (p *program) realTargets(doc *runbook.Document) (targets, error) {
	s := p.settings
	if s.given["speed"] {
		return targets{}, usage(errors.New("--speed is for the lab; real servers run in real time"), "leave --speed out")
	}
	if s.prometheus == "" {
		return targets{}, usage(errors.New("no prometheus is given"),
			"give --prometheus URL, set REWARM_PROMETHEUS, or use a --profile")
	}
	if s.redis == "" && s.redisConfig == "" {
		return targets{}, usage(errors.New("no redis is given"),
			"give --redis URL or --redis-config FILE, set REWARM_REDIS, or use a --profile")
	}
	now := p.clock
	if p.where.servers != nil {
		now = p.where.servers
	}
	poller, err := p.openPoller(now)
	if err != nil {
		return targets{}, usage(err, "")
	}
	store, err := p.openStore(doc, now)
	if err != nil {
		return targets{}, usage(err, "")
	}
	p.closeLater(store.Close)
	return targets{prober: poller, store: store, clock: now, prometheus: poller.Address(),
		redis: shownRedis(s.redis, store)}, nil
}

func (p *program) openPoller(now clock) (*probes.Poller, error) {
	return probes.NewPoller(probes.Options{URL: p.settings.prometheus, ConfigFile: p.settings.prometheusConfig}, now)
}

func (p *program) openStore(doc *runbook.Document, now clock) (*actions.Store, error) {
	return actions.Open(actions.Options{
		URL: p.settings.redis, ConfigFile: p.settings.redisConfig, Service: doc.Service, Clock: now,
	})
}

// shownRedis is the Redis of a walk without secrets: as a URL that resume can go to
// where a URL was given, else as the addresses of the configuration file.
func shownRedis(address string, store *actions.Store) string {
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return store.Target()
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	kept, given := url.Values{}, u.Query()
	for _, key := range []string{"addr", "cluster", "master_name", "db"} {
		if given.Has(key) {
			kept[key] = given[key]
		}
	}
	u.RawQuery, u.Fragment = kept.Encode(), ""
	return u.String()
}

// introduce says which servers these are, so that a person sees a wrong one before
// anything is flipped. A Redis that does not answer is given back: whether that is a
// warning or the end is known when the walk has begun.
func (p *program) introduce(ctx context.Context, on targets) error {
	if p.settings.profile != "" {
		say(p.err, "", "profile "+p.settings.profile)
	}
	say(p.err, "", "prometheus "+on.prometheus)
	identity, err := on.store.Identity(ctx)
	if err == nil {
		say(p.err, "", identity)
	}
	return err
}

// commandCaller runs the calls of a runbook. Their outcomes come by mail.
type commandCaller struct {
	ctx   context.Context
	clock clock
	post  func(mail)
}

// Start runs a call in the background and returns at once.
func (c commandCaller) Start(r steps.CallRequest) {
	go func() {
		outcome := c.call(r)
		c.post(steps.CallDone{
			Step: r.Step, Undo: r.Undo, Instead: r.Instead, OK: outcome.OK, Output: outcome.Output, Error: outcome.Err,
		})
	}()
}

// call makes the call. Where there is a check, it decides whether the call had its
// effect; what both said is kept.
func (c commandCaller) call(r steps.CallRequest) actions.CallOutcome {
	outcome := actions.RunCall(c.ctx, c.clock, r.Do, r.Timeout)
	if r.Check == nil {
		return outcome
	}
	checked := actions.RunCall(c.ctx, c.clock, *r.Check, r.Timeout)
	checked.Output = strings.TrimSpace(outcome.Output + "\n" + checked.Output)
	return checked
}

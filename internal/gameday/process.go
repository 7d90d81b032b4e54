package gameday

import (
	"context"
	"fmt"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// Process is one process of a run that the script of a day walks.
type Process interface {
	// Begin begins the run. Where it cannot, nothing of it is left.
	Begin(ctx context.Context) error
	// Resume goes on with the run after the process before this one was killed.
	Resume(ctx context.Context) error
	// Step hands over what has come for the run, and lets its machine make a move.
	Step(ctx context.Context) (steps.Move, error)
	Order(o steps.Order) error
	State() *steps.State
	// Hears gives a context that ends as soon as something comes for the run.
	Hears(ctx context.Context) (context.Context, context.CancelFunc)
	// Close ends the process: at once where the walk has not stopped, as when it is killed.
	Close() error
}

// Walk is what a process walks.
type Walk struct {
	Run      string
	Actor    string // who walks
	Host     string // where they sit; "" for this machine
	Approve  steps.ApproveMode
	Over     *steps.Over             // from which run it takes the command; nil for none
	OnRecord func(audit.Record, any) // is told of every record
}

// labRun is a run on the lab: what outlives its processes, and the latest of those.
type labRun struct {
	journal Journal
	process *labProcess
}

// labProcess is a process of a run on the lab, through whose faults it walks.
type labProcess struct {
	*steps.Machine
	ground *labGround
	walk   Walk
	prober *probes.Poller
	store  *actions.Store
	calls  []steps.CallDone
}

// process makes a process of a run.
func (g *labGround) process(walk Walk) (Process, error) {
	p := &labProcess{ground: g, walk: walk}
	var err error
	if p.prober, err = g.prober(); err != nil {
		return nil, err
	}
	if p.store, err = g.store(); err != nil {
		return nil, err
	}
	run := g.runs[walk.Run]
	if run == nil {
		run = &labRun{}
		if run.journal, err = g.newJournal(walk.Run); err != nil {
			return nil, err
		}
		g.runs[walk.Run] = run
	}
	run.process = p
	p.Machine = steps.New(steps.Config{
		Doc: g.w.day.Book, Journal: run.journal, Prober: p.prober, Controls: p.store, Caller: p, Clock: g.w.clock,
		Begun:    p.begun(),
		Holder:   actions.Holder{Run: walk.Run, Actor: walk.Actor, Host: walk.Host},
		OnRecord: walk.OnRecord,
	})
	return p, nil
}

// newJournal begins the log of a run.
func (g *labGround) newJournal(run string) (Journal, error) {
	if g.w.options.Journal != nil {
		return g.w.options.Journal(run, g.w.clock)
	}
	return &memory{now: g.w.clock.Now, keeps: g.w.kills()}, nil
}

func (p *labProcess) begun() steps.Begun {
	w, doc := p.ground.w, p.ground.w.day.Book
	begun := steps.Begun{
		Format: steps.FormatV1, Run: p.walk.Run, Service: doc.Service, File: doc.File, Runbook: doc.Source, SHA256: doc.Sum(),
		Parameters: w.day.Set, Approve: p.walk.Approve, Version: w.options.Version, Prometheus: p.prober.Address(),
		Redis: p.store.Target(), Host: p.walk.Host, User: p.walk.Actor, Over: p.walk.Over,
		Lab: true, Past: w.day.Past != nil,
	}
	if !begun.Past {
		begun.Scenario = &steps.Scenario{Name: w.day.Story.Name, Seed: w.options.Seed}
	}
	return begun
}

// Begin begins the run.
func (p *labProcess) Begin(ctx context.Context) error {
	err := p.Machine.Begin(ctx)
	if err != nil {
		_ = p.Close()
		run := p.ground.runs[p.walk.Run]
		delete(p.ground.runs, p.walk.Run)
		_ = run.journal.Close() // nothing is in it
	}
	return err
}

// Resume goes on with the log of the run.
func (p *labProcess) Resume(ctx context.Context) error {
	records, err := p.ground.runs[p.walk.Run].journal.Reopen()
	if err != nil {
		return err
	}
	return p.Machine.Resume(ctx, records)
}

// Step hands over the answers of calls, and makes a move.
func (p *labProcess) Step(ctx context.Context) (steps.Move, error) {
	calls := p.calls
	p.calls = nil
	for _, answer := range calls {
		if err := p.Called(answer); err != nil {
			return nil, err
		}
	}
	return p.Machine.Step(ctx)
}

// Hears: nothing comes for a run on the lab while the day waits.
func (p *labProcess) Hears(ctx context.Context) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// Start makes a call; the answer is handed in before the next move.
func (p *labProcess) Start(c steps.CallRequest) {
	p.ground.call(c, func(done steps.CallDone) { p.calls = append(p.calls, done) })
}

// Close gives the way to Redis back.
func (p *labProcess) Close() error { return p.store.Close() }

// end lets others have the runs.
func (g *labGround) end(ctx context.Context) error {
	for _, walker := range g.w.runs {
		run := g.runs[walker.id]
		if g.w.options.Ended == nil || run == nil || run.process.State() == nil {
			continue
		}
		p := run.process
		e := Ended{Run: walker.id, State: p.State(), Prober: p.prober, Store: p.store, Clock: g.w.clock}
		if err := run.journal.Close(); err != nil {
			return fmt.Errorf("the log of run %s: %w", walker.id, err)
		}
		if err := g.w.options.Ended(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

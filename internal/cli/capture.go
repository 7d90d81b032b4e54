package cli

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/evidence"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// A capture has at most so many points a series, and none closer than a second.
const (
	capturePoints = 600
	captureLead   = 2 * time.Minute // of the time before the run
	captureLimit  = time.Minute     // for all that is asked
)

// courser is what a walk polls with, when it can tell the past of probes too.
type courser interface {
	Courses(ctx context.Context, doc *runbook.Document, from, to time.Time, step time.Duration) iter.Seq[probes.Course]
	Address() string
}

// capturer keeps in a run's folder what can vanish.
type capturer struct {
	dir    string
	state  *steps.State
	probes courser
	store  *actions.Store
	clock  clock
	told   *progress // of probes that have been asked
}

func (c *capturer) capture(ctx context.Context) error {
	ctx, cancel := c.clock.Deadline(ctx, captureLimit)
	defer cancel()
	return errors.Join(evidence.KeepRanges(c.dir, c.ranges(ctx)), evidence.KeepControls(c.dir, c.controls(ctx)))
}

func (c *capturer) ranges(ctx context.Context) evidence.Ranges {
	from, to := c.state.BegunAt.Add(-captureLead).UTC(), c.state.LastAt.UTC()
	step := max(time.Second, (to.Sub(from) / capturePoints).Round(time.Second))
	r := evidence.Ranges{CapturedAt: c.clock.Now().UTC(), Source: c.probes.Address(), From: from, To: to,
		StepMS: step.Milliseconds()}
	had := 0
	for course := range c.probes.Courses(ctx, c.state.Doc, from, to, step) {
		one := evidence.Range{Probe: course.Probe, Unit: course.Unit, Query: course.Query, Missing: course.Detail}
		for _, s := range course.Series {
			series := evidence.Series{Labels: s.Series}
			for _, point := range s.Points {
				series.Points = append(series.Points, evidence.Point{At: point.At, Value: point.Raw})
			}
			one.Series = append(one.Series, series)
			had++
		}
		r.Probes = append(r.Probes, one)
		c.told.add(1)
	}
	if had == 0 {
		r.Missing = "no probe has a past"
		for _, one := range r.Probes {
			if one.Missing != "" {
				r.Missing = one.Missing
				break
			}
		}
	}
	return r
}

func (c *capturer) controls(ctx context.Context) evidence.Controls {
	kept := evidence.Controls{CapturedAt: c.clock.Now().UTC(), Source: c.store.Target()}
	all := make([]*runbook.Control, len(c.state.Doc.Controls))
	for i := range c.state.Doc.Controls {
		all[i] = &c.state.Doc.Controls[i]
	}
	read, err := c.store.Read(ctx, all)
	if err != nil {
		kept.Missing = err.Error()
		return kept
	}
	for _, control := range all {
		live := read[control.Name]
		value := evidence.ControlValue{Control: control.Name, Value: live.Raw, Edited: live.Edited}
		if live.Meta != nil {
			value.Run, value.Actor, value.At = live.Meta.Run, live.Meta.Actor, time.UnixMilli(live.Meta.At).UTC()
		}
		kept.Controls = append(kept.Controls, value)
	}
	return kept
}

// captureEvidence keeps what can vanish when a walk has ended. What goes wrong is said: the next export tries again.
func (w *walk) captureEvidence() {
	past, ok := w.on.prober.(courser)
	state := w.machine.State()
	if !ok || state == nil || !over(state) && !w.on.lab {
		return
	}
	c := &capturer{dir: w.folder.dir, state: state, probes: past, store: w.on.store, clock: w.on.clock}
	if err := c.capture(context.Background()); err != nil {
		sayWarning(w.p.err, "the evidence of this run is not complete yet: "+err.Error())
	}
}

// over reports whether a run has nothing to come.
func over(s *steps.State) bool {
	return s.Ending == steps.EndedClosed || s.Ending == steps.EndedAborted
}

// captureLate keeps what can vanish at an export, when that was not done at the end of the walk. A run that goes
// on is captured when it is over.
func (p *program) captureLate(ctx context.Context, folder runFolder) error {
	if evidence.Captured(folder.dir) {
		return nil
	}
	state, err := p.fold(folder)
	if err != nil || state.Begun.Lab || !over(state) {
		return err
	}
	p.fromLog(state.Begun)
	on, err := p.realTargets(state.Doc)
	if err != nil {
		return err
	}
	past, ok := on.prober.(courser)
	if !ok {
		return nil
	}
	told := p.progress("asking prometheus for "+folder.run, "probes", float64(len(state.Doc.Probes)))
	defer told.end()
	c := &capturer{dir: folder.dir, state: state, probes: past, store: on.store, clock: p.clock, told: told}
	return c.capture(ctx)
}

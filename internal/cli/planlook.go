package cli

import (
	"context"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// looked is what was read for a plan.
type looked struct {
	doc     *runbook.Document
	live    map[string]actions.Live // nil when Redis was not read
	seen    *probes.Observation     // nil when Prometheus was not asked
	trouble []string

	callsAreModelled bool // by the lab, which runs no program
}

func look(ctx context.Context, doc *runbook.Document, on targets) looked {
	l := looked{doc: doc}
	if on.store != nil {
		var controls []*runbook.Control
		for i := range doc.Controls {
			controls = append(controls, &doc.Controls[i])
		}
		live, err := on.store.Read(ctx, controls)
		if err != nil {
			l.trouble = append(l.trouble, err.Error())
		} else {
			l.live = live
		}
	}
	if on.prober != nil {
		seen := on.prober.Poll(ctx, doc, l.asks(), 0)
		l.seen = &seen
		if seen.Reason != "" {
			l.trouble = append(l.trouble, seen.Detail)
		}
	}
	return l
}

// asks are the questions of all gates of all steps, of the guards and of the exit.
func (l looked) asks() []probes.Ask {
	var list []probes.Ask
	add := func(gate runbook.Gate, from, to string) {
		for _, ask := range probes.Asks(l.doc, gate, from, to) {
			if !slices.Contains(list, ask) {
				list = append(list, ask)
			}
		}
	}
	for step := range l.doc.Steps() {
		from, to := l.rung(step)
		add(slices.Concat(step.When, step.Expect, step.UndoIf), from, to)
	}
	add(l.doc.Exit.When, "", "")
	for _, guard := range l.doc.Guards {
		add(runbook.Gate{{guard.Bound}}, "", "")
	}
	return list
}

// unjudged counts the probes that were asked, and names those whose answer cannot be
// judged. One that waits for a rung that is not known now is neither.
func (l looked) unjudged() (asked int, without []string) {
	if l.seen == nil {
		return 0, nil
	}
	answered := map[string]bool{}
	for _, ask := range l.asks() {
		if l.doc.Probe(ask.Probe).UsesRung() && ask.From == "" {
			continue
		}
		s := l.situation(l.doc.Defaults.StaleAfter, ask.From, ask.To)
		any := runbook.Bound{Probe: ask.Probe, Op: runbook.AtLeast}
		good := probes.JudgeBound(any, s).Verdict != probes.Unknown
		before, known := answered[ask.Probe]
		answered[ask.Probe] = good && (before || !known)
	}
	for name, good := range answered {
		if !good {
			without = append(without, name)
		}
	}
	slices.Sort(without)
	return len(answered), without
}

// rung gives the numbers of the first rung that a step would take, "" without them.
func (l looked) rung(step *runbook.Step) (from, to string) {
	if step.Flip == nil || len(step.Flip.Through) == 0 {
		return "", ""
	}
	c := l.doc.Control(step.Flip.Control)
	first := step.Flip.Through[0]
	live, known := l.live[c.Name]
	if !c.Kind.Numeric() || !known || live.Invalid != "" || live.Value.Unlimited {
		return "", ""
	}
	return actions.Encode(live.Value), actions.Encode(first)
}

// gate gives a gate and, where Prometheus was asked, what it says now. The step is nil
// for the exit. Marks do not apply before a flip.
func (l looked) gate(step *runbook.Step, gate runbook.Gate) gatePreview {
	var view gatePreview
	for _, group := range gate {
		var bounds []findingPreview
		for _, bound := range group {
			bounds = append(bounds, l.finding(step, bound))
		}
		view = append(view, bounds)
	}
	return view
}

func (l looked) finding(step *runbook.Step, bound runbook.Bound) findingPreview {
	if l.seen == nil {
		return findingPreview{Bound: bound.String()}
	}
	staleAfter, from, to := l.doc.Defaults.StaleAfter, "", ""
	if step != nil {
		staleAfter = step.Timing.StaleAfter
		from, to = l.rung(step)
	}
	f := probes.JudgeBound(bound, l.situation(staleAfter, from, to))
	return findingPreview{Bound: f.Bound, Verdict: f.Verdict.String(), Value: f.Value, Sentence: f.Sentence}
}

func (l looked) situation(staleAfter time.Duration, from, to string) probes.Situation {
	return probes.Situation{
		StaleAfter: staleAfter, From: from, To: to,
		Answer:   func(a probes.Ask) *probes.Answer { return l.seen.Answer(a) },
		Previous: func(probes.Ask) *probes.Answer { return nil },
		Control:  l.number,
		Baseline: l.baseline,
		Probe:    l.doc.Probe,
	}
}

// baseline is the start value that a walk would fix if it began now.
func (l looked) baseline(probe string) (float64, bool) {
	a := l.seen.Answer(probes.Ask{Probe: probe})
	if a == nil || a.Reason != "" || len(a.Readings) != 1 {
		return 0, false
	}
	return a.Readings[0].Value, true
}

func (l looked) number(name string) (float64, bool) {
	live, known := l.live[name]
	if !known || live.Invalid != "" || live.Value.Unlimited || !live.Value.Kind.Numeric() {
		return 0, false
	}
	return live.Value.Number, true
}

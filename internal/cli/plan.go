package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) planCommand() *cobra.Command {
	var onLab bool
	cmd := &cobra.Command{
		Use:   "plan BOOK",
		Short: "Say what each step would ask and flip now, and the time floor",
		Long: `Reads the runbook and, where --prometheus and --redis are given, what its gates answer and
what its controls hold at this moment. It says what each step would do now, and the least
time that the walk takes when everything is green at once. It writes nothing.

With --lab it asks the embedded lab, half a minute into its collapse.`,
		Args: exactly(1, "plan BOOK"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.plan(cmd.Context(), args[0], onLab) },
	}
	cmd.Flags().BoolVar(&onLab, "lab", false, "ask the embedded lab")
	return cmd
}

// preview is what a walk would do now; it is also the JSON of plan.
type preview struct {
	File       string         `json:"file"`
	Service    string         `json:"service"`
	Findings   int            `json:"findings"` // of lint, without those that are waived
	Prometheus string         `json:"prometheus,omitempty"`
	Redis      string         `json:"redis,omitempty"`
	Trouble    []string       `json:"trouble,omitempty"` // what could not be asked
	Stages     []stagePreview `json:"stages"`
	Floor      floorPreview   `json:"floor"`
}

type stagePreview struct {
	Stage   string        `json:"stage"`
	Skip    string        `json:"skip,omitempty"`
	FloorMS int64         `json:"floor_ms"`
	Steps   []stepPreview `json:"steps,omitempty"`
}

type stepPreview struct {
	Step      string            `json:"step"`
	Why       string            `json:"why,omitempty"`
	Modes     []runbook.Mode    `json:"modes,omitempty"`
	When      []findingPreview  `json:"when,omitempty"`
	Action    string            `json:"action"`
	Direction runbook.Direction `json:"direction,omitempty"` // of a flip whose before is known
	Approval  runbook.Approval  `json:"approval,omitempty"`
	Expect    []findingPreview  `json:"expect,omitempty"`
}

// findingPreview is one bound and, where it was asked, its verdict at this moment.
type findingPreview struct {
	Bound    string `json:"bound"`
	Or       bool   `json:"or,omitempty"` // it is enough that this or the bound before holds
	Verdict  string `json:"verdict,omitempty"`
	Value    string `json:"value,omitempty"`
	Sentence string `json:"sentence,omitempty"`
}

type floorPreview struct {
	TotalMS  int64       `json:"total_ms"`
	WithinMS int64       `json:"within_ms,omitempty"` // recover_within
	Lines    []floorLine `json:"lines"`
	Beside   []floorLine `json:"beside"` // not added
}

type floorLine struct {
	Name   string `json:"name"`
	CostMS int64  `json:"cost_ms"`
	Known  bool   `json:"known"`
	Words  string `json:"words"`
}

func (p *program) plan(ctx context.Context, book string, onLab bool) error {
	doc, err := p.openBook(book)
	if err != nil {
		return err
	}
	on, err := p.planTargets(ctx, doc, onLab)
	if err != nil {
		return err
	}
	looked := look(ctx, doc, on)
	view := previewOf(doc, looked)
	view.Prometheus, view.Redis = on.prometheus, on.redis
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(view)
	}
	_, err = fmt.Fprint(p.out, view.text())
	return err
}

// planTargets opens only what is given: a plan needs neither server.
func (p *program) planTargets(ctx context.Context, doc *runbook.Document, onLab bool) (targets, error) {
	if onLab {
		return p.labInCollapse(ctx, doc)
	}
	s, on := p.settings, targets{clock: p.clock}
	if s.prometheus != "" {
		poller, err := probes.NewPoller(probes.Options{URL: s.prometheus, ConfigFile: s.prometheusConfig}, p.clock)
		if err != nil {
			return on, usage(err, "")
		}
		on.prober, on.prometheus = poller, poller.Address()
	}
	if s.redis != "" || s.redisConfig != "" {
		store, err := actions.Open(actions.Options{URL: s.redis, ConfigFile: s.redisConfig, Service: doc.Service, Clock: p.clock})
		if err != nil {
			return on, usage(err, "")
		}
		p.closeLater(store.Close)
		on.store, on.redis = store, store.Target()
	}
	return on, nil
}

// intoCollapse is how long the lab runs before a plan asks it.
const intoCollapse = 30 * time.Second

func (p *program) labInCollapse(ctx context.Context, doc *runbook.Document) (targets, error) {
	p.settings.unattended()
	on, err := p.labTargets(doc, &mailbox{}, false)
	if err != nil {
		return on, err
	}
	return on, on.clock.Wait(ctx, on.clock.Now().Add(intoCollapse))
}

// looked is what was read for a plan.
type looked struct {
	doc     *runbook.Document
	live    map[string]actions.Live // nil when Redis was not read
	seen    *probes.Observation     // nil when Prometheus was not asked
	trouble []string
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

// asks are the questions of all gates of all steps.
func (l looked) asks() []probes.Ask {
	var list []probes.Ask
	known := map[probes.Ask]bool{}
	for step := range l.doc.Steps() {
		from, to := l.rung(step)
		for _, gate := range []runbook.Gate{step.When, step.Expect} {
			for _, ask := range probes.Asks(l.doc, gate, from, to) {
				if !known[ask] {
					known[ask] = true
					list = append(list, ask)
				}
			}
		}
	}
	return list
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

// findings gives the bounds of a gate and, where Prometheus was asked, what they say
// now. Marks do not apply before a flip.
func (l looked) findings(step *runbook.Step, gate runbook.Gate) []findingPreview {
	var list []findingPreview
	for _, group := range gate {
		for i, bound := range group {
			f := l.finding(step, bound)
			f.Or = i > 0
			list = append(list, f)
		}
	}
	return list
}

func (l looked) finding(step *runbook.Step, bound runbook.Bound) findingPreview {
	if l.seen == nil {
		return findingPreview{Bound: bound.String()}
	}
	from, to := l.rung(step)
	f := probes.JudgeBound(bound, probes.Situation{
		StaleAfter: step.Timing.StaleAfter, From: from, To: to,
		Answer:   func(a probes.Ask) *probes.Answer { return l.seen.Answer(a) },
		Previous: func(probes.Ask) *probes.Answer { return nil },
		Control:  l.number,
		Baseline: func(string) (float64, bool) { return 0, false },
		Probe:    l.doc.Probe,
	})
	return findingPreview{Bound: f.Bound, Verdict: f.Verdict.String(), Value: f.Value, Sentence: f.Sentence}
}

func (l looked) number(name string) (float64, bool) {
	live, known := l.live[name]
	if !known || live.Invalid != "" || live.Value.Unlimited || !live.Value.Kind.Numeric() {
		return 0, false
	}
	return live.Value.Number, true
}

func previewOf(doc *runbook.Document, l looked) preview {
	floor := runbook.TimeFloor(doc)
	view := preview{File: doc.File, Service: doc.Service, Trouble: l.trouble, Floor: floorOf(doc, floor)}
	for _, finding := range runbook.Lint(doc) {
		if finding.Waived == "" {
			view.Findings++
		}
	}
	for _, stage := range doc.Stages {
		s := stagePreview{Stage: stage.Stage.String(), Skip: stage.Skip, FloorMS: floor.Stage(stage.Stage).Milliseconds()}
		for i := range stage.Steps {
			s.Steps = append(s.Steps, l.step(&stage.Steps[i]))
		}
		view.Stages = append(view.Stages, s)
	}
	return view
}

func floorOf(doc *runbook.Document, floor runbook.Floor) floorPreview {
	return floorPreview{TotalMS: floor.Total.Milliseconds(), WithinMS: doc.RecoverWithin.Milliseconds(),
		Lines: floorLines(floor.Lines), Beside: floorLines(floor.Beside)}
}

func floorLines(lines []runbook.FloorLine) []floorLine {
	var list []floorLine
	for _, line := range lines {
		list = append(list, floorLine{Name: line.Name, CostMS: line.Cost.Milliseconds(), Known: line.Known, Words: line.Words})
	}
	return list
}

// step previews one step.
func (l looked) step(step *runbook.Step) stepPreview {
	view := stepPreview{Step: step.Name, Why: step.Why, Modes: step.Modes,
		When: l.findings(step, step.When), Expect: l.findings(step, step.Expect)}
	view.Action, view.Direction = l.action(step)
	switch view.Direction {
	case runbook.Protecting:
		view.Approval = step.Timing.Protect
	case runbook.Releasing:
		view.Approval = step.Timing.Release
	}
	return view
}

// action says what a step would do, and in which direction when that can be known.
func (l looked) action(step *runbook.Step) (string, runbook.Direction) {
	switch {
	case step.Flip != nil:
		return l.flip(step)
	case step.Call != nil:
		return "call " + invocationText(step.Call.Do), ""
	case step.Confirm != nil:
		return "ask: " + step.Confirm.Ask + elseText(step.Confirm.Else), ""
	case step.Restore != nil:
		return "restore what the walk has flipped, one control at a time" + also(": ", joined(step.Restore.Order)), ""
	}
	return "wait for its gate", ""
}

func (l looked) flip(step *runbook.Step) (string, runbook.Direction) {
	c := l.doc.Control(step.Flip.Control)
	after := c.Format(step.Flip.To)
	if len(step.Flip.Through) > 0 {
		var rungs []string
		for _, rung := range step.Flip.Through {
			rungs = append(rungs, c.Format(rung))
		}
		after = joined(rungs)
	}
	live, known := l.live[c.Name]
	switch {
	case !known:
		return fmt.Sprintf("flip %s to %s; its value now is not known", c.Name, after), ""
	case live.Invalid != "":
		return fmt.Sprintf("flip %s to %s; its value now cannot be read: %s", c.Name, after, live.Invalid), runbook.Releasing
	}
	first := step.Flip.To
	if len(step.Flip.Through) > 0 {
		first = step.Flip.Through[0]
	}
	plan := actions.NewPlan("", step.Name, c, live, &first)
	return fmt.Sprintf("flip %s: %s -> %s", c.Name, beforeText(c, live), after), plan.Direction
}

func beforeText(c *runbook.Control, live actions.Live) string {
	text := c.Format(live.Value)
	if live.Raw == nil {
		return "absent (" + text + ")"
	}
	return text
}

var _ steps.Prober = (*probes.Poller)(nil)

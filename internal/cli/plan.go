package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"

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
time that the walk takes when everything is green at once. It writes nothing, and exits 3
when a server that was given, or a probe of a gate, has no answer that can be judged.

With --lab it asks the embedded lab, half a minute after lab serve would start it.`,
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
	Guards     []guardPreview `json:"guards,omitempty"`
	Exit       *exitPreview   `json:"exit,omitempty"`
	Probes     int            `json:"probes,omitempty"`   // that gates ask, where Prometheus was asked
	Unjudged   []string       `json:"unjudged,omitempty"` // those of them without an answer that can be judged
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
	When      gatePreview       `json:"when,omitempty"`
	Action    string            `json:"action"`
	Direction runbook.Direction `json:"direction,omitempty"` // of a flip whose before is known
	Approval  runbook.Approval  `json:"approval,omitempty"`
	Skipped   string            `json:"skipped,omitempty"` // why a walk that came to it now would pass it over
	Missing   []string          `json:"missing,omitempty"` // programs of its calls that cannot be started here
	Expect    gatePreview       `json:"expect,omitempty"`
	UndoIf    gatePreview       `json:"undo_if,omitempty"`
	IfUnmet   string            `json:"if_unmet,omitempty"`
	Else      string            `json:"else,omitempty"`
}

// gatePreview is a gate: all its groups have to hold, and of each group one bound.
type gatePreview [][]findingPreview

type guardPreview struct {
	Guard     string         `json:"guard"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Passes    int            `json:"passes"`
	Otherwise string         `json:"otherwise"`
	Bound     findingPreview `json:"bound"`
}

type exitPreview struct {
	When       gatePreview `json:"when"`
	Intervals  int         `json:"intervals"`
	IntervalMS int64       `json:"interval_ms"`
}

// findingPreview is one bound and, where it was asked, its verdict at this moment.
type findingPreview struct {
	Bound    string `json:"bound"`
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
	looked.callsAreModelled = onLab
	view := previewOf(doc, looked)
	view.Prometheus, view.Redis = on.prometheus, on.redis
	if err := p.showPlan(view); err != nil {
		return err
	}
	if len(view.Trouble)+len(view.Unjudged) > 0 {
		return quiet(exitHeld, errors.New("not everything that was asked can be judged"))
	}
	return nil
}

func (p *program) showPlan(view preview) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(view)
	}
	_, err := fmt.Fprint(p.out, view.text())
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
		store, err := actions.Open(actions.Options{URL: s.redis, ConfigFile: s.redisConfig, Service: doc.Service,
			Clock: p.clock})
		if err != nil {
			return on, usage(err, "")
		}
		p.closeLater(store.Close)
		on.store, on.redis = store, store.Target()
	}
	return on, nil
}

func (p *program) labInCollapse(ctx context.Context, doc *runbook.Document) (targets, error) {
	p.settings.unattended()
	on, err := p.labTargets(doc, &mailbox{}, false)
	if err != nil {
		return on, err
	}
	return on, on.clock.Wait(ctx, on.clock.Now().Add(collapseAfter))
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
	for i := range doc.Guards {
		view.Guards = append(view.Guards, l.guard(&doc.Guards[i]))
	}
	if exit := doc.Exit; len(exit.When) > 0 {
		view.Exit = &exitPreview{When: l.gate(nil, exit.When), Intervals: exit.Intervals,
			IntervalMS: exit.Interval.Milliseconds()}
	}
	view.Probes, view.Unjudged = l.unjudged()
	return view
}

func (l looked) guard(g *runbook.Guard) guardPreview {
	view := guardPreview{Guard: g.Name, From: g.From.String(), To: g.To.String(), Passes: g.Passes,
		Otherwise: string(g.Otherwise), Bound: l.finding(nil, g.Bound)}
	if g.Flip != nil {
		view.Otherwise = "flip " + g.Flip.Control + " to " + l.doc.Control(g.Flip.Control).Format(g.Flip.To)
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
		list = append(list, floorLine{Name: line.Name, CostMS: line.Cost.Milliseconds(), Known: line.Known,
			Words: line.Words})
	}
	return list
}

// step previews one step.
func (l looked) step(step *runbook.Step) stepPreview {
	view := stepPreview{Step: step.Name, Why: step.Why, Modes: step.Modes,
		When: l.gate(step, step.When), Expect: l.gate(step, step.Expect), UndoIf: l.gate(step, step.UndoIf)}
	view.Action, view.Direction = l.action(step)
	view.Skipped = l.passedOver(step)
	switch {
	case view.Skipped != "":
	case view.Direction == runbook.Protecting:
		view.Approval = step.Timing.Protect
	case view.Direction == runbook.Releasing:
		view.Approval = step.Timing.Release
	}
	if u := step.IfUnmet; u != nil && step.Flip != nil {
		c := l.doc.Control(step.Flip.Control)
		view.IfUnmet = fmt.Sprintf("flip %s to %s after %s", c.Name, c.Format(u.To),
			runbook.FormatQuantity(u.After.Seconds(), "s"))
	}
	calls := []*runbook.Call{step.Call}
	if step.Else != nil && step.Else.Call != nil {
		calls = append(calls, step.Else.Call)
		view.Else = "call " + invocationText(step.Else.Call.Do)
	}
	if !l.callsAreModelled {
		view.Missing = missingPrograms(calls)
	}
	return view
}

// missingPrograms lists the programs of calls that cannot be started on this machine.
func missingPrograms(calls []*runbook.Call) []string {
	var missing []string
	for _, call := range calls {
		if call == nil {
			continue
		}
		for _, do := range []*runbook.Invocation{call.Do, call.Undo, call.Check} {
			if do == nil || len(do.Args) == 0 || slices.Contains(missing, do.Args[0]) {
				continue
			}
			if _, err := exec.LookPath(do.Args[0]); err != nil {
				missing = append(missing, do.Args[0])
			}
		}
	}
	return missing
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
	return fmt.Sprintf("flip %s: %s -> %s", c.Name, beforeText(c, live), after), firstPlan(step, c, live).Direction
}

// firstPlan is what a step's flip would begin with now.
func firstPlan(step *runbook.Step, c *runbook.Control, live actions.Live) actions.Plan {
	first := step.Flip.To
	switch {
	case step.Stage.Protects():
		first = steps.FirstBrake(step, c, live.Value)
	case len(step.Flip.Through) > 0:
		first = step.Flip.Through[0]
	}
	return actions.NewPlan("", step.Name, c, live, &first)
}

// passedOver says why a walk that came to a step now would go on without it, "" when it would not: what protects is
// judged once, and never lifts anything.
func (l looked) passedOver(step *runbook.Step) string {
	if !step.Stage.Protects() {
		return ""
	}
	if l.seen != nil && len(step.When) > 0 {
		from, to := l.rung(step)
		if probes.Decide(step.When, l.situation(step.Timing.StaleAfter, from, to)) == probes.Fail {
			return "it is not needed"
		}
	}
	if step.Flip == nil {
		return ""
	}
	c := l.doc.Control(step.Flip.Control)
	if live, known := l.live[c.Name]; known && live.Invalid == "" && steps.Loosens(c, firstPlan(step, c, live)) {
		return "it would loosen; the tighter value stays"
	}
	return ""
}

func elseText(otherwise string) string {
	if otherwise == "" {
		return ""
	}
	return fmt.Sprintf("; without an answer it is %q", otherwise)
}

func beforeText(c *runbook.Control, live actions.Live) string {
	text := c.Format(live.Value)
	if live.Raw == nil {
		return "absent (" + text + ")"
	}
	return text
}

var _ steps.Prober = (*probes.Poller)(nil)

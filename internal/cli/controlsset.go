package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// byHand names the run of a flip by hand, as the runbook names that of a walk.
const byHand = "by-hand"

// handFlip is one flip that a person wants to make outside a run.
type handFlip struct {
	service, control, value string
	reason                  string
	review                  time.Duration // 0 for that of the runbook
	book                    string
	dryRun                  bool
	digest                  string // of the plan that a dry run has shown
}

func (p *program) controlsSetCommand() *cobra.Command {
	f := &handFlip{}
	cmd := &cobra.Command{
		Use:   "set SERVICE CONTROL VALUE --reason TEXT",
		Short: "Flip one control by hand, as a run would and with a log",
		Long: `Flips one control outside a run: by the same plan and script, under the command over the
service, and with a log of its own that runs, status and audit know. What protects goes at
once. What releases needs a typed word on a terminal, or the digest that --dry-run has
shown. While a run commands the service it is refused: orders go to the run.

What the control is, its bounds and what protects come from --runbook, or from the runbook
in the mirrored log of the run that flipped it last. A control that adds load and must end
with its run can only be set to its dead man's value.`,
		Args: exactly(3, "controls set SERVICE CONTROL VALUE --reason TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.service, f.control, f.value = args[0], args[1], args[2]
			return p.controlsSet(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.reason, "reason", "", "why, for whoever finds the control like this; needed")
	flags.DurationVar(&f.review, "review", 0, "after this `TIME` it is reported as overdue (default: the runbook's)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show the plan and its digest, and change nothing")
	flags.StringVar(&f.digest, "approve-digest", "", "`DIGEST` of the plan that a dry run has shown, at least 8 hex digits")
	runbookFlag(cmd, &f.book)
	return cmd
}

const longestReason = 500 // bytes

// check refuses what no flip by hand can do.
func (f *handFlip) check() error {
	f.reason = strings.TrimSpace(f.reason)
	switch {
	case f.reason == "":
		return usage(errors.New("a flip by hand needs a reason"), "give --reason TEXT: whoever finds the control like this must know why")
	case len(f.reason) > longestReason:
		return usage(fmt.Errorf("--reason has %d bytes, %d are kept", len(f.reason), longestReason), "say it shorter")
	case f.review < 0:
		return usage(fmt.Errorf("--review %s is negative", f.review), "write --review 30m")
	case f.digest != "" && len(f.digest) < shortDigest:
		return usage(fmt.Errorf("--approve-digest %q is too short", f.digest), "give at least 8 hex digits of it")
	}
	return nil
}

func (p *program) controlsSet(ctx context.Context, f *handFlip) error {
	if err := f.check(); err != nil {
		return err
	}
	store, err := p.storeOf(f.service)
	if err != nil {
		return err
	}
	survey, err := store.Survey(ctx)
	if err != nil {
		return commandError(err)
	}
	doc, err := p.declaredFor(ctx, store, survey, f.service, f.book)
	if err != nil {
		return err
	}
	c, to, err := f.wanted(doc)
	if err != nil {
		return err
	}
	lives, err := store.Read(ctx, []*runbook.Control{c})
	if err != nil {
		return commandError(err)
	}
	plan := steps.HandPlan(c, lives[c.Name], to)
	if err := uncommanded(survey, f, plan); err != nil {
		return err
	}
	switch {
	case plan.Nothing() && !f.dryRun:
		return p.say1("nothing to do: " + c.Name + " is " + c.Format(to) + " already")
	case f.dryRun:
		return p.showHandPlan(c, plan, f)
	}
	consent, err := p.consent(c, plan, f)
	if err != nil {
		return err
	}
	return p.flipByHand(ctx, store, doc, f.hand(to), consent)
}

// say1 prints one line of result.
func (p *program) say1(text string) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(map[string]string{"result": string(steps.ResultNothing), "sentence": text})
	}
	_, err := fmt.Fprintln(p.out, oneLine(text))
	return err
}

// wanted finds the control that is named and reads the value that it shall get.
func (f *handFlip) wanted(doc *runbook.Document) (*runbook.Control, runbook.Value, error) {
	if doc == nil {
		return nil, runbook.Value{}, usage(fmt.Errorf("nothing says what %s of %s is: no run has flipped a control here that has left its runbook", f.control, f.service),
			"give --runbook BOOK")
	}
	c := doc.Control(f.control)
	if c == nil {
		var names []string
		for i := range doc.Controls {
			names = append(names, doc.Controls[i].Name)
		}
		return nil, runbook.Value{}, usage(fmt.Errorf("%s has no control %q", doc.File, f.control), "its controls are "+strings.Join(names, ", "))
	}
	to, err := c.Parse(f.value)
	if err != nil {
		return nil, to, usage(err, "")
	}
	if c.DeadMan != nil && !to.Equal(*c.DeadMan) {
		return nil, to, usage(fmt.Errorf("%s adds load that must end with its run, and a flip by hand is not renewed", c.Name),
			"set it to "+c.Format(*c.DeadMan)+", or let a run raise it")
	}
	return c, to, nil
}

// uncommanded refuses a flip while a run commands the service. A brake has another way, which
// is no way for anything else: what loosens is drift there, and holds the run's releases.
func uncommanded(survey actions.Survey, f *handFlip, plan actions.Plan) error {
	c := survey.Commander
	if c == nil || c.Lapsed() {
		return nil
	}
	hint := "orders go to that run: rewarm undo " + c.Run + " " + shellWord(f.control) + " asks it to put its own flip back; " +
		"what it found it restores once its exit holds, or abort it first; what is loosened behind its back holds its releases"
	if plan.Direction == runbook.Protecting {
		hint = "orders go to that run; a brake that cannot wait is an edit, which counts at once and which the run adopts: " +
			"redis-cli HSET '" + controls.Keys(f.service).Controls + "' " + shellWord(f.control) + " " + shellWord(*plan.After)
	}
	return fail(exitCommanded, c, hint)
}

func (f *handFlip) hand(to runbook.Value) *steps.Hand {
	return &steps.Hand{Control: f.control, To: actions.Encode(to), Reason: f.reason, ReviewMS: f.review.Milliseconds()}
}

// handPlanShown is `controls set --dry-run --output json`.
type handPlanShown struct {
	Plan    actions.Plan `json:"plan"`
	Digest  string       `json:"digest"`
	Before  string       `json:"before"` // for people
	After   string       `json:"after"`
	Command string       `json:"command,omitempty"` // that does it; missing when there is nothing to do
}

func (p *program) showHandPlan(c *runbook.Control, plan actions.Plan, f *handFlip) error {
	shown := handPlanShown{Plan: plan, Digest: plan.Digest(), Before: rawShown(c, plan.Before), After: rawShown(c, plan.After)}
	if !plan.Nothing() {
		shown.Command = p.handCommand(plan, f)
	}
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(shown)
	}
	rows := []string{handPlanText(c, plan)}
	if shown.Command != "" {
		rows = append(rows, "digest "+shown.Digest)
	}
	fmt.Fprint(p.out, wrapRows(rows, columnsOf(p.out)))
	if shown.Command != "" {
		fmt.Fprintf(p.out, "next: %s\n", shown.Command)
	}
	return nil
}

func handPlanText(c *runbook.Control, plan actions.Plan) string {
	return plannedText(&steps.Planned{Plan: plan, Digest: plan.Digest(), Before: rawShown(c, plan.Before), After: rawShown(c, plan.After)})
}

// handCommand spells the flip so that it can be pasted.
func (p *program) handCommand(plan actions.Plan, f *handFlip) string {
	text := p.command("controls set", shellWord(f.service)+" "+shellWord(f.control)+" "+shellWord(f.value)) + " --reason " + shellWord(f.reason)
	if f.review > 0 {
		text += " --review " + f.review.String()
	}
	if f.book != "" {
		text += " --runbook " + shellWord(f.book)
	}
	if plan.Direction == runbook.Releasing {
		text += " --approve-digest " + short(plan.Digest())
	}
	return text
}

// consent is a person's word for what releases: the digest that was given, or a word that is
// typed in answer to the plan. What protects needs none.
func (p *program) consent(c *runbook.Control, plan actions.Plan, f *handFlip) (*steps.Consent, error) {
	consent := &steps.Consent{Shown: plan, By: p.where.user}
	digest := plan.Digest()
	switch person := p.terminal(); {
	case plan.Direction != runbook.Releasing:
		return nil, nil
	case f.digest != "" && strings.HasPrefix(digest, strings.ToLower(f.digest)):
		consent.How = "dry run " + digest
		return consent, nil
	case f.digest != "":
		return nil, fail(exitHeld, fmt.Errorf("%s is not the digest of what would be done now: %s", f.digest, handPlanText(c, plan)),
			"the value has moved since, or another was meant; look again with --dry-run")
	case person == nil:
		return nil, fail(exitHeld, fmt.Errorf("it needs a word and there is no terminal: %s", handPlanText(c, plan)),
			"look at it with --dry-run, then give --approve-digest "+short(digest))
	default:
		sayBlock(p.err, "approval: "+handPlanText(c, plan), "it lifts a protection or adds load, and nothing gates it", "type "+wordApprove+" to do it, anything else to leave it")
		consent.How = "typed"
		return consent, person.word(wordApprove)
	}
}

// word waits for one word of a person.
func (t *terminal) word(wanted string) error {
	t.ask()
	line := make([]byte, longestLine)
	n, err := t.file.Read(line)
	if err != nil {
		return fail(exitHeld, errors.New("the terminal is gone, nothing was changed"), "")
	}
	if got := plainLine(string(line[:n])); !strings.EqualFold(got, wanted) {
		return fail(exitHeld, errors.New("not approved, nothing was changed"), "")
	}
	return nil
}

// handWalk prepares the process of a flip by hand: what a walk has, but for gates, calls
// and questions.
func (p *program) handWalk(store *actions.Store, doc *runbook.Document, hand *steps.Hand) *walk {
	return &walk{p: p, doc: doc, hand: hand, mail: &mailbox{}, printer: p.printerFor(true), approve: steps.ApproveMode(p.settings.approve),
		actor: p.where.user, host: p.where.host, on: targets{store: store, clock: p.clock, redis: shownRedis(p.settings.redis, store)}}
}

// flipByHand makes the flip, with its log.
func (p *program) flipByHand(ctx context.Context, store *actions.Store, doc *runbook.Document, hand *steps.Hand, consent *steps.Consent) error {
	w := p.handWalk(store, doc, hand)
	defer w.close()
	run, err := p.newRun(byHand)
	if err != nil {
		return err
	}
	if err := w.create(run, ""); err != nil {
		return err
	}
	outcome, err := w.machine.ByHand(ctx, consent)
	if err != nil {
		return errors.Join(commandError(err), w.forget())
	}
	return w.endByHand(outcome)
}

// resumeHand finds out how a flip by hand ended whose process is gone.
func (p *program) resumeHand(ctx context.Context, log *runLog, state *steps.State) error {
	store, err := p.storeOf(state.Begun.Service)
	if err != nil {
		return err
	}
	w := p.handWalk(store, state.Doc, state.Begun.Hand)
	defer w.close()
	if err := w.reopen(state, log); err != nil {
		return err
	}
	outcome, err := w.machine.ResumeHand(ctx, w.replay())
	if err != nil {
		return commandError(err)
	}
	return w.endByHand(outcome)
}

// endByHand says how a flip by hand ended, and gives its outcome an exit code.
func (w *walk) endByHand(outcome *steps.Settled) error {
	p := w.p
	if !p.settings.json() {
		fmt.Fprintf(p.out, "log: %s\n", oneLine(w.log.Path()))
	}
	switch {
	case outcome == nil:
		return fail(exitError, errors.New("it had not come to the flip, nothing was changed"), "give the command again")
	case outcome.Result == steps.ResultApplied || outcome.Result == steps.ResultNothing:
		return nil
	case outcome.Result == steps.ResultUnknown:
		return fail(exitError, errors.New(outcome.Sentence), p.command("resume", w.folder.run)+" finds out how it ended")
	}
	return fail(exitError, errors.New(outcome.Sentence), outcome.Hint)
}

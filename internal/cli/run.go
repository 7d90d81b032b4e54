package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/tui"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) runCommand() *cobra.Command {
	var through string
	var redisLost bool
	cmd := &cobra.Command{
		Use:   "run BOOK",
		Short: "Walk a runbook against Prometheus and Redis",
		Long: `Walks a runbook in real time: it gates every step on what --prometheus answers and flips
the controls in --redis. Starting it is the consent to protect; what releases is
approved by a typed word, or by the gates alone with --approve auto.

Without a terminal it ends with exit code 3 when it needs a word, or when one hold has
lasted five minutes; rewarm resume goes on. The first Ctrl-C idles what adds load and
stops, the second leaves at once.

A Redis that does not answer before the walk begins is taken for a wrong address, and
nothing is begun. Where Redis itself is lost, --redis-lost walks all the same: a brake
then has its else, or is done by hand, and its flip is made as soon as Redis answers.`,
		Args: exactly(1, "run BOOK --prometheus URL --redis URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runBook(cmd.Context(), args[0], through, redisLost)
		},
	}
	throughFlag(cmd, &through)
	cmd.Flags().BoolVar(&redisLost, "redis-lost", false, "begin although redis does not answer: it is what was lost")
	return cmd
}

func throughFlag(cmd *cobra.Command, through *string) {
	cmd.Flags().StringVar(through, "through", "", "`STAGE` to stop after, with exit code 0; resume goes on")
}

func checkThrough(through string) error {
	if _, known := runbook.ParseStage(through); through == "" || known {
		return nil
	}
	var names []string
	for stage := runbook.DeclareMode; stage <= runbook.Reconcile; stage++ {
		names = append(names, stage.String())
	}
	return usage(fmt.Errorf("--through %q is no stage", through), "the stages are "+strings.Join(names, ", "))
}

func (p *program) runBook(ctx context.Context, book, through string, redisLost bool) error {
	if err := checkThrough(through); err != nil {
		return err
	}
	doc, err := p.openBook(book)
	if err != nil {
		return err
	}
	on, err := p.realTargets(doc)
	if err != nil {
		return err
	}
	p.warnFindings(doc)
	unanswered := p.introduce(ctx, on)
	if err := neverAnswered(unanswered); err != nil && !redisLost {
		return err
	}
	w := p.newWalk(ctx, doc, on)
	defer w.close()
	if err := w.beginNew(ctx, through); err != nil {
		return err
	}
	p.warnOf(unanswered)
	return w.finish(w.drive(ctx, w.person))
}

// neverAnswered takes a Redis that has not answered at first contact for a wrong address; nil for any that has.
func neverAnswered(err error) error {
	var failure *actions.Failure
	if !errors.As(err, &failure) || !failure.Unanswered() {
		return nil
	}
	return fail(exitError, err, failure.Hint+"; where redis itself is lost, --redis-lost walks all the same")
}

// newWalk prepares one process of a run, with whoever sits before it.
func (p *program) newWalk(ctx context.Context, doc *runbook.Document, on targets) *walk {
	w := p.newUnseenWalk(ctx, doc, on)
	w.person, w.printer = p.audience(on.clock)
	return w
}

// newUnseenWalk prepares one process of a run that nobody sits before. Its printer is still to be given.
func (p *program) newUnseenWalk(ctx context.Context, doc *runbook.Document, on targets) *walk {
	w := &walk{p: p, doc: doc, on: on, mail: &mailbox{}, approve: steps.ApproveMode(p.settings.approve),
		actor: p.where.user, host: p.where.host}
	if w.on.caller == nil {
		w.on.caller = commandCaller{ctx: ctx, clock: on.clock, post: w.mail.post}
	}
	return w
}

// audience is who a walk can ask, nil when nobody, and what shows its records: the console where
// there is a terminal for it, else lines.
func (p *program) audience(now clock) (person, recordPrinter) {
	t := p.terminal()
	switch {
	case t == nil:
		return nil, p.printerFor(true)
	case p.fullScreen(t):
		s := p.newScreen(t.file, p.screenFile(), tui.Options{Now: now.Now, Speed: speedOf(now), Words: spokenHelp()})
		return s, newScreenPrinter(s.console)
	}
	return t, p.printerFor(true)
}

// warnFindings says that a runbook has findings; they do not stop a recovery.
func (p *program) warnFindings(doc *runbook.Document) {
	open := 0
	for _, finding := range runbook.Lint(doc) {
		if finding.Waived == "" {
			open++
		}
	}
	if open > 0 {
		sayWarning(p.err, fmt.Sprintf("the runbook has %s; see rewarm lint %s", countOf(open, "finding"),
			shellWord(typedBook(doc.File))))
	}
}

// warnOf says what a walk goes on in spite of.
func (p *program) warnOf(err error) {
	if err != nil {
		sayWarning(p.err, err.Error())
	}
}

// terminal gives the terminal of a person, nil when none can be asked and answer.
func (p *program) terminal() *terminal {
	if !p.seen() {
		return nil
	}
	return terminalOf(p.in)
}

// seen reports whether what a walk asks can be seen.
func (p *program) seen() bool {
	writer, ok := p.err.(printableWriter)
	if !ok {
		return false
	}
	file, ok := writer.to.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (p *program) resumeCommand() *cobra.Command {
	var service string
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run after a crash, a hold or a closed terminal, also on another machine",
		Long: `Goes on with a run from its log. What was under way when its process ended is settled
first, by the plan's digest in Redis; what adds load is idled; then the walk goes on
where it stood. Prometheus and Redis are those of the log, unless others are given.

What only the mirror of the log in Redis has is taken from there: all of it for a run of
another machine, which --redis finds, and what a full disk did not take. While another
process renews the command of the run, it is left to that one. A log that has lost records
which the signed head beside it names is not gone on with.`,
		Args: exactly(1, "resume RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.resume(cmd.Context(), args[0], service) },
	}
	serviceFlag(cmd, &service)
	return cmd
}

func (p *program) resume(ctx context.Context, name, service string) error {
	log, err := p.logOf(ctx, name, service)
	if err != nil {
		return err
	}
	state, err := p.foldWhole(log)
	if err != nil {
		return err
	}
	if err := p.resumable(state); err != nil {
		return err
	}
	p.fromLog(state.Begun)
	if err := p.goOn(ctx, log); err != nil {
		return err
	}
	if state.Begun.Hand != nil {
		return p.resumeHand(ctx, log, state)
	}
	on, err := p.realTargets(state.Doc)
	if err != nil {
		return err
	}
	unanswered := p.introduce(ctx, on)
	if on.prometheus != state.Begun.Prometheus || on.redis != state.Begun.Redis {
		sayWarning(p.err, fmt.Sprintf("the run began on prometheus %s and redis %s: is this the same service",
			state.Begun.Prometheus, state.Begun.Redis))
	}
	w := p.newWalk(ctx, state.Doc, on)
	defer w.close()
	if err := w.resume(ctx, state, log); err != nil {
		return err
	}
	p.warnOf(unanswered)
	return w.finish(w.drive(ctx, w.person))
}

// foldWhole folds a run that is to be gone on with, and tells how far that is: a run of hours takes seconds. A log that
// lacks the record its signed head names is refused: what was flipped in what is gone would not be known, and the next
// head would hide that it is. The head is signed when its record is on disk, so no crash leaves it ahead of the log.
func (p *program) foldWhole(log *runLog) (*steps.State, error) {
	records := log.records
	if head, err := p.headBeside(log.folder); err != nil {
		return nil, unverified(err, log.folder)
	} else if head != nil && log.trouble == nil { // a fork has its own way out
		records = func() iter.Seq2[audit.Record, error] { return audit.Against(*head, log.records()) }
	}
	told := p.progress("reading the log", "records", float64(log.end()))
	defer told.end()
	state, err := steps.Fold(told.records(records()))
	var truncated *audit.TruncatedError
	switch {
	case errors.As(err, &truncated):
		return nil, lostRecords(err, log.folder)
	case err != nil:
		return nil, unverified(err, log.folder)
	}
	return state, nil
}

// foldShown folds a run that is only looked at: what there is of it is shown, and a head that does not fit is said.
func (p *program) foldShown(log *runLog) (*steps.State, error) {
	state, head := p.foldWhole(log)
	if head == nil {
		return state, nil
	}
	state, err := log.fold()
	if err == nil {
		p.warnOfHead(head)
	}
	return state, err
}

// warnOfHead says, in one line with the way out, that a log does not have what its signed head names.
func (p *program) warnOfHead(err error) {
	if err != nil {
		sayWarning(p.err, err.Error()+also("; ", hintOf(err)))
	}
}

// lacksHead tells by its last record whether a log ends before its signed head; nil when it does not. A log that is being
// written has what its head names before that is signed.
func (p *program) lacksHead(log *runLog) error {
	head, err := p.headBeside(log.folder)
	if err != nil || head == nil || log.trouble != nil { // a fork has its own way out
		return err
	}
	for _, err := range audit.Against(*head, eachOf([]audit.Record{log.last()})) {
		if err != nil {
			return lostRecords(err, log.folder)
		}
	}
	return nil
}

// resumable refuses runs that have nothing to go on with.
func (p *program) resumable(state *steps.State) error {
	run := state.Begun.Run
	switch {
	case state.Ending != "":
		return usage(fmt.Errorf("run %s is %s", run, state.Ending),
			p.command("status", run)+" says what it left; a new walk is rewarm run")
	case state.Begun.Again != "":
		return usage(fmt.Errorf("run %s was a practice, whose lab ended with its process", run),
			"start another with "+state.Begun.Anew())
	case state.Begun.Lab:
		return usage(fmt.Errorf("run %s was walked on the lab, which ended with its process", run),
			"start again with "+state.Begun.Anew())
	}
	return nil
}

// fromLog takes the targets of the log for what is not given.
func (p *program) fromLog(begun steps.Begun) {
	s := &p.settings
	if s.prometheus == "" && begun.Prometheus != "" {
		s.prometheus = begun.Prometheus
		s.learned = append(s.learned, "prometheus")
	}
	// What a configuration file named is in the log as addresses, not as a URL.
	if s.redis == "" && s.redisConfig == "" && strings.Contains(begun.Redis, "://") {
		s.redis = begun.Redis
		s.learned = append(s.learned, "redis")
	}
}

// finish says how a walk ended and what a person would do next.
func (w *walk) finish(err error) error {
	if errors.Is(err, errLeft) {
		return err
	}
	err = commandError(err)
	w.captureEvidence()
	if !w.p.settings.json() {
		w.summary()
	}
	if w.on.lab {
		return errors.Join(err, w.checkLog())
	}
	return err
}

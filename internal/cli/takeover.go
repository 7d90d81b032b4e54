package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) takeoverCommand() *cobra.Command {
	var service, through string
	word := orderWord{word: "takeover", form: "REASON", read: takeoverArgs}
	cmd := &cobra.Command{
		Use:   word.use(),
		Short: "Take the command from a run, alive or not, and walk its runbook on here",
		Long: `Begins a new run of the same runbook that takes the command from RUN at once, also while
RUN's lease is alive: for when its process hangs, sleeps, or belongs to somebody who does
not answer. From that moment Redis refuses what RUN writes. Its process says so when it
wakes, writes it down and ends with exit code 6; it never commands again. What RUN has
left out of place is the new run's, and is restored by it. A hold that a person has put
on RUN goes on in the new run, which says what else of RUN waits for a person.

Who takes over, and REASON, are in the log of the new run and told to the old one. RUN is
found by its log on this machine; of a run that is walked elsewhere --service and --redis
tell, and the runbook comes from the mirror of its log.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || slices.ContainsFunc(args, saysNothing) {
				return usage(errNoReason, p.wayToWrite(word, args, service))
			}
			return p.withWayToWrite(word, args, service,
				p.takeover(cmd.Context(), args[0], service, strings.Join(args[1:], " "), through))
		},
	}
	cmd.Flags().StringVar(&service, "service", "", "`NAME` of the service, for a run that is walked elsewhere")
	throughFlag(cmd, &through)
	return cmd
}

var errNoReason = errors.New("a takeover names the run and the reason")

// takeoverArgs reads what follows the run.
func takeoverArgs(words []string) (steps.Order, error) {
	if len(words) == 0 || slices.ContainsFunc(words, saysNothing) {
		return steps.Order{}, errNoReason
	}
	return steps.Order{Text: strings.Join(words, " ")}, nil
}

func (p *program) takeover(ctx context.Context, name, service, reason, through string) error {
	if err := checkThrough(through); err != nil {
		return err
	}
	if len(reason) > longestText || strings.ContainsFunc(reason, unfit) {
		return usage(fmt.Errorf("the reason holds control characters, or is longer than %d bytes", longestText),
			"write a sentence")
	}
	to, err := p.addressee(ctx, name, service)
	if err != nil {
		return err
	}
	begun, over, err := p.overOf(ctx, to, reason)
	if err != nil {
		return err
	}
	doc, problems := runbook.Parse(begun.File, begun.Runbook, begun.Parameters)
	if err := problems.Err(); err != nil {
		return err
	}
	p.fromLog(begun)
	on, err := p.realTargets(doc)
	if err != nil {
		return err
	}
	unanswered := p.introduce(ctx, on)
	w := p.newWalk(ctx, doc, on)
	defer w.close()
	w.over = over
	if err := w.beginNew(ctx, through); err != nil {
		return err
	}
	p.warnOf(unanswered)
	return w.finish(w.drive(ctx, w.person))
}

// overOf gives the first record of a run that has not ended, and how the command is taken over from it.
func (p *program) overOf(ctx context.Context, to addressee, reason string) (steps.Begun, *steps.Over, error) {
	ending := to.ending(ctx)
	state, unread, err := p.lookInto(ctx, to)
	if err == nil && state.Ending != "" {
		ending = state.Ending
	}
	switch {
	case ending != "":
		return steps.Begun{}, nil, usage(fmt.Errorf("run %s is %s", to.run, ending), "a new walk is rewarm run")
	case err != nil:
		return steps.Begun{}, nil, err
	case state.Begun.Hand != nil:
		return steps.Begun{}, nil, usage(fmt.Errorf("run %s is one flip by hand", to.run),
			"there is nothing to take over; rewarm controls get shows what it left")
	}
	over := state.Overtake(reason)
	if unread != nil {
		over.Found = append(over.Found, fmt.Sprintf("what a person held there or wanted put back is not known, for its log could not be read to its end: %s", unread))
	}
	return state.Begun, over, nil
}

// lookInto gives the state of a run: from its log on this machine and from the mirror, as far as they can be read, and
// why that is not to their end, nil when it is.
func (p *program) lookInto(ctx context.Context, to addressee) (state *steps.State, unread, err error) {
	log, unread := p.logOf(ctx, to.run, to.service)
	if unread == nil {
		unread = cmp.Or(log.trouble, log.unasked, p.lacksHead(log))
		if state, err = log.fold(); err == nil {
			return state, unread, nil
		}
		unread = err
	}
	state, err = to.mirrored(ctx)
	return state, unread, err
}

// mirrored is how a run began, as the first record of its mirror in Redis says.
func (to addressee) mirrored(ctx context.Context) (*steps.State, error) {
	line, err := to.store.Begun(ctx, to.run)
	if err != nil {
		return nil, notSent(err)
	}
	if record, err := audit.ParseRecord(line); err == nil {
		if state, err := steps.Fold(eachOf([]audit.Record{record})); err == nil {
			return state, nil
		}
	}
	return nil, fail(exitError, fmt.Errorf("redis has no mirror of run %s of service %s", to.run, to.service),
		"take over where its log is, or start a new run once its lease has ended")
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
)

// mostChanges is what the stream of changes keeps, about.
const mostChanges = 10000

func (p *program) controlsHistoryCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "history SERVICE [CONTROL]",
		Short: "List the flips of a service, oldest first",
		Long: `Prints the stream of changes in --redis: when, by whom, in which run and step, from what
to what. Edits with redis-cli leave no entry there; rewarm controls get tells them.`,
		Args: between(1, 2, "controls history SERVICE [CONTROL]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.controlsHistory(cmd.Context(), args[0], append(args, "")[1], limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "the latest `N` flips of the service, 1 to 10000")
	return cmd
}

func (p *program) controlsHistory(ctx context.Context, service, only string, limit int) error {
	if limit < 1 || limit > mostChanges {
		return usage(fmt.Errorf("--limit %d is not from 1 to %d", limit, mostChanges), "leave it out for the latest 100")
	}
	store, err := p.storeOf(service)
	if err != nil {
		return err
	}
	changes, err := store.Changes(ctx, limit)
	if err != nil {
		return commandError(err)
	}
	if len(changes) == 0 && !p.settings.json() {
		fmt.Fprintln(p.out, "no control of "+service+" was ever flipped here")
	}
	return p.showChanges(changes, only)
}

func (p *program) controlsWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch SERVICE [CONTROL]",
		Short: "Follow the flips of a service until interrupted",
		Long: `Prints each flip as it comes, as rewarm controls history does. It only reads. Ctrl-C ends it,
with exit code 130.`,
		Args: between(1, 2, "controls watch SERVICE [CONTROL]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.controlsWatch(cmd.Context(), args[0], append(args, "")[1])
		},
	}
}

func (p *program) controlsWatch(ctx context.Context, service, only string) error {
	store, err := p.storeOf(service)
	if err != nil {
		return err
	}
	latest, err := store.Changes(ctx, 1)
	if err != nil {
		return commandError(err)
	}
	after := "0-0"
	if len(latest) > 0 {
		after = latest[0].ID
	}
	ctx, cancel := p.untilInterrupted(ctx)
	defer cancel()
	say(p.err, "", "following the flips of "+service+"; Ctrl-C ends it")
	return p.followChanges(ctx, store, only, after)
}

// followChanges prints what comes until ctx ends. A Redis that is away is waited for.
func (p *program) followChanges(ctx context.Context, store *actions.Store, only, after string) error {
	away := false
	for ctx.Err() == nil {
		changes, err := store.AwaitChanges(ctx, after)
		if ctx.Err() != nil {
			break
		}
		if err != nil && !away {
			sayWarning(p.err, err.Error()+"; it is tried again")
		}
		if away = err != nil; away {
			_ = p.clock.Wait(ctx, p.clock.Now().Add(time.Second))
			continue
		}
		if len(changes) > 0 {
			after = changes[len(changes)-1].ID
		}
		if err := p.showChanges(changes, only); err != nil {
			return err
		}
	}
	return quiet(exitInterrupted, errors.New("interrupted"))
}

// changeShown is one line of `controls history --output json`.
type changeShown struct {
	At      time.Time `json:"at"` // by the clock of redis
	Control string    `json:"control"`
	Before  *string   `json:"before"` // raw, null for a missing field
	After   *string   `json:"after"`
	Version int64     `json:"version"`
	Actor   string    `json:"actor"`
	Run     string    `json:"run"`
	Step    string    `json:"step"`
	Fence   int64     `json:"fence"`
	Digest  string    `json:"digest"`
	Reason  string    `json:"reason,omitempty"`
}

func (p *program) showChanges(changes []actions.Change, only string) error {
	for _, c := range changes {
		if only != "" && c.Control != only {
			continue
		}
		if err := p.showChange(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) showChange(c actions.Change) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(changeShown{At: c.At.UTC(), Control: c.Control, Before: c.Before, After: c.After,
			Version: c.Version, Actor: c.Actor, Run: c.Run, Step: c.Step, Fence: c.Fence, Digest: c.Digest, Reason: c.Reason})
	}
	text := fmt.Sprintf("%s  %s  %s -> %s  by %s, run %s, step %s%s (version %d)",
		c.At.UTC().Format("2006-01-02 15:04:05.000Z"),
		c.Control, rawShown(nil, c.Before), rawShown(nil, c.After), c.Actor, c.Run, c.Step, also(": ", c.Reason), c.Version)
	_, err := fmt.Fprintln(p.out, wrap(oneLine(text), columnsOf(p.out), hang))
	return err
}

// untilInterrupted is a context that an interrupt ends, too.
func (p *program) untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop := p.where.interrupts()
	go func() {
		defer stop()
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) watchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Follow a run, read-only, from another terminal",
		Long: `Shows what whoever walks the run sees, by default of the latest. It writes nothing and
changes nothing. On a terminal the arrow keys go back and forth in time; elsewhere, or
with --plain, it prints the events as they come and ends when the run does.`,
		Args: atMost(1, "watch [RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.watch(cmd.Context(), append(args, "last")[0])
		},
	}
}

// lookEvery is how often a watcher looks for new records. Two people see the same within a second.
const lookEvery = 200 * time.Millisecond

func (p *program) watch(ctx context.Context, name string) error {
	folder, err := p.findRun(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := p.where.interrupts()
	p.closeLater(func() error { stop(); return nil })
	if t := p.terminal(); p.fullScreen(t) {
		return p.watchOnScreen(ctx, cancel, folder, t, signals)
	}
	go func() {
		<-signals
		cancel()
	}()
	return p.follow(ctx, folder, p.printerFor(true), true)
}

// watchOnScreen shows the run until the person leaves. An ended run stays on the screen.
func (p *program) watchOnScreen(ctx context.Context, cancel func(), folder runFolder, t *terminal, signals <-chan string) error {
	s := p.newScreen(t, p.clock.Now, true)
	defer p.sayTo(s.out())()
	failed := make(chan error, 1)
	go func() {
		err := p.follow(ctx, folder, newScreenPrinter(s.console), false)
		if err != nil {
			s.console.Close()
		}
		failed <- err
	}()
	go func() {
		select {
		case <-signals:
		case <-s.keys:
		}
		s.console.Close()
	}()
	err := s.console.Run(ctx)
	s.gone()
	cancel()
	return errors.Join(err, <-failed)
}

// follow prints the records of a run as they come, until the context ends, or the run if that is wanted.
func (p *program) follow(ctx context.Context, folder runFolder, printer recordPrinter, untilEnd bool) error {
	tail := audit.NewTail(folder.logPath())
	for {
		records, err := tail.Read()
		for _, record := range records {
			body, err := steps.DecodeBody(record.Kind, record.Body)
			if err != nil {
				return unverified(err, folder)
			}
			if err := printer.print(record, body); err != nil {
				return err
			}
			if untilEnd && (record.Kind == steps.KindClosed || record.Kind == steps.KindAborted) {
				return nil
			}
		}
		if err != nil {
			return unverified(err, folder)
		}
		if p.clock.Wait(ctx, p.clock.Now().Add(lookEvery)) != nil {
			return nil
		}
	}
}

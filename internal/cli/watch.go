package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) watchCommand() *cobra.Command {
	var service string
	cmd := &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Follow a run, read-only, from another terminal or machine",
		Long: `Shows what whoever walks the run sees, by default of the latest. It writes nothing and
changes nothing. On a terminal the arrow keys go back and forth in time; elsewhere, or
with --plain, it prints the events as they come and ends when the run does.

A run that no process of this machine walks is followed in its mirror in Redis: that of
its log or, for a run of another machine, that of --redis.`,
		Args: atMost(1, "watch [RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.watch(cmd.Context(), append(args, "last")[0], service)
		},
	}
	serviceFlag(cmd, &service)
	return cmd
}

// lookEvery is how often a watcher looks for new records. Two people see the same within a second.
const lookEvery = 200 * time.Millisecond

func (p *program) watch(ctx context.Context, name, service string) error {
	folder, from, err := p.watched(ctx, name, service)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := p.where.interrupts()
	p.closeLater(func() error { stop(); return nil })
	if t := p.terminal(); p.fullScreen(t) {
		return p.watchOnScreen(ctx, folder, from, p.newWatchScreen(t.file, p.screenFile(), folder.run, from), signals)
	}
	go func() {
		<-signals
		cancel()
	}()
	return follow(ctx, folder, from, p.printerFor(true), true)
}

// watchOnScreen shows the run until the person leaves. An ended run stays on the screen.
func (p *program) watchOnScreen(ctx context.Context, folder runFolder, from source, s *screen, signals <-chan string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.sayTo(s.out())()
	failed := make(chan error, 1)
	s.console.Due(from.end())
	printer := newScreenPrinter(s.console)
	printer.feeds = true
	go func() {
		err := follow(ctx, folder, from, printer, false)
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

// watched finds where the records of a run come from: the log that a process of this machine
// writes, else the mirror.
func (p *program) watched(ctx context.Context, name, service string) (runFolder, source, error) {
	log, err := p.logOf(ctx, name, service)
	if err != nil {
		return runFolder{}, nil, err
	}
	if log.store == nil || len(log.files) > 0 && beingWritten(log.folder.logPath()) {
		return log.folder, &tailed{tail: audit.NewTail(log.folder.logPath()), folder: log.folder, at: 1, clock: p.clock}, nil
	}
	log.say(p)
	return log.folder, newMirrorTail(p, log), nil
}

// source is where a watcher gets records from.
type source interface {
	// next gives the records that have come, perhaps none, after waiting a moment for them.
	next(ctx context.Context) ([]audit.Record, error)
	// end is the number of the last record that is there already, 0 where that is not known.
	end() uint64
	// again gives records once more that next has given: from the how manyth on, 0 for the first, up to another. It may
	// be called while another goroutine asks for the next.
	again(from, to int) iter.Seq2[audit.Record, error]
}

// eachOf gives records that are in memory.
func eachOf(records []audit.Record) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// tailed follows the segments of a log of this machine.
type tailed struct {
	tail   *audit.Tail
	folder runFolder
	at     int // segments begun
	clock  clock
	waits  bool // everything that was there has been read
}

func (t *tailed) next(ctx context.Context) ([]audit.Record, error) {
	if t.waits && t.clock.Wait(ctx, t.clock.Now().Add(lookEvery)) != nil {
		return nil, nil
	}
	records, err := t.tail.Read()
	if t.waits = len(records) == 0; err != nil || !t.waits {
		return records, err
	}
	if files := t.folder.files(); len(files) > t.at {
		t.tail.GoOn(files[t.at])
		t.at, t.waits = t.at+1, false
	}
	return nil, nil
}

func (t *tailed) end() uint64 { return (&runLog{files: t.folder.files()}).end() }

func (t *tailed) again(from, to int) iter.Seq2[audit.Record, error] { return t.tail.Again(from, to) }

// follow prints the records of a run as they come, until the context ends, or the run if that is wanted.
func follow(ctx context.Context, folder runFolder, from source, printer recordPrinter, untilEnd bool) error {
	decoder := steps.NewDecoder()
	for ctx.Err() == nil {
		records, err := from.next(ctx)
		for _, record := range records {
			body, err := decoder.Body(record.Kind, record.Body)
			if err != nil {
				return unverified(fmt.Errorf("record %d: %w", record.Seq, err), folder)
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
	}
	return nil
}

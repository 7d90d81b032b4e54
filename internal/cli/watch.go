package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"

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
with --plain, it prints the events as they come and ends when the run does. It says when
nobody walks the run any more, and when its log or its mirror cannot be followed.

A run that no process of this machine walks is followed in its mirror in Redis: that of
its log or, for a run of another machine, that of --redis.`,
		Args: atMost(1, "watch [RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.watch(cmd.Context(), append(args, latest)[0], service)
		},
	}
	serviceFlag(cmd, &service)
	return cmd
}

func (p *program) watch(ctx context.Context, name, service string) error {
	log, from, err := p.watched(ctx, name, service)
	if err != nil {
		return err
	}
	folder := log.folder
	lacks := p.lacksHead(log)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := p.where.interrupts()
	p.closeLater(func() error { stop(); return nil })
	if t := p.terminal(); p.fullScreen(t) {
		return p.watchOnScreen(ctx, folder, from, p.newWatchScreen(t.file, p.screenFile(), log, from), signals, lacks)
	}
	p.warnOfHead(lacks)
	go func() {
		<-signals
		cancel()
	}()
	f := following{folder: folder, from: from, printer: p.printerFor(true), untilEnd: true, says: p.sayNotice}
	return f.follow(ctx)
}

// sayNotice tells who reads lines what stands in the way of seeing more, or that nothing does any longer.
func (p *program) sayNotice(n notice) {
	if n.text == "" {
		say(p.err, "", "the run is followed again")
		return
	}
	sayWarning(p.err, n.text)
}

// watchOnScreen shows the run until the person leaves, and on it what its log lacks. An ended run stays on the screen.
func (p *program) watchOnScreen(
	ctx context.Context, folder runFolder, from source, s *screen, signals <-chan string, lacks error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.sayTo(s.out())()
	p.warnOfHead(lacks)
	failed := make(chan error, 1)
	s.console.Due(from.end())
	printer := newScreenPrinter(s.console)
	printer.feeds = true
	f := following{folder: folder, from: from, printer: printer, says: func(n notice) { s.console.Notice(n.text, n.over) }}
	go func() {
		err := f.follow(ctx)
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
func (p *program) watched(ctx context.Context, name, service string) (*runLog, source, error) {
	log, err := p.logOf(ctx, name, service)
	if err != nil {
		return nil, nil, err
	}
	if log.store == nil || len(log.files) > 0 && beingWritten(log.folder.logPath()) {
		return log, newTailed(p, log), nil
	}
	log.say(p)
	return log, newMirrorTail(p, log), nil
}

// source is where a watcher gets records from.
type source interface {
	// next gives the records that have come, perhaps none, after waiting a moment for them.
	next(ctx context.Context) ([]audit.Record, error)
	// notice is what there is to say beside the records since next was called last.
	notice() notice
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

// notice is what a watcher has to know beside the records; the zero notice is nothing.
type notice struct {
	text string // what stands in the way of seeing more, or that nobody walks the run
	over bool   // nobody walks it, as far as can be told
	last bool   // nor will anybody
}

// following shows a run as it goes on.
type following struct {
	folder   runFolder
	from     source
	printer  recordPrinter
	says     func(notice)
	untilEnd bool // stop at the end of the run
	said     notice
}

// follow shows records as they come, until the context ends, or the run if that is wanted.
func (f *following) follow(ctx context.Context) error {
	decoder := steps.NewDecoder()
	for ctx.Err() == nil {
		records, err := f.from.next(ctx)
		for _, record := range records {
			body, err := decoder.Body(record.Kind, record.Body)
			if err != nil {
				return unverified(fmt.Errorf("record %d: %w", record.Seq, err), f.folder)
			}
			if err := f.printer.print(record, body); err != nil {
				return err
			}
			if f.untilEnd && ends(record) {
				return nil
			}
		}
		if err != nil {
			return unverified(err, f.folder)
		}
		if n := f.from.notice(); n != f.said {
			f.said = n
			f.says(n)
		}
		if f.untilEnd && f.said.last {
			return nil
		}
	}
	return nil
}

// ends reports whether nothing follows a record.
func ends(r audit.Record) bool { return r.Kind == steps.KindClosed || r.Kind == steps.KindAborted }

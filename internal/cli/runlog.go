package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// runLog is the log of a run as it can be had here: what this machine's disk has, and behind
// it what only the mirror in Redis has. A run of another machine has nothing here.
type runLog struct {
	folder   runFolder
	files    []string       // its segments here, in order
	mirrored []audit.Record // that only the mirror has
	lab      bool           // it was walked on a lab, which ended with its process
	placed   bool           // they were put on this disk, and nothing was written behind them

	service string
	store   *actions.Store     // of the mirror; nil when it was not asked
	walker  *actions.Commanded // who walks it now by what Redis says; nil when nobody does or it was not asked
	over    *takenOver         // who has taken over from it, nil when nobody has or it is not known here
	found   []string           // what was found in the mirror, for people
	unasked error              // why the mirror was not looked at
	trouble error              // why the run cannot go on from here
}

// records goes over all of them.
func (l *runLog) records() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		if len(l.files) > 0 {
			for record, err := range audit.Records(l.files...) {
				if !yield(record, err) {
					return
				}
			}
		}
		for _, record := range l.mirrored {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// fold gives the state of the run.
func (l *runLog) fold() (*steps.State, error) {
	state, err := steps.Fold(l.records())
	if err != nil {
		return nil, unverified(err, l.folder)
	}
	return state, nil
}

// end is the number of the last record that is there, 0 where that is not known.
func (l *runLog) end() uint64 { return l.last().Seq }

// last is the last record that is there, the zero Record where that is not known.
func (l *runLog) last() audit.Record {
	if n := len(l.mirrored); n > 0 {
		return l.mirrored[n-1]
	}
	if len(l.files) == 0 {
		return audit.Record{}
	}
	last, err := audit.Last(l.files[len(l.files)-1])
	if err != nil { // what is wrong with it is found where it is read
		return audit.Record{}
	}
	return last
}

// walkedBy reports whether the run is walked by who commands its service. A lease lives on for a while without its
// process: of one of this machine the lock of the log tells at once that it is gone.
func (l *runLog) walkedBy(here string, c actions.Commanded) bool {
	if c.Run != l.folder.run || c.Lapsed() {
		return false
	}
	return c.Host != here || len(l.files) == 0 || beingWritten(l.folder.logPath())
}

// walked reports whether a process goes on with the run now, here or elsewhere.
func (l *runLog) walked() bool {
	return l.walker != nil || len(l.files) > 0 && beingWritten(l.folder.logPath())
}

// say tells a person what was found in the mirror.
func (l *runLog) say(p *program) {
	for _, sentence := range l.found {
		sayWarning(p.err, sentence)
	}
	p.warnOf(l.unasked)
	if l.trouble != nil {
		sayWarning(p.err, l.trouble.Error())
	}
}

// logOf finds the log of a run: on this machine, where an unfinished one is completed from
// its mirror, else in Redis.
func (p *program) logOf(ctx context.Context, name, service string) (*runLog, error) {
	folder, missing := p.findRun(name)
	if missing != nil {
		return p.mirroredLog(ctx, name, service, missing)
	}
	l := &runLog{folder: folder, files: p.segments(folder)}
	begun, ended, err := l.glance()
	l.lab = begun.Lab
	if (errors.Is(err, audit.ErrEmpty) || errors.Is(err, audit.ErrMissing)) && p.redisGiven() { // its disk was full before the first record, or lost
		return p.mirroredLog(ctx, folder.run, service, err)
	}
	switch {
	case err != nil:
		return nil, unverified(err, l.folder)
	case begun.Lab || ended:
		return l, nil
	}
	p.fromLog(begun)
	if l.service = begun.Service; p.redisGiven() {
		return l, p.complete(ctx, l)
	}
	return l, nil
}

// glance looks at the first and the last record of the log here: a screen must not wait until a long one has been read.
// Whoever reads the log finds what else is wrong with it.
func (l *runLog) glance() (begun steps.Begun, ended bool, err error) {
	for record, err := range audit.Records(l.files...) {
		if err != nil {
			return begun, false, err
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			return begun, false, fmt.Errorf("record %d: %w", record.Seq, err)
		}
		first, ok := body.(*steps.Begun)
		if !ok {
			return begun, false, fmt.Errorf("record %d: the log does not start with a begun record", record.Seq)
		}
		begun = *first
		break
	}
	last, err := audit.Last(l.files[len(l.files)-1])
	if errors.Is(err, audit.ErrEmpty) && len(l.files) > 1 { // a segment that was just begun
		return begun, false, nil
	}
	return begun, last.Kind == steps.KindClosed || last.Kind == steps.KindAborted, err
}

func (p *program) redisGiven() bool { return p.settings.redis != "" || p.settings.redisConfig != "" }

// mirroredLog finds the log of a run in Redis. Without one that is asked, or with none there,
// it is the run that is missing here.
func (p *program) mirroredLog(ctx context.Context, name, service string, missing error) (*runLog, error) {
	if !p.redisGiven() {
		return nil, elsewhere(missing)
	}
	found, err := p.mirroredRun(ctx, name, service)
	if err != nil {
		return nil, err
	}
	folder, err := p.newRunFolder(found.Run)
	if err != nil {
		return nil, err
	}
	l := &runLog{folder: folder, service: found.Service}
	if err := p.complete(ctx, l); err != nil {
		return nil, err
	}
	switch {
	case len(l.mirrored) > 0:
		return l, nil
	case l.trouble != nil:
		return nil, l.trouble
	}
	return nil, usage(fmt.Errorf("redis has no mirror of run %s of service %s", found.Run, found.Service),
		"a mirror is kept for 7 days after its last record; look for the log on the machine that walked it")
}

// mirroredRun finds out of which service a run is: by its whole id and a service that are
// given, by who commands that service, else by the names of all keys.
func (p *program) mirroredRun(ctx context.Context, name, service string) (actions.MirroredRun, error) {
	if service != "" {
		if to, err := p.addresseeOf(ctx, name, service); err == nil {
			return actions.MirroredRun{Service: service, Run: to.run}, nil
		}
	}
	runs, err := p.allMirrored(ctx)
	if err != nil {
		return actions.MirroredRun{}, commandError(err)
	}
	if service != "" {
		runs = slices.DeleteFunc(runs, func(r actions.MirroredRun) bool { return r.Service != service })
	}
	var folders []runFolder
	for _, r := range runs {
		folders = append(folders, runFolder{run: r.Run})
	}
	if len(folders) == 0 {
		return actions.MirroredRun{}, usage(fmt.Errorf("there is no run %q on this machine, and no run in redis", name),
			"give --service NAME when the cluster has more nodes than were given")
	}
	folder := lastRun(folders)
	if name != latest {
		if folder, err = matchRun(folders, name); err != nil {
			return actions.MirroredRun{}, err
		}
	}
	return runs[slices.IndexFunc(runs, func(r actions.MirroredRun) bool { return r.Run == folder.run })], nil
}

// allMirrored gives the runs that have a mirror, oldest first.
func (p *program) allMirrored(ctx context.Context) ([]actions.MirroredRun, error) {
	s := p.settings
	runs, err := actions.MirroredRuns(ctx, actions.Options{URL: s.redis, ConfigFile: s.redisConfig, Clock: p.clock})
	return slices.DeleteFunc(runs, func(r actions.MirroredRun) bool { return !runShape().MatchString(r.Run) }), err
}

// complete asks the mirror of a run for what this machine's disk lacks, and who walks it. A
// Redis that does not answer is no error where there is a log here: it is said.
func (p *program) complete(ctx context.Context, l *runLog) error {
	var err error
	if l.store, err = p.storeOf(l.service); err != nil {
		return err
	}
	m, err := p.readMirror(ctx, l)
	switch {
	case err != nil && len(l.files) == 0:
		return commandError(err)
	case err != nil:
		l.unasked = fmt.Errorf("the mirror of the run was not looked at: %w", err)
		return nil
	}
	if m != nil {
		m.tell(p, l)
	}
	if commander, err := l.store.Commander(ctx); err == nil && l.walkedBy(p.where.host, commander) {
		l.walker = &commander
	}
	if by, err := l.store.TakenOver(ctx, l.folder.run); err == nil && by != nil {
		l.over = &takenOver{by.Run, by.Error()}
	}
	return nil
}

// mirrorRead is a whole mirror that was read.
type mirrorRead struct {
	gathering audit.Gathering
	heads     [][]byte     // signed
	strange   int          // entries that are neither
	unread    int          // of these the last, behind every record
	last      time.Time    // when its last record came, by the server's clock
	now       time.Time    // the server's
	here      audit.Record // the last one of this machine, the zero Record when it has none
}

// readMirror reads the mirror of a run, together with the records that are here: nil when it
// has nothing that they lack.
func (p *program) readMirror(ctx context.Context, l *runLog) (*mirrorRead, error) {
	latest, now, err := l.store.MirrorEnd(ctx, l.folder.run)
	if err != nil || len(latest) == 0 || l.covers(latest) {
		return nil, err
	}
	m := &mirrorRead{gathering: audit.Gathering{Rank: fenceOf}, now: now}
	for after := ""; ; {
		page, err := l.store.Mirrored(ctx, l.folder.run, after)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		m.take(page)
		after = page[len(page)-1].ID
	}
	for record, err := range l.records() {
		if err != nil {
			return nil, err
		}
		if _, err := m.gathering.Add(record.Line()); err != nil {
			return nil, err
		}
		m.here = record
	}
	return m, nil
}

// covers reports whether the records here have the latest of the mirror: all of them, for a
// process that slept while the run went on elsewhere adds its own behind.
func (l *runLog) covers(latest []actions.Mirrored) bool {
	lines := map[string]bool{}
	for _, entry := range latest {
		if _, err := audit.ParseRecord(entry.Line); err == nil {
			lines[string(entry.Line)] = true
		}
	}
	for record, err := range l.records() {
		if err != nil {
			return false
		}
		delete(lines, string(record.Line()))
	}
	return len(lines) == 0
}

// take sorts entries into records, heads and what is neither.
func (m *mirrorRead) take(page []actions.Mirrored) {
	for _, entry := range page {
		if audit.IsSignedHead(entry.Line) {
			m.heads = append(m.heads, entry.Line)
			continue
		}
		if _, err := m.gathering.Add(entry.Line); err != nil {
			m.strange++
			m.unread++
			continue
		}
		m.last, m.unread = entry.At, 0
	}
}

// fenceOf is how much a record speaks for its branch: a process that goes on with a run has a
// higher fencing number than those before it.
func fenceOf(r audit.Record) int64 {
	switch r.Kind {
	case steps.KindBegun, steps.KindResumed, steps.KindIntended:
	default:
		return 0
	}
	body, err := steps.DecodeBody(r.Kind, r.Body)
	if err != nil {
		return 0
	}
	switch b := body.(type) {
	case *steps.Begun:
		return b.Fence
	case *steps.Resumed:
		return b.Fence
	case *steps.Intended:
		return b.Fence
	}
	return 0
}

// tell gives the log what only the mirror has, and says in plain words what was found.
func (m *mirrorRead) tell(p *program, l *runLog) {
	name := "the mirror in redis " + l.store.Target()
	log := m.gathering.Gathered()
	switch {
	case m.here.Seq > 0 && !holds(log.Records, m.here):
		l.forked(log, name)
	case uint64(len(log.Records)) > m.here.Seq:
		l.mirrored = log.Records[m.here.Seq:]
		l.found = append(l.found, m.lacks(l, name))
	}
	for _, fork := range log.Forks {
		if l.trouble == nil {
			l.found = append(l.found, fmt.Sprintf("%s also has %s of another process, with an older fencing number, that went on from record %d: a fork; they are left out",
				name, span(fork.First, fork.Last), fork.First-1))
		}
	}
	if m.strange > 0 {
		l.found = append(l.found, fmt.Sprintf("%s of %s cannot be read: neither a record nor a signed head",
			countOf(m.strange, "entry"), name))
	}
	if err := log.Lost(name); err != nil && l.trouble == nil {
		l.trouble = fail(exitUnverified, err, "look for the log on the machine that walked the run; rewarm controls get "+
			l.service+" says what the controls hold")
	}
	l.found = append(l.found, m.checkHead(p, l, log, name)...)
}

// lacks says what this machine does not have.
func (m *mirrorRead) lacks(l *runLog, name string) string {
	first, last := l.mirrored[0], l.mirrored[len(l.mirrored)-1]
	text := fmt.Sprintf("%s come from %s: this machine's disk lacks them", span(first.Seq, last.Seq), name)
	if len(l.files) == 0 {
		text = fmt.Sprintf("%s come from %s: the run has no log on this machine", span(first.Seq, last.Seq), name)
	}
	return fmt.Sprintf("%s; the last came %s ago, and what was recorded after it and did not come is not here", text,
		steps.Lasts(m.now.Sub(m.last)))
}

// holds reports whether a log, from its first record on, goes through a record.
func holds(log []audit.Record, r audit.Record) bool {
	return r.Seq <= uint64(len(log)) && bytes.Equal(log[r.Seq-1].Line(), r.Line())
}

// forked: the run went on elsewhere from a record before this machine's last. What counts is
// there; the log here stays as it is.
func (l *runLog) forked(log audit.Gathered, name string) {
	seq := uint64(1)
	for record, err := range l.records() {
		if err != nil || !holds(log.Records, record) {
			break
		}
		seq = record.Seq + 1
	}
	err := error(&audit.ForkError{Earlier: l.files[0], Later: name, Seq: seq})
	if seq <= uint64(len(log.Records)) {
		err = fmt.Errorf("%w%s", err, wentOn(log.Records[seq-1:]))
	}
	l.trouble = fail(exitUnverified, err, "keep "+l.folder.dir+" under another name: then rewarm resume goes on with the run from the mirror, and rewarm audit verify --segment FILE shows both")
	l.files, l.mirrored = nil, log.Records
}

// wentOn says who went on with a run, where that is among the records.
func wentOn(records []audit.Record) string {
	for _, record := range records {
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if resumed, ok := body.(*steps.Resumed); ok && err == nil {
			return fmt.Sprintf("; %s on %s went on with the run in record %d", oneLine(resumed.User),
				oneLine(resumed.Host), record.Seq)
		}
	}
	return ""
}

// checkHead compares the newest signed head of the mirror with the log.
func (m *mirrorRead) checkHead(p *program, l *runLog, log audit.Gathered, name string) []string {
	if len(m.heads) == 0 || l.trouble != nil {
		return nil
	}
	head, unknown, err := p.headBy(m.heads[len(m.heads)-1])
	if err != nil {
		return []string{fmt.Sprintf("the newest head in %s: %s", name, err)}
	}
	if err := log.Has(head); err != nil {
		l.trouble = fail(exitUnverified, fmt.Errorf("%s: %w", name, err),
			"look for the log on the machine that walked the run")
		return nil
	}
	if unknown != nil && len(l.files) == 0 {
		return []string{fmt.Sprintf("head %s fits; it is signed by %s, whose public key is not here: put that machine's head.pub into the folder keys of the state directory as NAME.pub to check it", head, oneLine(unknown.Key))}
	}
	return nil
}

// goOn refuses to go on with a run that another process may still walk, or that is not whole.
func (p *program) goOn(ctx context.Context, l *runLog) error {
	p.warnOf(l.unasked)
	if l.trouble != nil {
		return l.trouble
	}
	if l.walker == nil || len(l.files) > 0 && l.walker.Host == p.where.host {
		return nil // of a process of this machine the lock of the log tells
	}
	return p.outlive(ctx, l)
}

// leaseLook is how often it is looked whether a lease is renewed.
const leaseLook = 500 * time.Millisecond

// outlive waits until the lease of the process before this one ends. Where that process
// renews it, it lives, and this one must leave the run alone.
func (p *program) outlive(ctx context.Context, l *runLog) error {
	say(p.err, "", fmt.Sprintf("%s on %s had the command a moment ago; looking for at most %s whether that process still lives",
		oneLine(l.walker.Actor), oneLine(l.walker.Host), steps.Lasts(l.walker.Until.Sub(l.walker.Now))))
	for {
		if err := p.clock.Wait(ctx, p.clock.Now().Add(leaseLook)); err != nil {
			return err
		}
		now, err := l.store.Commander(ctx)
		switch {
		case err != nil:
			return commandError(err)
		case now.Run != l.folder.run || now.Lapsed():
			return nil
		case now.Until.After(l.walker.Until):
			return fail(exitCommanded, fmt.Errorf("%w; it renews its command, so its process lives", &now),
				p.command("watch", l.folder.run)+" follows it; it can be resumed when its process is gone")
		}
	}
}

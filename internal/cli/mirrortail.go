package cli

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
)

// mirrorTail follows a run in its mirror.
type mirrorTail struct {
	p     *program
	log   *runLog
	name  string // of the mirror
	read  mirrorRead
	after string         // the entry that was read last
	shown []audit.Record // what was given
	mu    sync.Mutex     // over what was given: going back in time asks for it

	quiet notice // since nothing comes
	away  bool   // redis did not answer
	flaw  string // what came and cannot be shown, "" for nothing
}

func newMirrorTail(p *program, log *runLog) *mirrorTail {
	m := &mirrorTail{p: p, log: log, name: "the mirror in redis " + log.store.Target()}
	m.read.gathering.Rank = fenceOf
	for record := range log.records() { // what the mirror has lost may be here
		_, _ = m.read.gathering.Add(record.Line()) // a record is a line
	}
	return m
}

// next waits about a second at most. A Redis that is away is waited for.
func (m *mirrorTail) next(ctx context.Context) ([]audit.Record, error) {
	page, err := m.page(ctx)
	if err == nil && len(page) == 0 {
		m.quiet, err = m.silence(ctx)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		if !m.away { // what it says later may differ in no more than a port
			m.quiet = notice{text: err.Error() + "; it is tried again"}
		}
		m.away = true
		_ = m.p.clock.Wait(ctx, m.p.clock.Now().Add(time.Second))
		return nil, nil
	}
	if m.away = false; len(page) == 0 && m.shown != nil {
		return nil, nil
	}
	if len(page) > 0 {
		m.quiet = notice{}
	}
	m.read.take(page)
	return m.come()
}

func (m *mirrorTail) notice() notice {
	if m.quiet.text == "" {
		return notice{text: m.flaw}
	}
	return m.quiet
}

// silentFor is how long nothing may come from a walk that has the command before that is said: longer than between two
// polls of a runbook that is in no hurry.
const silentFor = time.Minute

// silence says why nothing comes, as far as Redis knows.
func (m *mirrorTail) silence(ctx context.Context) (notice, error) {
	latest, now, err := m.log.store.MirrorEnd(ctx, m.log.folder.run)
	if err != nil {
		return notice{}, err
	}
	if len(latest) == 0 {
		return notice{text: m.name + " is gone: it was deleted, or its server has lost it; what came before stands"}, nil
	}
	if n := len(m.shown); n > 0 && ends(m.shown[n-1]) {
		return notice{}, nil
	}
	commander, err := m.log.store.Commander(ctx)
	if err != nil {
		return notice{}, err
	}
	var over *takenOver
	if by, err := m.log.store.TakenOver(ctx, m.log.folder.run); err == nil && by != nil {
		over = &takenOver{by.Run, by.Error()}
	}
	at := latest[len(latest)-1].At
	since := fmt.Sprintf("the last entry of its mirror is of %s", at.UTC().Format("15:04:05Z"))
	switch {
	case !m.log.walkedBy(m.p.where.host, commander):
		return notice{text: "nobody walks this run any more: " + m.gone(commander) + ", and " + since + "; " +
			m.p.goesOn(m.log.folder.run, over), over: true}, nil
	case now.Sub(at) > silentFor:
		text := fmt.Sprintf("nothing new comes: %s on %s has the command of this run, and %s",
			oneLine(commander.Actor), oneLine(commander.Host), since)
		return notice{text: text}, nil
	}
	return notice{}, nil
}

// gone says how that is known.
func (m *mirrorTail) gone(c actions.Commanded) string {
	if c.Run == m.log.folder.run && !c.Lapsed() {
		return "its process on this machine is gone"
	}
	return "nobody has its command"
}

// end is not known before a mirror has been read.
func (m *mirrorTail) end() uint64 { return 0 }

// page gives what lies behind the last entry, and waits for it when everything was read.
func (m *mirrorTail) page(ctx context.Context) ([]actions.Mirrored, error) {
	page, err := m.log.store.AwaitMirrored(ctx, m.log.folder.run, m.after)
	if len(page) > 0 {
		m.after = page[len(page)-1].ID
	}
	return page, err
}

// come gives the records that go on from those that were given.
func (m *mirrorTail) come() ([]audit.Record, error) {
	log := m.read.gathering.Gathered()
	m.flaw = m.flawOf(log)
	if n := len(m.shown); n > 0 && !holds(log.Records, m.shown[n-1]) {
		return nil, fmt.Errorf("%w: rewarm watch shows it from the beginning",
			&audit.ForkError{Earlier: "what was shown", Later: m.name, Seq: m.divided(log.Records)})
	}
	more := log.Records[len(m.shown):]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = log.Records
	return more, nil
}

// flawOf says what of the mirror cannot be shown.
func (m *mirrorTail) flawOf(log audit.Gathered) string {
	if err := log.Lost(m.name); err != nil {
		return err.Error() + "; what follows is shown when they have come"
	}
	if n := m.read.unread; n > 0 {
		return fmt.Sprintf("the last %s of %s cannot be read: neither a record nor a signed head",
			countOf(n, "entry"), m.name)
	}
	return ""
}

func (m *mirrorTail) again(from, to int) iter.Seq2[audit.Record, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return eachOf(m.shown[from:to])
}

// divided is the first record that is not the one that was shown.
func (m *mirrorTail) divided(records []audit.Record) uint64 {
	for i, shown := range m.shown {
		if !holds(records, shown) {
			return uint64(i + 1)
		}
	}
	return uint64(len(m.shown) + 1)
}

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
	read  mirrorRead
	after string         // the entry that was read last
	shown []audit.Record // what was given
	mu    sync.Mutex     // over what was given: going back in time asks for it
	away  bool           // redis did not answer
	lost  string         // what was said to be missing
}

func newMirrorTail(p *program, log *runLog) *mirrorTail {
	m := &mirrorTail{p: p, log: log, read: mirrorRead{gathering: audit.Gathering{Rank: fenceOf}}}
	for record := range log.records() { // what the mirror has lost may be here
		_, _ = m.read.gathering.Add(record.Line()) // a record is a line
	}
	return m
}

// next waits at most a second. A Redis that is away is waited for.
func (m *mirrorTail) next(ctx context.Context) ([]audit.Record, error) {
	page, err := m.page(ctx)
	if ctx.Err() != nil {
		return nil, nil
	}
	if err != nil {
		if !m.away {
			sayWarning(m.p.err, err.Error()+"; it is tried again")
		}
		m.away = true
		_ = m.p.clock.Wait(ctx, m.p.clock.Now().Add(time.Second))
		return nil, nil
	}
	if m.away = false; len(page) == 0 && m.shown != nil {
		return nil, nil
	}
	m.read.take(page)
	return m.come()
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
	name := "the mirror in redis " + m.log.store.Target()
	if err := log.Lost(name); err != nil && err.Error() != m.lost {
		m.lost = err.Error()
		sayWarning(m.p.err, m.lost+"; what follows is shown when they have come")
	}
	if n := len(m.shown); n > 0 && !holds(log.Records, m.shown[n-1]) {
		return nil, fmt.Errorf("%w: rewarm watch shows it from the beginning",
			&audit.ForkError{Earlier: "what was shown", Later: name, Seq: m.divided(log.Records)})
	}
	more := log.Records[len(m.shown):]
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = log.Records
	return more, nil
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

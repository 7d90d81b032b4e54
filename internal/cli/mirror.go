package cli

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// mirror copies what is on disk to Redis, so that others can follow and a lost disk
// loses nothing. It has a goroutine of its own: a walk never waits for it.
type mirror struct {
	put    func(ctx context.Context, lines [][]byte) error
	newest func(context.Context) ([]byte, error) // the line where it ends; nil where that need not be asked
	again  iter.Seq[[]byte]                      // what was handed over so far, from the first line on; nil where it is kept nowhere
	clock  clock
	logger *slog.Logger

	mu      sync.Mutex
	waiting [][]byte
	size    int    // bytes waiting
	behind  bool   // an earlier process may have left lines; none is taken until they were read
	dropped int    // lines that found no room; no more are taken until they were read again
	last    []byte // the record that was sent last
	filled  chan struct{}
	ending  context.Context // has ended when nothing more will come
	end     context.CancelFunc
	ended   chan struct{} // closed by the goroutine
	cancel  context.CancelFunc
}

const (
	mirrorRoom   = 8 << 20 // bytes kept while Redis is away
	mirrorBatch  = 256     // lines sent at once
	mirrorLooked = 16      // of its newest lines, among which a record must be: heads are signed now and then
	mirrorAgain  = time.Second
	mirrorLast   = 2 * time.Second // for what is left at the end
)

func startMirror(put func(context.Context, [][]byte) error, clock clock, logger *slog.Logger) *mirror {
	m := newMirror(put, clock, logger)
	m.start()
	return m
}

// catchesUpFrom has a mirror begin with what an earlier process has not sent: what is behind the newest line that is
// there. It is for before the start.
func (m *mirror) catchesUpFrom(newest func(context.Context) ([]byte, error)) {
	m.newest, m.behind = newest, true
}

func newMirror(put func(context.Context, [][]byte) error, clock clock, logger *slog.Logger) *mirror {
	return &mirror{put: put, clock: clock, logger: logger, filled: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (m *mirror) start() {
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	m.ending, m.end = context.WithCancel(ctx)
	go m.run(ctx)
}

// send hands lines over and returns at once. When Redis has been away for so long
// that there is no room, lines are left out, and read again from the log when the others
// have been sent.
func (m *mirror) send(lines ...[]byte) {
	m.mu.Lock()
	for _, line := range lines {
		if m.behind || m.dropped > 0 || m.size+len(line) > mirrorRoom {
			m.dropped++
			continue
		}
		m.waiting = append(m.waiting, line)
		m.size += len(line)
	}
	m.mu.Unlock()
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// close sends what is left, a last time and for a moment at most, ends the goroutine, and
// gives how many lines were not sent.
func (m *mirror) close() (unsent int) {
	last, stop := m.clock.Deadline(context.Background(), mirrorLast)
	defer stop()
	m.end()
	select {
	case <-m.ended:
	case <-last.Done():
	}
	m.cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dropped + len(m.waiting)
}

func (m *mirror) run(ctx context.Context) {
	defer close(m.ended)
	for {
		select {
		case <-m.filled:
			m.drain(ctx)
		case <-m.ending.Done():
			m.drain(ctx)
			return
		}
	}
}

// drain sends until nothing is left, trying again while Redis is away. At the end nobody waits for that.
func (m *mirror) drain(ctx context.Context) {
	for {
		more, err := m.sendOn(ctx)
		switch {
		case err == nil && !more:
			return
		case err == nil:
			continue
		}
		m.logger.Debug("the mirror waits for redis", "error", err)
		if m.ending.Err() != nil {
			return
		}
		_ = m.clock.Wait(m.ending, m.clock.Now().Add(mirrorAgain)) // the end calls for a last try
	}
}

// sendOn sends a batch, or finds more to send. It reports whether there may be more.
func (m *mirror) sendOn(ctx context.Context) (more bool, err error) {
	batch := m.next()
	if len(batch) == 0 {
		return m.catchUp(ctx)
	}
	if err := m.put(ctx, batch); err != nil {
		return true, err
	}
	m.sent(len(batch))
	return true, nil
}

func (m *mirror) next() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting[:min(len(m.waiting), mirrorBatch)]
}

func (m *mirror) sent(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range m.waiting[:n] {
		m.size -= len(line)
		if !audit.IsSignedHead(line) { // which is not in the log
			m.last = line
		}
	}
	m.waiting = m.waiting[n:]
}

// catchUp reads again what found no room or was never sent, and reports whether there is
// something to send. What comes meanwhile may be sent twice; readers tell records apart.
func (m *mirror) catchUp(ctx context.Context) (more bool, err error) {
	if m.newest != nil {
		last, err := m.newest(ctx)
		if err != nil {
			return true, err
		}
		m.last, m.newest = last, nil // only this goroutine has it until something was sent
	}
	m.mu.Lock()
	last, behind := m.last, (m.behind || m.dropped > 0) && m.again != nil
	if behind {
		m.behind, m.dropped = false, 0
	}
	m.mu.Unlock()
	if !behind {
		return false, nil
	}
	lines, size, whole := linesBehind(m.again, last)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += size; whole {
		m.waiting = append(lines, m.waiting...)
	} else {
		m.waiting, m.size, m.dropped = lines, size, 1
	}
	return len(m.waiting) > 0, nil
}

// linesBehind gives what follows a line, as far as there is room for it; everything, where
// the line is not there.
func linesBehind(all iter.Seq[[]byte], last []byte) (lines [][]byte, size int, whole bool) {
	found := last == nil
	for line := range all {
		switch {
		case !found:
			found = bytes.Equal(line, last)
		case size+len(line) > mirrorRoom:
			return lines, size, false
		default:
			lines, size = append(lines, line), size+len(line)
		}
	}
	if !found {
		return linesBehind(all, nil)
	}
	return lines, size, true
}

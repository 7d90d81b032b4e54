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
	again  iter.Seq[[]byte] // what was handed over so far, from the first line on; nil where it is kept nowhere
	clock  clock
	logger *slog.Logger

	mu      sync.Mutex
	waiting [][]byte
	size    int    // bytes waiting
	dropped int    // lines that found no room; no more are taken until they were read again
	last    []byte // the record that was sent last
	filled  chan struct{}
	ending  context.Context // has ended when nothing more will come
	end     context.CancelFunc
	ended   chan struct{} // closed by the goroutine
	cancel  context.CancelFunc
}

const (
	mirrorRoom  = 8 << 20 // bytes kept while Redis is away
	mirrorBatch = 256     // lines sent at once
	mirrorAgain = time.Second
	mirrorLast  = time.Second // for what is left at the end
)

func startMirror(
	put func(context.Context, [][]byte) error, again iter.Seq[[]byte], clock clock, logger *slog.Logger,
) *mirror {
	ctx, cancel := context.WithCancel(context.Background())
	ending, end := context.WithCancel(ctx)
	m := &mirror{put: put, again: again, clock: clock, logger: logger, cancel: cancel,
		filled: make(chan struct{}, 1), ending: ending, end: end, ended: make(chan struct{})}
	go m.run(ctx)
	return m
}

// send hands lines over and returns at once. When Redis has been away for so long
// that there is no room, lines are left out, and read again from the log when the others
// have been sent.
func (m *mirror) send(lines ...[]byte) {
	m.mu.Lock()
	for _, line := range lines {
		if m.dropped > 0 || m.size+len(line) > mirrorRoom {
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

// close sends what is left, a last time and for a moment at most, and ends the goroutine.
func (m *mirror) close() {
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
	if lost := m.dropped + len(m.waiting); lost > 0 {
		m.logger.Warn("records did not reach the mirror in redis", "lines", lost)
	}
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
		batch := m.next()
		if len(batch) == 0 {
			if !m.catchUp() {
				return
			}
			continue
		}
		if err := m.put(ctx, batch); err != nil {
			m.logger.Debug("the mirror waits for redis", "error", err)
			if m.ending.Err() != nil {
				return
			}
			_ = m.clock.Wait(m.ending, m.clock.Now().Add(mirrorAgain)) // the end calls for a last try
			continue
		}
		m.sent(len(batch))
	}
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

// catchUp reads again what found no room, and reports whether there is something to send. What
// comes meanwhile may be sent twice; readers tell records apart.
func (m *mirror) catchUp() bool {
	m.mu.Lock()
	last, behind := m.last, m.dropped > 0 && m.again != nil
	if behind {
		m.dropped = 0
	}
	m.mu.Unlock()
	if !behind {
		return false
	}
	lines, size, whole := linesBehind(m.again, last)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += size; whole {
		m.waiting = append(lines, m.waiting...)
	} else {
		m.waiting, m.size, m.dropped = lines, size, 1
	}
	return len(m.waiting) > 0
}

// linesBehind gives what follows a line, as far as there is room for it.
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
	return lines, size, true
}

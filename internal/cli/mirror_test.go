package cli

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// mirrored takes what a mirror sends. While it is down it takes nothing.
type mirrored struct {
	mu    sync.Mutex
	lines []string
	down  bool
	hangs bool
}

func (r *mirrored) put(ctx context.Context, lines [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if r.down {
		return errors.New("down")
	}
	for _, line := range lines {
		r.lines = append(r.lines, string(line))
	}
	return nil
}

func (r *mirrored) sent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *mirrored) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

func TestMirrorKeepsTheOrderOverAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &mirrored{down: true}
		m := startMirror(r.put, wallClock{}, slog.New(slog.DiscardHandler))
		var want []string
		for i := range 1000 {
			line := strconv.Itoa(i)
			m.send([]byte(line))
			want = append(want, line)
			if i == 700 {
				time.Sleep(10 * time.Second)
				r.set(false)
			}
		}
		m.close()
		if !slices.Equal(r.lines, want) {
			t.Errorf("%d lines arrived, or in another order", len(r.lines))
		}
	})
}

// TestMirrorNeverHoldsUpAWalk: neither a Redis that hangs nor one that stays away.
func TestMirrorNeverHoldsUpAWalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &mirrored{hangs: true}
		m := startMirror(r.put, wallClock{}, slog.New(slog.DiscardHandler))
		began := time.Now()
		for range 3 * mirrorRoom / 1024 {
			m.send(make([]byte, 1024))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("sending took %s", took)
		}
		if m.dropped == 0 || m.size > mirrorRoom {
			t.Errorf("%d bytes are kept, %d lines dropped", m.size, m.dropped)
		}
		m.close()
		if took := time.Since(began); took > mirrorLast {
			t.Errorf("closing took %s", took)
		}
		m.send([]byte("late"))
		synctest.Wait()
	})
}

// TestMirrorCatchesUp: what found no room while Redis was away is read again when it is back,
// over and over where it is more than there is room for.
func TestMirrorCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &mirrored{down: true}
		var log [][]byte
		again := func(yield func([]byte) bool) {
			for _, line := range log {
				if !yield(line) {
					return
				}
			}
		}
		m := newMirror(r.put, wallClock{}, slog.New(slog.DiscardHandler))
		m.again = again
		m.start()
		const head = "rewarm audit v1\n"
		padding := strings.Repeat("x", 64<<10)
		for i := range 3 * mirrorRoom / len(padding) {
			log = append(log, []byte(strconv.Itoa(i)+padding))
			m.send(log[i])
			if i == 10 {
				m.send([]byte(head))
			}
		}
		r.set(false)
		time.Sleep(2 * mirrorAgain)
		synctest.Wait()
		m.close()
		var want []string
		for _, line := range log {
			want = append(want, string(line))
		}
		if got := slices.Compact(slices.DeleteFunc(r.lines, func(line string) bool { return line == head })); !slices.Equal(got, want) {
			t.Errorf("%d of %d lines arrived, or in another order", len(got), len(want))
		}
	})
}

// TestMirrorGoesOnWhereAnEarlierProcessLeftIt: what that one could not send any more comes first, once it is known
// where the mirror ends; all of it where the mirror ends with something else.
func TestMirrorGoesOnWhereAnEarlierProcessLeftIt(t *testing.T) {
	for _, ends := range []struct {
		newest string
		want   []string
	}{{"b", []string{"c", "d", "e"}}, {"", []string{"a", "b", "c", "d", "e"}}, {"of a hand", []string{"a", "b", "c", "d", "e"}}} {
		synctest.Test(t, func(t *testing.T) {
			r := &mirrored{}
			var away atomic.Bool
			away.Store(true)
			newest := func(context.Context) ([]byte, error) {
				if away.Load() {
					return nil, errors.New("down")
				}
				if ends.newest == "" {
					return nil, nil
				}
				return []byte(ends.newest), nil
			}
			log := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e")} // three of the process before
			m := newMirror(r.put, wallClock{}, slog.New(slog.DiscardHandler))
			m.again = func(yield func([]byte) bool) {
				for _, line := range log {
					if !yield(line) {
						return
					}
				}
			}
			m.catchesUpFrom(newest)
			m.start()
			m.send(log[3:]...)
			time.Sleep(10 * mirrorAgain)
			if sent := r.sent(); len(sent) > 0 {
				t.Errorf("sent %q before the end of the mirror was known", sent)
			}
			away.Store(false)
			time.Sleep(2 * mirrorAgain)
			if unsent := m.close(); !slices.Equal(r.sent(), ends.want) || unsent > 0 {
				t.Errorf("behind %q came %q, %d unsent", ends.newest, r.sent(), unsent)
			}
		})
	}
}

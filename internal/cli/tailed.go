package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// tailed follows the segments of a log of this machine.
type tailed struct {
	tail   *audit.Tail
	folder runFolder
	lab    bool          // the run ends with its process
	goOnBy func() string // what goes on once nobody walks the run
	at     int           // segments begun
	clock  clock
	waits  bool // everything that was there has been read

	last   audit.Record
	came   time.Time // when records came last
	listed time.Time // when it was looked for another segment
	asked  time.Time // when it was looked at last whether anybody writes
	gone   bool      // nobody did
	after  string    // what goes on then
	away   error     // why the file cannot be read now
}

func newTailed(p *program, log *runLog) *tailed {
	return &tailed{
		tail: audit.NewTail(log.folder.logPath()), folder: log.folder, at: 1,
		clock: p.clock, came: p.clock.Now(),
		lab: log.lab, goOnBy: func() string { return p.goesOn(log.folder.run, p.tookOver(log.folder)) },
	}
}

// lookEvery is how often a watcher looks for new records. Two people see the same within a second.
const lookEvery = 200 * time.Millisecond

func (t *tailed) next(ctx context.Context) ([]audit.Record, error) {
	if t.waits && t.clock.Wait(ctx, t.clock.Now().Add(lookEvery)) != nil {
		return nil, nil
	}
	records, err := t.tail.Read()
	if t.away = nil; isUnread(err) {
		t.away, t.waits = err, true
		return nil, nil
	}
	t.heard(records)
	if t.waits = len(records) == 0; err != nil || !t.waits {
		return records, err
	}
	t.goOn()
	return nil, nil
}

// goOn looks for the next segment, which there is where another process goes on from the mirror.
func (t *tailed) goOn() {
	now := t.clock.Now()
	if now.Sub(t.listed) < askEvery {
		return
	}
	t.listed = now
	if files := t.folder.files(); len(files) > t.at {
		t.tail.GoOn(files[t.at])
		t.at, t.waits, t.listed = t.at+1, false, time.Time{}
	}
}

// isUnread tells a file that cannot be read now from a log that is damaged.
func isUnread(err error) bool {
	var unread *fs.PathError
	return errors.As(err, &unread)
}

// A walk polls at least every few seconds. One that has been quiet for so long is asked after, so often: who asks holds
// the lock of the log for a moment, which a process that goes on with the run must not meet.
const (
	quietFor = 3 * time.Second
	askEvery = time.Second
)

// heard notes that records have come, or asks whether anybody is there who writes.
func (t *tailed) heard(records []audit.Record) {
	now := t.clock.Now()
	switch n := len(records); {
	case n > 0:
		t.last, t.came, t.gone = records[n-1], now, false
	case t.gone || ends(t.last) || now.Sub(t.came) < quietFor || now.Sub(t.asked) < askEvery:
	default:
		if t.asked, t.gone = now, !beingWritten(t.folder.logPath()); t.gone {
			t.after = t.goOnBy()
		}
	}
}

func (t *tailed) notice() notice {
	behind := t.tail.Behind()
	switch {
	case t.away != nil:
		return notice{text: t.away.Error() + "; it is tried again"}
	case behind != nil:
		text := fmt.Sprintf("%s; what follows record %d is shown when it has come right", behind, t.last.Seq)
		return notice{text: text, over: t.gone, last: t.gone && t.lab}
	case !t.gone:
		return notice{}
	case t.lab:
		return notice{text: nobodyWalks(t.last) + ", and its lab has ended with it", over: true, last: true}
	}
	return notice{text: nobodyWalks(t.last) + " on this machine; " + t.after, over: true}
}

// nobodyWalks says since when.
func nobodyWalks(last audit.Record) string {
	return fmt.Sprintf("nobody walks this run any more: its process is gone since record %d, %s",
		last.Seq, last.At.UTC().Format("15:04:05Z"))
}

func (t *tailed) end() uint64 { return (&runLog{files: t.folder.files()}).end() }

func (t *tailed) again(from, to int) iter.Seq2[audit.Record, error] { return t.tail.Again(from, to) }

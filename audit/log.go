package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"
)

// Options says what a log needs beside its file.
type Options struct {
	// Run is the id that heads name. Without it the name of the directory in
	// which the file stands is taken.
	Run string
	// Earlier are the segments that come before this one, in order.
	Earlier []string
	// Emergency, when given, takes the lines of the log after the log has broken:
	// one record without its newline, on disk or on another machine when it
	// returns nil. Lines come in order; after an error the same line comes again,
	// so a sink that had taken it nevertheless drops what it has already.
	Emergency func(line []byte) error
	// Wrap, when given, stands between the log and its file: for tests that end the
	// process at one of its calls.
	Wrap func(File) File
}

// Log is a log open for writing. There is one writer at a time, across processes.
// Its methods may be called from several goroutines; a call waits for a [Log.Commit]
// that is waiting for the disk.
type Log struct {
	mu        sync.Mutex
	path, run string
	earlier   []string
	file      File
	wrap      func(File) File
	identity  os.FileInfo // of the file when it was opened
	locks     []io.Closer // of earlier segments
	clock     runClock

	written position // end of the chain
	durable position // what the disk surely has

	broken    error // latched: the first failure of a write or a sync
	emergency func(line []byte) error
	pending   [][]byte // lines that the emergency sink has not taken yet
}

// File is what a log does to its file.
type File interface {
	io.WriteCloser
	io.ReaderAt
	Sync() error
}

// position is a link and how many bytes of the file lead to it.
type position struct {
	link
	size int64
}

// Append writes a record without waiting for the disk: it outlives the process,
// not the machine. Actor and kind are names; kind is lower-case letters. The body
// is encoded as a JSON object, nil as an empty one.
//
// A body that cannot be recorded gets an error and changes nothing: NaN, bytes
// that are not UTF-8, [*TooLongError]. When a write fails the log is broken for
// good: the record goes to the emergency sink and is marked so, or the error is
// [ErrBroken]. As with any write, a record whose call failed may still be there
// when the log is opened again.
func (l *Log) Append(actor, kind string, body any) (Record, error) {
	return l.add(actor, kind, body, false)
}

// Commit is [Log.Append] that returns when the record, and all before it, are on
// disk. It also fails when the file is no longer the one that was opened, or when
// another program wrote to it.
func (l *Log) Commit(actor, kind string, body any) (Record, error) {
	return l.add(actor, kind, body, true)
}

func (l *Log) add(actor, kind string, body any, commit bool) (Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == kindTorn {
		return Record{}, errors.New("records of kind torn are written by Open alone")
	}
	r, err := l.next(actor, kind, body)
	if err != nil {
		return Record{}, err
	}
	line := r.Line()
	if l.broken == nil {
		if l.broken = l.write(r, line, commit); l.broken == nil {
			return r, nil
		}
		l.rescue()
	}
	return l.addEmergency(r, line)
}

// next makes the record that would come next.
func (l *Log) next(actor, kind string, body any) (Record, error) {
	if l.file == nil {
		return Record{}, ErrClosed
	}
	if kind == "" || !all([]byte(kind), isLower) {
		return Record{}, fmt.Errorf("%q is no kind of record: it must be lower-case letters", kind)
	}
	limit := MaxBody
	if l.written.seq == 0 {
		limit = MaxFirstBody
	}
	raw, err := encodeBody(kind, body, limit)
	if err != nil {
		return Record{}, err
	}
	at, t := l.clock.tick()
	if y := at.Year(); y < 0 || y > 9999 {
		return Record{}, fmt.Errorf("the clock says the year is %d", y)
	}
	return Record{
		Seq: l.written.seq + 1, Prev: l.written.hash.String(), At: at, T: t,
		Actor: plainActor(actor), Kind: kind, Body: raw,
	}, nil
}

// write puts one line behind the others. Its error is final.
func (l *Log) write(r Record, line []byte, commit bool) error {
	n, err := l.file.Write(append(line, '\n'))
	if err != nil {
		return err
	}
	size := l.written.size + int64(n)
	if commit {
		if err := l.file.Sync(); err != nil {
			return err
		}
		if err := l.stillThere(size); err != nil {
			return err
		}
	}
	l.written = position{link: linkOf(r, line), size: size}
	if commit {
		l.durable = l.written
	}
	return nil
}

func linkOf(r Record, line []byte) link {
	return link{seq: r.Seq, hash: sha256.Sum256(line), t: r.T}
}

// stillThere checks that the name still leads to the file that is written to and
// that nobody else wrote to it: a file that was removed takes writes without a
// word.
func (l *Log) stillThere(size int64) error {
	now, err := os.Stat(l.path)
	if err != nil || !os.SameFile(l.identity, now) {
		return fmt.Errorf("%s was removed or replaced", show(l.path))
	}
	if now.Size() != size {
		return fmt.Errorf("%s is %d bytes long instead of %d: another program wrote to it", show(l.path), now.Size(), size)
	}
	return nil
}

func (l *Log) sync() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	return l.stillThere(l.written.size)
}

// Broken gives the failure that broke the log, nil for one that is whole.
func (l *Log) Broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Path is the file, as an absolute path.
func (l *Log) Path() string { return l.path }

// Head is the position of the last record, whether on disk or not; ok is false
// before the first one.
func (l *Log) Head() (h Head, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.headAt(l.written.link)
}

func (l *Log) headAt(at link) (Head, bool) {
	return Head{Run: l.run, Seq: at.seq, Hash: at.hash.String()}, at.seq > 0
}

// ClockStep gives how far the wall clock has parted from the run time since the
// last call that reported a step, when that is a second or more: forwards after a
// sleep or when it was set, backwards when it was set back.
func (l *Log) ClockStep() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock.step()
}

// Records goes over the records of all segments up to the last one written to
// the file. See [Records].
func (l *Log) Records() iter.Seq2[Record, error] {
	files := slices.Clone(l.earlier)
	if len(files) == 0 || Holds(l.path) {
		files = append(files, l.path)
	}
	return Records(files...)
}

// Close puts what was appended on disk and gives the lock back.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	var err error
	if l.broken == nil && l.durable.seq != l.written.seq {
		err = l.sync()
	}
	return errors.Join(err, l.release())
}

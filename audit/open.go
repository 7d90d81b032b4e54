package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Create begins a log, or with Options.Earlier the next segment of one. The file
// must not exist; missing directories are made, mode 0700, the file gets 0600.
func Create(path string, clock Clock, o Options) (*Log, error) {
	l, err := create(path, clock, o)
	if err != nil {
		return nil, fmt.Errorf("begin a log: %w", err)
	}
	return l, nil
}

func create(path string, clock Clock, o Options) (_ *Log, err error) {
	l, err := newLog(path, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.release()
		}
	}()
	c, err := l.walkEarlier()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(l.path)
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	if err := l.openFile(os.O_CREATE | os.O_EXCL); err != nil {
		return nil, err
	}
	if err := syncDir(dir); err != nil {
		return nil, err
	}
	l.start(clock, position{link: c.end})
	return l, nil
}

// Open goes on with a log. It takes the writer's lock, checks the whole chain and
// repairs a torn tail; a log that is missing, empty or damaged is refused and not
// touched. Only a segment behind others may be empty: its writer was stopped before its
// first record. The records are then given by [Log.Records].
func Open(path string, clock Clock, o Options) (*Log, error) {
	l, err := open(path, clock, o)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return l, nil
}

func open(path string, clock Clock, o Options) (_ *Log, err error) {
	l, err := newLog(path, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.release()
		}
	}()
	if err := l.openFile(0); err != nil {
		return nil, err
	}
	c, err := l.walkEarlier()
	if err != nil {
		return nil, err
	}
	if err := c.addLast(l.path); err != nil {
		return nil, err
	}
	if c.path != l.path {
		return nil, fmt.Errorf("%s ends at record %d, but %s goes on to %d: go on with that one", show(l.path), c.at.end.seq,
			show(c.path), c.end.seq)
	}
	l.start(clock, position{link: c.end, size: c.at.offset})
	if err := l.repair(c.at); err != nil {
		return nil, fmt.Errorf("repair the end of %s: %w", show(l.path), err)
	}
	return l, nil
}

func newLog(path string, o Options) (*Log, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: abs, run: o.Run, earlier: o.Earlier, emergency: o.Emergency, wrap: o.Wrap}
	if l.run == "" {
		l.run = filepath.Base(filepath.Dir(abs))
	}
	if strings.ContainsFunc(l.run, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%q is no run id: it holds spaces or control characters", l.run)
	}
	return l, nil
}

// walkEarlier locks and checks the segments before this one.
func (l *Log) walkEarlier() (*chain, error) {
	c := &chain{visit: func(envelope, digest) error { return nil }}
	for _, path := range l.earlier {
		f, err := openToLock(path)
		if err != nil {
			return nil, err
		}
		l.locks = append(l.locks, f)
		if err := lock(f); err != nil {
			return nil, err
		}
		if err := c.add(path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// openToLock opens for writing when it may, because network file systems lock
// only what is open for writing.
func openToLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		f, err = OpenRegular(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s: %w", show(path), ErrMissing)
	}
	return f, err
}

func (l *Log) openFile(flags int) error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|flags, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", show(l.path), ErrMissing)
	}
	if err != nil {
		return err
	}
	if l.file = f; l.wrap != nil {
		l.file = l.wrap(f)
	}
	if l.identity, err = f.Stat(); err != nil {
		return err
	}
	if err := CheckRegular(l.path, l.identity); err != nil {
		return err
	}
	return lock(f)
}

func (l *Log) start(clock Clock, at position) {
	l.written = at
	l.clock = startClock(clock, at.t)
}

// repair closes the end of a log that a stopped writer left, and makes sure that
// everything found in it is on disk.
func (l *Log) repair(w *walker) error {
	var fix []byte
	next := l.written.link
	torn := w.skipped.torn()
	if w.open || torn != nil && torn.Offset+torn.Length == w.offset {
		fix = append(fix, '\n')
	}
	if torn != nil {
		r, err := l.next("rewarm", kindTorn, torn)
		if err != nil {
			return err
		}
		line := r.Line()
		fix = append(append(fix, line...), '\n')
		next = linkOf(r, line)
	}
	if len(fix) > 0 {
		if _, err := l.file.Write(fix); err != nil {
			return err
		}
		l.written = position{link: next, size: l.written.size + int64(len(fix))}
	}
	if err := errors.Join(l.sync(), syncDir(filepath.Dir(l.path))); err != nil {
		return err
	}
	l.durable = l.written
	return nil
}

func (l *Log) release() error {
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Close())
		l.file = nil
	}
	for _, f := range l.locks {
		errs = append(errs, f.Close())
	}
	l.locks = nil
	return errors.Join(errs...)
}

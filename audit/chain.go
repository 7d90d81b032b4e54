package audit

import (
	"errors"
	"fmt"
	"iter"
)

// Segment is one file of a log. A log that was never moved has one.
type Segment struct {
	Path        string
	First, Last uint64 // record numbers
	Bytes       int64
	Repaired    int   // torn tails, each explained by a record
	Tail        *Torn // bytes behind the last record that are none yet
}

// chain walks the segments of one log in order. A segment goes on where the ones
// before it ended, or somewhat earlier: what two segments both hold must be the
// same, byte for byte.
type chain struct {
	open     opener
	end      link
	path     string // of the segment that holds the end
	segments []Segment
	at       *walker // of the segment being walked, or walked last

	visit func(e envelope, hash digest) error // sees each record once
}

// add walks one more segment.
func (c *chain) add(path string) error {
	w := &walker{path: path, opens: c.open, end: c.end}
	c.at = w
	if len(c.segments) > 0 {
		if err := c.join(w); err != nil {
			return err
		}
	}
	var first uint64
	repaired := 0
	w.visit = func(e envelope, hash digest) error {
		if first == 0 {
			first = e.seq
		}
		if string(e.kind) == kindTorn {
			repaired++
		}
		if e.seq <= c.end.seq {
			return nil // the segment before has it too
		}
		return c.visit(e, hash)
	}
	if err := w.walkFile(); err != nil {
		return err
	}
	if first == 0 {
		return fmt.Errorf("%s: %w", show(path), ErrEmpty)
	}
	c.segments = append(c.segments, Segment{
		Path: path, First: first, Last: w.end.seq, Bytes: w.offset, Repaired: repaired, Tail: w.skipped.torn(),
	})
	if w.end.seq > c.end.seq {
		c.end, c.path = w.end, path
	}
	return nil
}

// addLast walks the segment that is to be gone on with. Behind others it may hold no whole
// record yet.
func (c *chain) addLast(path string) error {
	if len(c.segments) == 0 || c.open.holds(path) {
		return c.add(path)
	}
	c.at = &walker{path: path, opens: c.open, end: c.end}
	c.path = path
	return c.at.walkFile()
}

// join finds out how a later segment meets the ones before it.
func (c *chain) join(w *walker) error {
	first, err := c.open.firstRecord(w.path)
	switch {
	case err != nil:
		return err
	case first.seq > c.end.seq+1:
		return &GapError{Path: w.path, First: c.end.seq + 1, Last: first.seq - 1}
	case first.seq <= c.end.seq:
		w.anywhere = true
		return c.sameOverlaps(w.path)
	case first.prev != c.end.hash:
		return &ForkError{Earlier: c.path, Later: w.path, Seq: first.seq}
	}
	return nil
}

// sameOverlaps compares a later segment with those before it, each of which it may share
// records with.
func (c *chain) sameOverlaps(later string) error {
	shared := false
	for _, s := range c.segments {
		same, err := c.open.sameOverlap(s.Path, later)
		if err != nil {
			return err
		}
		shared = shared || same
	}
	if shared {
		return nil
	}
	first, err := c.open.firstRecord(later)
	if err != nil {
		return err
	}
	return &StartError{Path: later, Seq: first.seq}
}

// sameOverlap compares the records that two segments both hold, and reports whether there
// are any. One equal record says the same of all before it, for each names the one before.
func (open opener) sameOverlap(earlier, later string) (shared bool, err error) {
	next, stop := iter.Pull2(open.marks(later))
	defer stop()
	l, err, more := next()
	for e, eErr := range open.marks(earlier) {
		for err == nil && more && l.seq < e.seq {
			l, err, more = next()
		}
		if err := errors.Join(eErr, err); err != nil {
			return shared, err
		}
		if !more {
			break
		}
		if e.seq < l.seq {
			continue
		}
		if e != l {
			return shared, &ForkError{Earlier: earlier, Later: later, Seq: e.seq}
		}
		shared = true
	}
	return shared, nil
}

// mark is a record without its content.
type mark struct {
	seq        uint64
	prev, hash digest
}

// marks goes over a segment wherever it begins.
func (open opener) marks(path string) iter.Seq2[mark, error] {
	return func(yield func(mark, error) bool) {
		w := &walker{path: path, opens: open, anywhere: true}
		w.visit = func(e envelope, hash digest) error {
			if !yield(mark{seq: e.seq, prev: e.prev, hash: hash}, nil) {
				return errStop
			}
			return nil
		}
		if err := w.walkFile(); err != nil && !errors.Is(err, errStop) {
			yield(mark{}, err)
		}
	}
}

// Holds reports whether a segment has a whole record, or cannot be read, which is to be found
// out by whoever reads it.
func Holds(path string) bool { return opener(nil).holds(path) }

func (open opener) holds(path string) bool {
	_, err := open.firstRecord(path)
	return !errors.Is(err, ErrEmpty)
}

func (open opener) firstRecord(path string) (mark, error) {
	for m, err := range open.marks(path) {
		return m, err
	}
	return mark{}, fmt.Errorf("%s: %w", show(path), ErrEmpty)
}

// errStop ends a walk early. It never leaves the package.
var errStop = errors.New("stop")

package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
)

// link is where a chain stands: its last record, the hash of that record's line,
// and the run time it was written at. The zero link is the start.
type link struct {
	seq  uint64
	hash digest
	t    int64
}

// walker goes over the lines of one segment and checks that each follows from
// the one before. It keeps no more than the line it looks at.
type walker struct {
	path     string
	end      link
	anywhere bool  // the first record may be any one
	line     int   // number of the line being looked at, from 1
	offset   int64 // of that line

	last       []byte // the last good line
	lastLine   int
	lastOffset int64
	open       bool     // it lacks its newline
	skipped    *skipped // bytes behind it that are no record

	// visit sees every good record. The envelope is valid until it returns.
	visit func(e envelope, hash digest) error
}

// skipped is a torn tail: what a writer left that was stopped in the middle of a
// line. Inside a log the torn record that follows it must describe it exactly.
type skipped struct {
	line   int
	offset int64
	length int64
	sum    hash.Hash
	reason string

	// altered is true when a line of it has its newline and is not merely cut.
	altered bool
}

// damage says that what was skipped is no torn tail; nil when nothing was.
func (s *skipped) damage(path string) error {
	if s == nil {
		return nil
	}
	return &DamagedError{Path: path, Line: s.line, Offset: s.offset, Reason: s.reason}
}

// Torn is the body of a record of kind torn: the bytes that were skipped.
type Torn struct {
	Offset int64  `json:"offset"` // in the file, in bytes
	Length int64  `json:"length"` // without the newline that closes them
	SHA256 string `json:"sha256"` // hex
}

const kindTorn = "torn"

// walkFile reads a segment from its file.
func (w *walker) walkFile() error {
	f, err := os.Open(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", show(w.path), ErrMissing)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return w.walk(f)
}

// walk reads a segment to its end.
func (w *walker) walk(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 256<<10), maxLine)
	lines.Split(splitLines)
	for lines.Scan() {
		w.line++
		raw := lines.Bytes()
		line := bytes.TrimSuffix(raw, []byte{'\n'})
		if err := w.look(line, len(line) < len(raw)); err != nil {
			return err
		}
		w.offset += int64(len(raw))
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		w.line++
		return w.damaged("the line is longer than any record (%d bytes)", maxLine)
	}
	if lines.Err() != nil {
		return fmt.Errorf("read %s behind line %d: %w", show(w.path), w.line, lines.Err())
	}
	return w.finish()
}

// splitLines gives lines with their newline: whether the last one has it matters.
func splitLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// look judges one line: a record, a part of a torn tail, or damage.
func (w *walker) look(line []byte, closed bool) error {
	e, err := parseEnvelope(line)
	if err != nil {
		return w.skip(line, closed, err.Error())
	}
	if err := w.follows(e); err != nil {
		if damage := w.skipped.damage(w.path); damage != nil {
			return damage
		}
		return err
	}
	if err := w.explained(e); err != nil {
		return err
	}
	hash := digest(sha256.Sum256(line))
	w.end = link{seq: e.seq, hash: hash, t: e.t}
	w.last = append(w.last[:0], line...)
	w.lastLine, w.lastOffset, w.open = w.line, w.offset, !closed
	return w.visit(e, hash)
}

// follows checks a record against the one before it.
func (w *walker) follows(e envelope) error {
	if w.anywhere {
		w.anywhere = false
		w.end = link{seq: e.seq - 1, hash: e.prev, t: e.t}
	}
	switch {
	case w.end.seq == 0 && e.seq > 1 && w.line == 1:
		return &StartError{Path: w.path, Seq: e.seq}
	case e.seq != w.end.seq+1:
		return w.damaged("record %d stands where %d should: records were removed, added or moved", e.seq, w.end.seq+1)
	case e.prev != w.end.hash:
		return w.damaged("prev is %s… but the line before hashes to %s…: one of the two lines was changed", e.prev.short(), w.end.hash.short())
	case e.t < w.end.t:
		return w.damaged("run time goes back from %d ms to %d ms", w.end.t, e.t)
	}
	return nil
}

// explained checks that skipped bytes are followed by the torn record that names
// them, and that a torn record follows such bytes.
func (w *walker) explained(e envelope) error {
	s := w.skipped
	w.skipped = nil
	if string(e.kind) != kindTorn {
		return s.damage(w.path)
	}
	if s == nil {
		return w.damaged("a torn record, but the bytes it names are gone")
	}
	var said Torn
	if err := json.Unmarshal(e.body, &said); err != nil || said != *s.torn() {
		return w.damaged("the torn record does not describe the bytes before it")
	}
	return nil
}

// skip puts a line aside that is no record. What it is shows later: a torn record
// may explain it. A cut line that names another record before it than the one
// that is there tells that that one was changed.
func (w *walker) skip(line []byte, closed bool, reason string) error {
	if w.skipped == nil {
		if prev, ok := cutPrev(line); ok && !w.anywhere && prev != w.end.hash {
			return w.damaged("the cut line does not follow the line before: one of the two lines was changed")
		}
		w.skipped = &skipped{line: w.line, offset: w.offset, sum: sha256.New(), reason: reason}
	} else {
		w.skipped.add([]byte{'\n'})
	}
	w.skipped.add(line)
	if closed && !isCut(line) {
		w.skipped.altered = true
	}
	return nil
}

// finish judges the end of a segment: the last record, which no other vouches
// for, is decoded, and what was put aside must be a torn tail.
func (w *walker) finish() error {
	if w.skipped != nil && w.skipped.altered {
		return w.skipped.damage(w.path)
	}
	if len(w.last) == 0 {
		return nil
	}
	if _, err := ParseRecord(w.last); err != nil {
		return &DamagedError{Path: w.path, Line: w.lastLine, Offset: w.lastOffset, Reason: err.Error()}
	}
	return nil
}

func (s *skipped) add(b []byte) {
	s.length += int64(len(b))
	s.sum.Write(b)
}

// torn describes the skipped bytes, nil when there are none.
func (s *skipped) torn() *Torn {
	if s == nil {
		return nil
	}
	return &Torn{Offset: s.offset, Length: s.length, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
}

func (w *walker) damaged(format string, args ...any) error {
	return &DamagedError{Path: w.path, Line: w.line, Offset: w.offset, Reason: fmt.Sprintf(format, args...)}
}

// isCut reports whether a line that has its newline is the beginning of a record:
// what remains when a repair was itself stopped. A record that was altered is
// whole, and is not taken for a cut one.
func isCut(line []byte) bool {
	if len(line) == 0 || !bytes.HasPrefix([]byte(`{"seq":`), line[:min(len(line), len(`{"seq":`))]) {
		return false
	}
	var v json.RawMessage
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&v)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// cutPrev gives the prev of a line that is cut behind it.
func cutPrev(line []byte) (digest, bool) {
	p := cursor{rest: line}
	p.number(`{"seq":`)
	prev := p.digest(`,"prev":"`)
	return prev, p.failed == ""
}

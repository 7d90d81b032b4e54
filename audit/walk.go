package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	opens    opener
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

// opener gives the content of a segment by its path; the nil opener reads files.
type opener func(path string) (io.ReadCloser, error)

func (open opener) file(path string) (io.ReadCloser, error) {
	if open == nil {
		return OpenRegular(path)
	}
	return open(path)
}

// walkFile reads a segment from its file.
func (w *walker) walkFile() error {
	f, err := w.opens.file(w.path)
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
		return w.damaged("%s", tooLong())
	}
	if lines.Err() != nil {
		return fmt.Errorf("read %s behind line %d: %w", show(w.path), w.line, lines.Err())
	}
	return w.finish()
}

// tooLong says of a line that it cannot be a record.
func tooLong() string { return fmt.Sprintf("the line is longer than any record (%d bytes)", maxLine) }

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
		return w.damaged("prev is %s… but the line before hashes to %s…: one of the two lines was changed", e.prev.short(),
			w.end.hash.short())
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

func (w *walker) damaged(format string, args ...any) error {
	return &DamagedError{Path: w.path, Line: w.line, Offset: w.offset, Reason: fmt.Sprintf(format, args...)}
}

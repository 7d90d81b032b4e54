package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Tail follows a log that this process or another is writing. It checks the chain as it
// goes; a line that has not come whole yet waits for the next call. Of what it has read it
// keeps no record, only where each stands, for [Tail.Again].
type Tail struct {
	w      walker
	found  []Record
	index  index
	buffer []byte      // that lines are read into
	seen   fs.FileInfo // of the file when its end was read, nil while there was more
	behind error       // what lies behind the last record then
}

// NewTail begins before the first record of a file, which need not be there yet.
func NewTail(path string) *Tail {
	t := &Tail{w: walker{path: path}}
	t.w.visit = func(e envelope, hash digest) error {
		record, err := e.split()
		if err == nil {
			record.Body = bytes.Clone(record.Body)
			t.found = append(t.found, record)
			t.index.add(placed{path: t.w.path, line: t.w.line, offset: t.w.offset, hash: hash})
		}
		return err
	}
	return t
}

// GoOn follows the next segment, which begins behind what was read.
func (t *Tail) GoOn(path string) {
	t.w = walker{path: path, end: t.w.end, visit: t.w.visit}
	t.seen, t.behind = nil, nil
}

// Behind says what lies behind the last record that is neither one nor the beginning of one: a [*DamagedError]. It is
// looked at again when the file changes, and may come right; nil when there is nothing of that kind.
func (t *Tail) Behind() error { return t.behind }

// tailRead is how much of a file is read at once, in bytes: who looks on at a long log begins with its beginning.
const tailRead = 1 << 20

// Read gives records that have come since the last call, none when there are none. Of many
// it gives some, and the rest at the next calls. Whoever decodes their bodies finds out
// whether they are JSON.
// A [*DamagedError] and its like are final: what follows cannot be trusted. A file that cannot be read now, which is a
// [*fs.PathError], may be read later.
func (t *Tail) Read() ([]Record, error) {
	t.found = nil
	if t.unchanged() {
		return nil, nil
	}
	file, err := OpenRegular(t.w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.w.line == 0:
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	t.putBack()
	if info.Size() < t.w.offset {
		return nil, &DamagedError{Path: t.w.path, Line: t.w.line, Offset: t.w.offset, Reason: "the file has become shorter"}
	}
	more, err := t.read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s behind line %d: %w", show(t.w.path), t.w.line, err)
	}
	rest, err := t.lines(more)
	if t.w.offset+int64(len(rest)) >= info.Size() || len(rest) > maxLine {
		t.seen, t.behind = info, t.damageBehind(rest)
	}
	return t.found, err
}

// unchanged reports whether the file is as it was when its end was read.
func (t *Tail) unchanged() bool {
	if t.seen == nil {
		return false
	}
	now, err := os.Stat(t.w.path)
	return err == nil && os.SameFile(t.seen, now) && now.Size() == t.seen.Size() && now.ModTime().Equal(t.seen.ModTime())
}

// putBack has lines looked at again that were put aside when the end of the file was read, which has changed since.
func (t *Tail) putBack() {
	if aside := t.w.skipped; t.seen != nil && aside != nil {
		t.w.line, t.w.offset, t.w.skipped = aside.line-1, aside.offset, nil
	}
	t.seen, t.behind = nil, nil
}

// damageBehind judges the end of a file, of which the rest has no newline yet.
func (t *Tail) damageBehind(rest []byte) error {
	switch {
	case t.w.skipped != nil && t.w.skipped.altered:
		return t.w.skipped.damage(t.w.path)
	case len(rest) > maxLine:
		return &DamagedError{Path: t.w.path, Line: t.w.line + 1, Offset: t.w.offset, Reason: tooLong()}
	case len(rest) == 0 || isCut(rest):
		return nil
	}
	if _, err := parseEnvelope(rest); err != nil {
		return &DamagedError{Path: t.w.path, Line: t.w.line + 1, Offset: t.w.offset, Reason: err.Error()}
	}
	return nil
}

// read reads on from where the last whole line ended: as much as is read at once, or up to the end of a line that is
// longer, but no further than a record goes. What it gives is valid until the next call.
func (t *Tail) read(file io.ReaderAt) ([]byte, error) {
	for size := tailRead; ; size *= 2 {
		if len(t.buffer) < size {
			t.buffer = make([]byte, size)
		}
		n, err := file.ReadAt(t.buffer[:size], t.w.offset)
		if more := t.buffer[:n]; err != nil || n > maxLine || bytes.IndexByte(more, '\n') >= 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return more, err
		}
	}
}

// lines looks at whole lines, and gives what is behind them.
func (t *Tail) lines(more []byte) (rest []byte, err error) {
	for {
		end := bytes.IndexByte(more, '\n')
		if end < 0 {
			return more, nil
		}
		t.w.line++
		if err := t.w.look(more[:end], true); err != nil {
			return nil, err
		}
		t.w.offset += int64(end) + 1
		more = more[end+1:]
	}
}

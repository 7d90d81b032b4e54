package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Tail follows a log that this process or another is writing. It checks the chain as it
// goes; a line that has not come whole yet waits for the next call. Of what it has read it
// keeps no record, only where each stands, for [Tail.Again].
type Tail struct {
	w      walker
	found  []Record
	index  index
	buffer []byte // that lines are read into
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
}

// tailRead is how much of a file is read at once, in bytes: who looks on at a long log begins with its beginning.
const tailRead = 1 << 20

// Read gives records that have come since the last call, none when there are none. Of many
// it gives some, and the rest at the next calls. Whoever decodes their bodies finds out
// whether they are JSON.
// An error is final: what follows it cannot be trusted.
func (t *Tail) Read() ([]Record, error) {
	t.found = nil
	file, err := OpenRegular(t.w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.w.line == 0:
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() < t.w.offset {
		return nil, &DamagedError{Path: t.w.path, Line: t.w.line, Offset: t.w.offset, Reason: "the file has become shorter"}
	}
	more, err := t.read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s behind line %d: %w", show(t.w.path), t.w.line, err)
	}
	err = t.lines(more)
	return t.found, err
}

// read reads on from where the last whole line ended: as much as is read at once, or up to the end of a line that is
// longer. What it gives is valid until the next call.
func (t *Tail) read(file io.ReaderAt) ([]byte, error) {
	for size := tailRead; ; size *= 2 {
		if len(t.buffer) < size {
			t.buffer = make([]byte, size)
		}
		n, err := file.ReadAt(t.buffer[:size], t.w.offset)
		if more := t.buffer[:n]; err != nil || bytes.IndexByte(more, '\n') >= 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return more, err
		}
	}
}

func (t *Tail) lines(more []byte) error {
	for {
		end := bytes.IndexByte(more, '\n')
		if end < 0 {
			return nil
		}
		t.w.line++
		if err := t.w.look(more[:end], true); err != nil {
			return err
		}
		t.w.offset += int64(end) + 1
		more = more[end+1:]
	}
}

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
// goes; a line that has not come whole yet waits for the next call.
type Tail struct {
	w     walker
	found []Record
}

// NewTail begins before the first record of a file, which need not be there yet.
func NewTail(path string) *Tail {
	t := &Tail{w: walker{path: path}}
	t.w.visit = func(e envelope, _ digest) error {
		record, err := e.record()
		t.found = append(t.found, record)
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
// it gives some, and the rest at the next calls.
// An error is final: what follows it cannot be trusted.
func (t *Tail) Read() ([]Record, error) {
	t.found = nil
	file, err := os.Open(t.w.path)
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
	more, err := linesFrom(file, t.w.offset)
	if err != nil {
		return nil, fmt.Errorf("read %s behind line %d: %w", show(t.w.path), t.w.line, err)
	}
	err = t.lines(more)
	return t.found, err
}

// linesFrom reads on from an offset: as much as is read at once, or up to the end of a line that is longer.
func linesFrom(file io.ReaderAt, offset int64) ([]byte, error) {
	for size := int64(tailRead); ; size *= 2 {
		more, err := io.ReadAll(io.NewSectionReader(file, offset, size))
		if err != nil || int64(len(more)) < size || bytes.IndexByte(more, '\n') >= 0 {
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

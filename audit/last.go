package audit

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
)

// Last gives the last whole record of a file without reading what is before it, so that a look at a long log is quick.
// Nothing is checked but the line itself. The errors are [ErrMissing], [ErrEmpty] where there is no whole record,
// [*DamagedError] and those of reading.
func Last(path string) (Record, error) {
	file, err := OpenRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Record{}, ErrMissing
	case err != nil:
		return Record{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Record{}, err
	}
	for look := int64(64 << 10); ; look *= 4 {
		begin := max(info.Size()-look, 0)
		end := make([]byte, info.Size()-begin)
		if _, err := file.ReadAt(end, begin); err != nil {
			return Record{}, err
		}
		line, at, whole := lastLine(end)
		switch {
		case whole || begin == 0 && len(line) > 0 && !isCut(line):
			record, err := ParseRecord(line)
			if err != nil {
				return Record{}, damagedAt(file, path, begin+int64(at), err)
			}
			return record, nil
		case begin == 0:
			return Record{}, ErrEmpty
		}
	}
}

// lastLine is the last line that ends in a newline and begins at a place in the text; whole says that it begins behind
// another one. A cut line, which a stopped repair leaves, is passed over.
func lastLine(text []byte) (line []byte, at int, whole bool) {
	for end := bytes.LastIndexByte(text, '\n'); end >= 0; end = at - 1 {
		at = bytes.LastIndexByte(text[:end], '\n') + 1
		line = text[at:end]
		if at == 0 {
			return line, 0, false
		}
		if !isCut(line) {
			return line, at, true
		}
	}
	return nil, 0, false
}

// damagedAt names the line that begins at an offset, which only a look at all before it can number.
func damagedAt(file io.ReaderAt, path string, offset int64, reason error) error {
	line := 1
	part := make([]byte, 64<<10)
	for before := io.NewSectionReader(file, 0, offset); ; {
		n, err := before.Read(part)
		line += bytes.Count(part[:n], []byte{'\n'})
		switch {
		case errors.Is(err, io.EOF):
			return &DamagedError{Path: path, Line: line, Offset: offset, Reason: reason.Error()}
		case err != nil:
			return err
		}
	}
}

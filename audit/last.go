package audit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// Last gives the last whole record of a file without reading what is before it, so that a look at a long log is quick.
// Nothing is checked but the line itself. The errors are [ErrMissing], [ErrEmpty] where there is no whole record,
// [*DamagedError] and those of reading.
func Last(path string) (Record, error) {
	file, err := os.Open(path)
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
		line, whole := lastLine(end)
		switch {
		case whole || begin == 0 && len(line) > 0:
			record, err := ParseRecord(line)
			if err != nil {
				return Record{}, &DamagedError{Path: path, Offset: begin, Reason: err.Error()}
			}
			return record, nil
		case begin == 0:
			return Record{}, ErrEmpty
		}
	}
}

// lastLine is the last line that ends in a newline; whole says that it begins behind another one.
func lastLine(text []byte) (line []byte, whole bool) {
	end := bytes.LastIndexByte(text, '\n')
	if end < 0 {
		return nil, false
	}
	begin := bytes.LastIndexByte(text[:end], '\n')
	return text[begin+1 : end], begin >= 0
}

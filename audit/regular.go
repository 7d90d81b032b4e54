package audit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxBeside is more, in bytes, than any file is that lies beside a log and is not one: its head, a key, what was told
// to whom.
const MaxBeside = 1 << 20

// ReadRegular gives the bytes of a regular file, and refuses one that is longer than most.
func ReadRegular(path string, most int64) ([]byte, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s is longer than the %d bytes that it can have", show(path), most)
	}
	return text, err
}

// OpenRegular opens a file to read it. What is no regular file is refused before it is opened: opening a pipe waits
// for somebody who writes into it, and a device may have no end.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := CheckRegular(path, info); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// CheckRegular says what lies at a path where a regular file should be, nil when it is one.
func CheckRegular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is no file but %s", show(path), kindOfFile(info.Mode()))
}

func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

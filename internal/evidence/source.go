package evidence

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rewarm/rewarm/audit"
)

// Source is the content of a file. It can be read more than once and does not change meanwhile, so that a log of
// any length is hashed, folded and packed without being held.
type Source interface {
	Open() (io.ReadCloser, error)
	Size() int64
}

// held is content in memory.
type held []byte

func (h held) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(h)), nil }

func (h held) Size() int64 { return int64(len(h)) }

// stored is a file as far as it went when it was looked at: the log of a run that goes on grows.
type stored struct {
	path string
	size int64
}

func storedAt(path string) (stored, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = audit.CheckRegular(path, info)
	}
	if err != nil {
		return stored{}, err
	}
	return stored{path, info.Size()}, nil
}

func (s stored) Open() (io.ReadCloser, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(file, s.size), file}, nil
}

func (s stored) Size() int64 { return s.size }

// packed is a file in a zip. What is longer than the zip says is refused.
type packed struct{ *zip.File }

func (p packed) Open() (io.ReadCloser, error) {
	from, err := p.File.Open()
	if err != nil {
		return nil, inPlainWords(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&upTo{from, p.Size()}, from}, nil
}

func (p packed) Size() int64 { return int64(p.UncompressedSize64) }

// upTo fails behind so many bytes.
type upTo struct {
	from io.Reader
	left int64
}

func (u *upTo) Read(b []byte) (int, error) {
	n, err := u.from.Read(b)
	if u.left -= int64(n); u.left < 0 {
		return 0, errors.New("it is longer than the zip says")
	}
	return n, inPlainWords(err)
}

// inPlainWords says what is wrong with a file in a zip to people who do not know how a zip is made.
func inPlainWords(err error) error {
	switch {
	case errors.Is(err, zip.ErrChecksum):
		return errors.New("its bytes are not those that were packed, by their checksum: the bundle was damaged or changed after the export")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is shorter than the zip says: the bundle was damaged or changed after the export")
	case errors.Is(err, zip.ErrFormat):
		return errors.New("the zip has no file where it says: the bundle was damaged or changed after the export")
	case errors.Is(err, zip.ErrAlgorithm):
		return errors.New("it is compressed in a way that rewarm does not read: rewarm stores files as they are")
	}
	return err
}

// mostHeld bounds the files of a bundle that are read as a whole: all but the log.
const mostHeld = 256 << 20

// hold reads a source into memory.
func hold(s Source) ([]byte, error) {
	if h, ok := s.(held); ok {
		return h, nil
	}
	if s.Size() > mostHeld {
		return nil, fmt.Errorf("it has %d bytes, more than %d", s.Size(), mostHeld)
	}
	from, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(from)
}

// pour copies a source.
func pour(to io.Writer, s Source) (int64, error) {
	from, err := s.Open()
	if err != nil {
		return 0, err
	}
	defer from.Close()
	return io.Copy(to, from)
}

// equal reports whether a source has exactly this content.
func equal(s Source, text []byte) (bool, error) {
	if s == nil || s.Size() != int64(len(text)) {
		return false, nil
	}
	rest := comparing(text)
	_, err := pour(&rest, s)
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return err == nil && len(rest) == 0, err
}

// comparing takes what is written to it off its front, as long as it is the same.
type comparing []byte

var errDiffers = errors.New("it differs")

func (c *comparing) Write(b []byte) (int, error) {
	if !bytes.HasPrefix(*c, b) {
		return 0, errDiffers
	}
	*c = (*c)[len(b):]
	return len(b), nil
}

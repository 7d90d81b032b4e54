package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync/atomic"
)

// summed is a source that is hashed the first time that somebody reads it to its end, whatever for: a log is long, and
// is read to be folded and to be packed as well.
type summed struct {
	Source
	found atomic.Pointer[fileSum]
}

func summedOnce(s Source) *summed {
	if once, ok := s.(*summed); ok {
		return once
	}
	return &summed{Source: s}
}

type fileSum struct {
	size int64
	hex  string // SHA-256
}

func (s *summed) Open() (io.ReadCloser, error) {
	from, err := s.Source.Open()
	if err != nil || s.found.Load() != nil {
		return from, err
	}
	return &summing{ReadCloser: from, of: s, hash: sha256.New()}, nil
}

type summing struct {
	io.ReadCloser
	of   *summed
	hash hash.Hash
	size int64
}

func (s *summing) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.hash.Write(b[:n])
	s.size += int64(n)
	if err == io.EOF {
		s.of.found.Store(&fileSum{s.size, hex.EncodeToString(s.hash.Sum(nil))})
	}
	return n, err
}

// sumOf gives the size and the SHA-256 of a source.
func sumOf(s Source) (size int64, sum string, err error) {
	once := summedOnce(s)
	if once.found.Load() == nil {
		if _, err := pour(nowhere{}, once); err != nil {
			return 0, "", err
		}
	}
	found := once.found.Load()
	return found.size, found.hex, nil
}

// nowhere takes what is only read to be hashed.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
)

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

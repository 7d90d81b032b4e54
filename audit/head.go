package audit

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

const (
	headFormat = "rewarm audit v1"
	shortHash  = 12 // hex digits that are shown and read out
)

// Head is a position in a log: a record and the hash of its line. Who holds a
// head from outside the log can tell whether the log still has what it had then.
type Head struct {
	Run  string // empty when only seq/hash was given
	Seq  uint64 // from 1
	Hash string // hex SHA-256, at least its first 12 digits
}

// String is short enough to read out in a call: the number and 12 hex digits.
func (h Head) String() string {
	return strconv.FormatUint(h.Seq, 10) + "/" + h.Hash[:min(shortHash, len(h.Hash))]
}

// ParseHead reads what [Head.String] prints. More digits of the hash are welcome.
func ParseHead(s string) (Head, error) {
	seq, hash, _ := strings.Cut(s, "/")
	n, err := parseSeq(seq)
	if err != nil || len(hash) < shortHash || len(hash) > hexLen || !all([]byte(hash), isHex) {
		return Head{}, fmt.Errorf("%q is no head: a head is the number of a record, a slash and at least %d hex digits, like 312/9f2c41d07ab3", s, shortHash)
	}
	return Head{Seq: n, Hash: hash}, nil
}

func parseSeq(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != s {
		return 0, fmt.Errorf("%q is no record number", s)
	}
	return n, nil
}

// text is what is signed.
func (h Head) text() string {
	return fmt.Sprintf("%s\n%s\n%d\n%s\n", headFormat, h.Run, h.Seq, h.Hash)
}

func parseHeadText(text string) (Head, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[0] != headFormat {
		return Head{}, fmt.Errorf("the signed text is no head: its first line is not %q", headFormat)
	}
	seq, err := parseSeq(lines[2])
	if err != nil {
		return Head{}, fmt.Errorf("the signed head: %w", err)
	}
	h := Head{Run: lines[1], Seq: seq, Hash: lines[3]}
	if len(h.Hash) != hexLen || !all([]byte(h.Hash), isHex) || h.text() != text {
		return Head{}, errors.New("the signed head is not written as rewarm writes it")
	}
	return h, nil
}

// SignHead gives a head as a signed note.
func SignHead(h Head, signer note.Signer) ([]byte, error) {
	if _, err := parseHeadText(h.text()); err != nil {
		return nil, err
	}
	signed, err := note.Sign(&note.Note{Text: h.text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign the head: %w", err)
	}
	return signed, nil
}

// OpenHead checks a signed head. At least one of the verifiers must know a
// signature, and every signature that one of them knows must be right.
func OpenHead(signed []byte, verifiers ...note.Verifier) (Head, error) {
	n, err := note.Open(signed, note.VerifierList(verifiers...))
	if unverified := (*note.UnverifiedNoteError)(nil); errors.As(err, &unverified) {
		return unknownKey(unverified.Note)
	}
	if err != nil {
		return Head{}, fmt.Errorf("the signed head: %w", err)
	}
	return parseHeadText(n.Text)
}

// UnknownKeyError is what a head gets that none of the given keys has signed.
type UnknownKeyError struct {
	Key  string // its name and hash, as the signature has them
	Head Head   // what was signed, by whomever
}

func (e *UnknownKeyError) Error() string {
	return "the head is signed by " + e.Key + ", which is none of the keys given"
}

func unknownKey(n *note.Note) (Head, error) {
	h, err := parseHeadText(n.Text)
	if err != nil {
		return Head{}, err
	}
	sig := n.UnverifiedSigs[0]
	return Head{}, &UnknownKeyError{Key: fmt.Sprintf("%s+%08x", show(sig.Name), sig.Hash), Head: h}
}

// IsSignedHead reports whether a text begins as a signed head does, and not as a record.
func IsSignedHead(text []byte) bool { return bytes.HasPrefix(text, []byte(headFormat+"\n")) }

// names reports whether the head names the record with this hash.
func (h Head) names(hash digest) bool {
	return strings.HasPrefix(hash.String(), h.Hash)
}

// Sign gives the last position that is on disk as a signed note. What the disk
// may still lose is never signed for.
func (l *Log) Sign(signer note.Signer) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.headAt(l.durable.link)
	if !ok {
		return nil, errors.New("no record is on disk yet: there is nothing to sign")
	}
	return SignHead(h, signer)
}

// StoreHead puts a signed head beside the log, in the file "head", in place of
// the one before. A failure does not break the log.
func (l *Log) StoreHead(signed []byte) error {
	if err := replaceFile(filepath.Join(filepath.Dir(l.path), "head"), signed); err != nil {
		return fmt.Errorf("store the head: %w", err)
	}
	return nil
}

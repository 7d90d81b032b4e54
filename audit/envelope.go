package audit

import (
	"bytes"
	"errors"
	"strconv"
)

// envelope is a line taken apart without decoding it: every field is a part of
// the line. Taking it apart costs a few comparisons, hashing the line a hundred
// times that; a chain check must not parse JSON.
type envelope struct {
	seq   uint64
	prev  digest
	at    []byte // 30 bytes, shaped like atLayout
	t     int64
	actor []byte // a JSON string with its quotes
	kind  []byte // lower-case letters
	body  []byte // from { to }
}

// parseEnvelope checks the shape of a line: the seven keys in their order, each
// value in its only spelling. It looks neither into the actor nor into the body.
func parseEnvelope(line []byte) (envelope, error) {
	var e envelope
	p := cursor{rest: line}
	e.seq = p.number(`{"seq":`)
	e.prev = p.digest(`,"prev":"`)
	e.at = p.fixed(`","at":"`, len(atLayout))
	e.t = int64(p.number(`","t":`))
	e.actor = p.str(`,"actor":`)
	e.kind = p.word(`,"kind":"`)
	e.body = p.object(`","body":`)
	switch {
	case p.failed != "":
		return envelope{}, errors.New(p.failed)
	case e.seq == 0:
		return envelope{}, errors.New("record numbers begin at 1")
	case !isAt(e.at):
		return envelope{}, errors.New(`"at" is not UTC with nine decimals`)
	}
	return e, nil
}

// cursor walks over a line. After the first failure it stands still.
type cursor struct {
	rest   []byte
	failed string
}

func (p *cursor) fail(reason string) { p.failed, p.rest = reason, nil }

// key steps over the literal text that comes before a value.
func (p *cursor) key(literal string) bool {
	if p.failed != "" {
		return false
	}
	if !bytes.HasPrefix(p.rest, []byte(literal)) {
		p.fail("expected " + literal)
		return false
	}
	p.rest = p.rest[len(literal):]
	return true
}

func (p *cursor) take(n int) []byte {
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

// number reads decimal digits without leading zeros, up to 2^63-1.
func (p *cursor) number(key string) uint64 {
	if !p.key(key) {
		return 0
	}
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	digits := p.take(n)
	v, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil || n > 1 && digits[0] == '0' {
		p.fail("no whole number after " + key)
	}
	return v
}

func (p *cursor) fixed(key string, n int) []byte {
	if !p.key(key) {
		return nil
	}
	if len(p.rest) < n {
		p.fail("too short after " + key)
		return nil
	}
	return p.take(n)
}

func (p *cursor) digest(key string) digest {
	d, ok := parseDigest(p.fixed(key, hexLen))
	if !ok && p.failed == "" {
		p.fail("no hash after " + key)
	}
	return d
}

// str reads a JSON string up to its closing quote.
func (p *cursor) str(key string) []byte {
	if !p.key(key) {
		return nil
	}
	for i := 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '"':
			if p.rest[0] == '"' {
				return p.take(i + 1)
			}
			p.fail("no string after " + key)
			return nil
		}
	}
	p.fail("no string after " + key)
	return nil
}

func (p *cursor) word(key string) []byte {
	if !p.key(key) {
		return nil
	}
	n := 0
	for n < len(p.rest) && isLower(p.rest[n]) {
		n++
	}
	if n == 0 {
		p.fail("no word after " + key)
	}
	return p.take(n)
}

// object takes the rest of the line but for the brace that closes the record.
func (p *cursor) object(key string) []byte {
	if !p.key(key) {
		return nil
	}
	n := len(p.rest) - 1
	if n < 2 || p.rest[0] != '{' || p.rest[n-1] != '}' || p.rest[n] != '}' {
		p.fail("no object after " + key)
		return nil
	}
	return p.take(n)
}

func all(b []byte, allowed func(byte) bool) bool {
	for _, c := range b {
		if !allowed(c) {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// isAt compares the shape of a time: digits where the layout has digits, the
// same character everywhere else.
func isAt(at []byte) bool {
	if len(at) != len(atLayout) {
		return false
	}
	for i := range len(atLayout) {
		digit := atLayout[i] >= '0' && atLayout[i] <= '9'
		if digit && (at[i] < '0' || at[i] > '9') || !digit && at[i] != atLayout[i] {
			return false
		}
	}
	return true
}

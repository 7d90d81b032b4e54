package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// The longest bodies, in bytes as they stand in the line.
const (
	MaxBody      = 16 << 10
	MaxFirstBody = 2 << 20 // of record 1, which carries the runbook

	maxActor = 256
	maxLine  = MaxFirstBody + 4<<10
)

// ErrNotUTF8 is what a body gets that holds bytes which are not UTF-8: JSON would
// put the same replacement character in the place of different bytes. [Text] and
// [Split] carry such bytes.
var ErrNotUTF8 = errors.New("the body holds bytes that are not utf-8: give them as base64 in a key ending in _base64")

// TooLongError is what a body over its limit gets. [Cut] shortens text.
type TooLongError struct {
	Kind        string
	Size, Limit int // bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the body of a record of kind %s is too long (%d bytes > limit %d): cut its texts", e.Kind,
		e.Size, e.Limit)
}

// encodeBody gives the bytes of a body. Nothing that fails here has touched the
// log.
func encodeBody(kind string, body any, limit int) (json.RawMessage, error) {
	if body == nil {
		return json.RawMessage("{}"), nil
	}
	b, err := encode(body)
	if err != nil {
		return nil, fmt.Errorf("the body of a record of kind %s: %w", kind, err)
	}
	switch {
	case b[0] != '{':
		return nil, fmt.Errorf("the body of a record of kind %s is no JSON object: it begins with %q", kind, b[0])
	case !utf8.Valid(b) || replaced(b):
		return nil, fmt.Errorf("record of kind %s: %w", kind, ErrNotUTF8)
	case len(b) > limit:
		return nil, &TooLongError{Kind: kind, Size: len(b), Limit: limit}
	}
	return b, nil
}

// encode is JSON without HTML escapes, so that queries stay readable, and with
// every character that could drive a terminal or reorder a line escaped.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeInvisible(bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})), nil
}

// quote is a JSON string. Bytes that are not UTF-8 must have been dealt with.
func quote(s string) []byte {
	b, err := encode(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return b
}

// replaced reports whether encoding/json met bytes that are not UTF-8: it writes
// the escape \ufffd for them, and the bare character for a real U+FFFD.
func replaced(b []byte) bool {
	const escape = `\ufffd`
	for {
		i := bytes.Index(b, []byte(escape))
		if i < 0 {
			return false
		}
		backslashes := 0
		for i-backslashes-1 >= 0 && b[i-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return true
		}
		b = b[i+len(escape):]
	}
}

// escapeInvisible escapes DEL, the C1 controls and the invisible format
// characters (bidirectional overrides among them). Outside strings JSON has only
// ASCII, so whatever is found stands in a string and reads back the same.
func escapeInvisible(b []byte) []byte {
	if all(b, func(c byte) bool { return c < 0x7f }) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if isInvisible(r) {
			out = appendEscape(out, r)
		} else {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	return out
}

func isInvisible(r rune) bool {
	return r == 0x7f || r >= 0x80 && r <= 0x9f || unicode.Is(unicode.Cf, r)
}

func appendEscape(out []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		out = appendEscape(out, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	out = append(out, `\u`...)
	digits := strconv.FormatInt(int64(r), 16)
	out = append(out, "0000"[len(digits):]...)
	return append(out, digits...)
}

package runbook

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxSource is the largest runbook file, in bytes.
const maxSource = 1 << 20

// cleanSource checks the bytes of a file and gives the text to parse, in which
// CRLF has become LF. Lines and columns stay what an editor shows.
func cleanSource(source []byte) (string, *located) {
	switch {
	case len(source) > maxSource:
		return "", atStart("split it, or leave out what is not a runbook", "the file has %d bytes, the limit is %d",
			len(source), maxSource)
	case bytes.HasPrefix(source, []byte{0xef, 0xbb, 0xbf}):
		return "", atStart("save it as UTF-8 without a byte order mark", "the file starts with a byte order mark")
	case isUTF16(source):
		return "", atStart("save it as UTF-8", "the file is UTF-16 or UTF-32")
	}
	text := bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	if wrong := badRune(text); wrong != nil {
		return "", wrong
	}
	return string(text), nil
}

// isUTF16 looks for a byte order mark or for the zero bytes that ASCII text has
// in wide encodings.
func isUTF16(source []byte) bool {
	return bytes.HasPrefix(source, []byte{0xff, 0xfe}) || bytes.HasPrefix(source, []byte{0xfe, 0xff}) ||
		len(source) > 1 && (source[0] == 0) != (source[1] == 0)
}

// located is a fault with its place.
type located struct {
	fault
	pos Position
}

func atStart(hint, format string, args ...any) *located {
	return &located{*faultf(hint, format, args...), Position{1, 1}}
}

// badRune finds the first byte that is not UTF-8 or character that no editor
// shows.
func badRune(text []byte) *located {
	pos := Position{1, 1}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &located{*faultf("save it as UTF-8", "byte 0x%02x is not UTF-8", text[i]), pos}
		case r == '\r':
			return &located{*faultf("end lines with LF or CRLF", "a carriage return without a line feed"), pos}
		case r == '\n':
			pos = Position{pos.Line + 1, 0}
		case r != '\t' && actsOnTerminal(r):
			return &located{*faultf("take it out", "the invisible character %s", fmt.Sprintf("%U", r)), pos}
		}
		pos.Column++
		i += size
	}
	return nil
}

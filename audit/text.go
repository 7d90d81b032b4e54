package audit

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text names and spells bytes from outside for a body: under the key itself when
// they are UTF-8, else under key_base64. Different bytes never look the same.
func Text(key string, b []byte) (name, value string) {
	text, b64 := Split(b)
	if b64 != "" {
		return key + "_base64", b64
	}
	return key, text
}

// Split is [Text] for a struct with two fields: one of the results is empty.
func Split(b []byte) (text, b64 string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return "", base64.StdEncoding.EncodeToString(b)
}

// Join gives the bytes back that [Split] took apart.
func Join(text, b64 string) ([]byte, error) {
	if b64 == "" {
		return []byte(text), nil
	}
	b, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return nil, fmt.Errorf("bytes in base64: %w", err)
	}
	return b, nil
}

// Cut shortens s so that it takes at most max bytes inside a JSON string (without
// the quotes), and says at its end how many bytes of s are missing. It cuts
// between characters. Where not even the mark fits, nothing is left.
func Cut(s string, max int) string {
	if spelled(s, len(s)) <= max {
		return s
	}
	// The mark is longest when everything is cut; reserving that much keeps the
	// result within max whatever the number turns out to be.
	room := max - len(cutMark(len(s)))
	if room < 0 {
		return ""
	}
	kept, used := 0, 0
	for kept < len(s) {
		r, size := utf8.DecodeRuneInString(s[kept:])
		if used += spelledRune(r, size); used > room {
			break
		}
		kept += size
	}
	return s[:kept] + cutMark(len(s)-kept)
}

func cutMark(n int) string { return "…[" + strconv.Itoa(n) + " bytes cut]" }

// spelled is how many bytes the first n bytes of s take in a JSON string.
func spelled(s string, n int) int {
	total := 0
	for i := 0; i < n; {
		r, size := utf8.DecodeRuneInString(s[i:])
		total += spelledRune(r, size)
		i += size
	}
	return total
}

func spelledRune(r rune, size int) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r == utf8.RuneError && size == 1, r < 0x20, r == 0x2028, r == 0x2029:
		return 6
	case isInvisible(r):
		return len(appendEscape(nil, r))
	}
	return size
}

// plainActor makes a name fit for a line: short, and UTF-8 whatever it was. An
// odd user name must not keep a brake from being recorded.
func plainActor(s string) string {
	if !utf8.ValidString(s) {
		q := strconv.Quote(s)
		s = q[1 : len(q)-1]
	}
	return Cut(s, maxActor)
}

// counted is a number with its noun, for sentences.
func counted[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprint(n) + " " + noun + "s"
}

// longestShown is how much of what a damaged log holds is told, in bytes.
const longestShown = 200

// show makes a path fit for a sentence.
func show(path string) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

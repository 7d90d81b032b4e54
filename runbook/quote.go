package runbook

import (
	"strconv"
	"strings"
	"unicode"
)

// How many runes of outside text a message shows: of a value in quotes, and of a name or of the sentence of a library.
const (
	quotedLimit    = 60
	printableLimit = 200
)

// quote shows text from outside in a message: in quotes, with everything that a
// terminal could act on made visible, and cut when it is long.
func quote(text string) string { return strconv.Quote(cut(text, quotedLimit)) }

// printable gives a name or a sentence as it is when it is harmless, else in quotes, and cut when it is long.
func printable(text string) string { return visible(cut(text, printableLimit)) }

func cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

// unprintable finds the first rune that could act on a terminal or turn the
// reading direction of a line. Line feeds and tabs are left to the caller.
func unprintable(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && r != '\t' && actsOnTerminal(r) {
			return r, true
		}
	}
	return 0, false
}

func actsOnTerminal(r rune) bool {
	switch r {
	case '\u061c', '\u200e', '\u200f', '\u2028', '\u2029', '\ufeff', unicode.ReplacementChar:
		return true
	}
	return unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// visible gives the text as it is when it is harmless, else in quotes.
func visible(text string) string {
	if _, bad := unprintable(text); bad || strings.ContainsAny(text, "\n\t") {
		return strconv.Quote(text)
	}
	return text
}

package runbook

import (
	"strconv"
	"strings"
	"unicode"
)

// quotedLimit is how many runes of outside text a message shows.
const quotedLimit = 60

// quote shows text from outside in a message: in quotes, with everything that a
// terminal could act on made visible, and cut when it is long.
func quote(text string) string {
	if runes := []rune(text); len(runes) > quotedLimit {
		text = string(runes[:quotedLimit]) + "…"
	}
	return strconv.Quote(text)
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

// printable gives the text as it is when it is harmless, else in quotes.
func printable(text string) string {
	if _, bad := unprintable(text); bad || strings.ContainsAny(text, "\n\t") {
		return strconv.Quote(text)
	}
	return text
}

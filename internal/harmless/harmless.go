// Package harmless makes text from outside fit to be shown: what a terminal would obey or hide is made visible, and
// nothing is longer than its place.
package harmless

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text makes everything visible that a terminal would obey or hide: control characters, ESC, C1, direction overrides,
// invalid UTF-8. Newlines and tabs stay. The escapes are those of JSON, so harmless JSON means what it meant.
func Text(text string) string {
	return Escaped(text, func(r rune) bool { return r != '\n' && r != '\t' && Hidden(r) })
}

// Line is text on a single line.
func Line(text string) string { return Escaped(text, Hidden) }

// Escaped makes characters of a kind visible, and invalid UTF-8.
func Escaped(text string, hidden func(rune) bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || hidden(r) }) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !hidden(r):
			b.WriteString(text[i : i+size])
		default:
			b.WriteString(escape(r))
		}
		i += size
	}
	return b.String()
}

// escape spells a character as JSON does.
func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Hidden reports characters that must not be shown as they are: those that a terminal obeys, and those that show
// nothing and can hide or split words. A U+FFFD is none of them.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	switch r {
	case '\u2028', '\u2029', '\u00ad', '\u115f', '\u1160', '\u3164', '\uffa0':
		return true
	}
	return !unicode.IsGraphic(r)
}

// Cut shortens text to so many bytes, between characters and with a mark behind them.
func Cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	cut := longest
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

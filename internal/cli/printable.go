package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// printable makes everything visible that a terminal would obey or hide: control
// characters, ESC, C1, direction overrides, invalid UTF-8. Newlines and tabs stay.
// The escapes are those of JSON, so printable JSON means what it meant.
func printable(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError || !hidden(r):
			b.WriteString(text[i : i+size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// oneLine is printable text on a single line.
func oneLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(text))
}

// hidden reports characters that must not reach a terminal. RuneError is among
// them only so that invalid bytes are looked at; a real U+FFFD is kept.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError:
		return true
	case r == ' ':
		return false
	}
	return !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029' || blank(r)
}

// blank reports graphic characters that show nothing and can hide or split words.
func blank(r rune) bool {
	return r == '\u00ad' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0'
}

// printableWriter passes text on with everything hidden made visible. One Write
// must not end inside a character.
type printableWriter struct{ to io.Writer }

func (w printableWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

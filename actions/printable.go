package actions

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const longestQuote = 200 // bytes of outside text in a sentence

// printable quotes text from outside, so that control characters, escape
// sequences and direction marks are seen and not obeyed.
func printable(text string) string {
	if len(text) > longestQuote {
		return strconv.QuoteToGraphic(strings.ToValidUTF8(text[:longestQuote], "�")) + "…"
	}
	return strconv.QuoteToGraphic(text)
}

// plain makes control characters visible without quotation marks, for a
// server's own words; line ends stay when lines is true.
func plain(text string, lines bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' && lines, r != utf8.RuneError && unicode.IsPrint(r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "�"):
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case r == utf8.RuneError:
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

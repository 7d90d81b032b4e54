// Package hostiletext has the texts that every way of showing text from outside is tested with. Packages that others
// build on import nothing of this house, so each has its own way; what is the same for all of them is here.
package hostiletext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Long is more bytes than any place has room for.
const Long = 65_000

// Texts are texts from outside, by what is wrong with them.
func Texts() map[string]string {
	return map[string]string{
		"escape":           "a\x1b[2Jb",
		"bell":             "a\ab",
		"delete":           "a\x7fb",
		"zero":             "a\x00b",
		"carriage return":  "a\rb",
		"newline":          "a\nb",
		"tab":              "a\tb",
		"C1":               "a\u009b31mb",
		"C1 as a byte":     "a\x9b31mb",
		"override":         "a\u202eb",
		"isolate":          "a\u2066b",
		"mark":             "a\u061cb",
		"line separator":   "a\u2028b",
		"byte order mark":  "a\ufeffb",
		"tag":              "a\U000e0041b",
		"zero width":       "a\u200bb",
		"joiner":           "a\u200db",
		"soft hyphen":      "a\u00adb",
		"filler":           "a\u3164b",
		"half filler":      "a\uffa0b",
		"no character":     "a\xffb",
		"half a character": "a\xe2\x82",
		"surrogate":        "a\xed\xa0\x80b",
		"private":          "a\ue000b",
		"long":             strings.Repeat("a", Long),
		"long characters":  strings.Repeat("é", Long/2),
		"long escapes":     strings.Repeat("\x1b", Long),
	}
}

// Harmful says what of a text that is shown a terminal would still obey or break at; "" when nothing is.
func Harmful(shown string) string {
	if !utf8.ValidString(shown) {
		return "it is not UTF-8"
	}
	for _, r := range shown {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
			unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Sprintf("it holds %U", r)
		}
	}
	return ""
}

// Blank says what of a text that is shown cannot be seen, so that it may hide or split words; "" when nothing is.
func Blank(shown string) string {
	for _, r := range shown {
		if unicode.Is(unicode.Cf, r) || strings.ContainsRune("\u115f\u1160\u3164\uffa0", r) {
			return fmt.Sprintf("it holds %U", r)
		}
	}
	return ""
}

package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/rewarm/rewarm/internal/harmless"
	"github.com/rewarm/rewarm/steps"
)

// clean makes visible what a terminal would obey or hide, on one line.
func clean(text string) string { return harmless.Escaped(text, hidden) }

// hidden reports characters that must not reach a screen: marks that combine, too, for a terminal and this
// program could disagree about the cells that they take, and a border would break.
func hidden(r rune) bool {
	return harmless.Hidden(r) || r >= utf8.RuneSelf && (unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r))
}

// cells is how wide clean text is on a terminal.
func cells(text string) int {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

// cut shortens clean text to so many cells, with a mark where something is missing: one, also where the text was cut
// before.
func cut(text string, width int, mark string) string {
	switch {
	case cells(text) <= width:
		return text
	case width <= 0:
		return ""
	}
	kept := ansi.Truncate(text, width-cells(mark), "")
	if cutBefore := strings.TrimRight(kept, " "); mark != "" && strings.HasSuffix(cutBefore, mark) {
		return cutBefore
	}
	return kept + mark
}

// pad fills clean text up to so many cells.
func pad(text string, width int) string {
	return text + spaces(width-cells(text))
}

const blanks = "                                                                                                                                "

func spaces(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// wrapped breaks clean text between words into lines of so many cells, the first of which may be
// shorter than those that are set in below it. A word that is too long is cut by whoever draws the line.
func wrapped(text string, width, hang int) []string {
	if cells(text) <= width {
		return []string{text}
	}
	hang = min(hang, width/2)
	var lines []string
	begin, used := 0, 0 // of the present line: where it begins, and the cells up to end
	end := 0            // behind its last word
	for at := 0; at < len(text); {
		next := nextWord(text, at)
		word := cells(text[end:next])
		if used+word > width && end > begin {
			lines = append(lines, indented(text[begin:end], lines, hang))
			begin = end + len(text[end:next]) - len(strings.TrimLeft(text[end:next], " "))
			used, word = hang, cells(text[begin:next])
		}
		used, end, at = used+word, next, next
	}
	return append(lines, indented(text[begin:end], lines, hang))
}

// nextWord is where the next word ends, with the spaces before it.
func nextWord(text string, at int) int {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	for at < len(text) && text[at] != ' ' {
		at++
	}
	return at
}

func indented(text string, before []string, hang int) string {
	if len(before) == 0 {
		return text
	}
	return spaces(hang) + text
}

// lasts is a time for people, as it is wherever else they read it.
func lasts(d time.Duration) string { return steps.Lasts(d) }

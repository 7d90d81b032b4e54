package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// narrow is a terminal of a width.
type narrow struct {
	bytes.Buffer
	width int
}

func (n *narrow) columns() int { return n.width }

func TestWrap(t *testing.T) {
	tests := []struct {
		line          string
		width, indent int
		want          string
	}{
		{"short", 20, 4, "short"},
		{"no terminal has no width and breaks nothing", 0, 4, "no terminal has no width and breaks nothing"},
		{"one two three four", 9, 2, "one two\n  three\n  four"},
		{"exactly ten", 11, 2, "exactly ten"},
		{"a word-that-is-too-long stays", 8, 2, "a\n  word-that-is-too-long\n  stays"},
		{"    set in words", 10, 4, "    set in\n    words"},
		{"10:07  stage/step  text", 12, 2, "10:07\n  stage/step\n  text"},
		{"ünïcödé wörds", 8, 2, "ünïcödé\n  wörds"},
		{"trailing   ", 9, 2, "trailing"},
	}
	for _, test := range tests {
		if got := wrap(test.line, test.width, test.indent); got != test.want {
			t.Errorf("%q in %d columns is %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

// TestWrapKeepsWords: every word comes through whole and in order, and only a word that
// fits nowhere makes a line too wide.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(` {0,3}([a-zä-ü]{1,12} {1,3}){0,12}[a-z]{1,30}`).Draw(t, "line")
		width, indent := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(0, 10).Draw(t, "indent")
		wrapped := wrap(line, width, indent)
		if got, want := strings.Join(strings.Fields(wrapped), " "), strings.Join(strings.Fields(line), " "); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		for part := range strings.Lines(wrapped) {
			part = strings.TrimSuffix(part, "\n")
			if utf8.RuneCountInString(part) > width && len(strings.Fields(part)) > 1 && width >= 2*indent {
				t.Fatalf("%q is wider than %d", part, width)
			}
		}
	})
}

func TestTextColumn(t *testing.T) {
	for row, want := range map[string]int{
		"  hold [REASON]          stop": 25, "        can: wait": 10, "plain": 2, "  ä  text": 5,
	} {
		if got := textColumn(row); got != want {
			t.Errorf("the text of %q begins at %d, want %d", row, got, want)
		}
	}
}

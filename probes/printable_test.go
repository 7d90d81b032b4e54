package probes

import (
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: what is kept of an answer acts on no terminal, on one line, and is short.
func TestHostileText(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		series := seriesName(map[string]string{"__name__": text, text: text})
		for how, shown := range map[string]string{"sentence": printable(text, longestText), "series": series} {
			if why := hostiletext.Harmful(shown); why != "" {
				t.Errorf("%s in a %s: %s", name, how, why)
			}
			if most := 3 * longestText * len(`\u202e`); len(shown) > most {
				t.Errorf("%s in a %s is %d bytes long", name, how, len(shown))
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                        "plain",
		" two\nlines ":                 `two\nlines`,
		"\x1b[31mred":                  `\x1b[31mred`,
		"a\u0085\u202ebc\xff":          `a\u0085\u202ebc\xff`,
		`say "x" \ y`:                  `say "x" \ y`,
		strings.Repeat("é", 200):       strings.Repeat("é", 120) + "…",
		strings.Repeat("x", 241):       strings.Repeat("x", 240) + "…",
		"é" + strings.Repeat("y", 239): "é" + strings.Repeat("y", 238) + "…",
	} {
		if got := printable(in, longestText); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestSeriesName(t *testing.T) {
	long := strings.Repeat("x", longestLabel)
	for _, test := range []struct {
		labels map[string]string
		want   string
	}{
		{nil, "{}"},
		{map[string]string{"__name__": "up"}, "up"},
		{map[string]string{"__name__": "up", "b": "2", "a": "1"}, `up{a="1", b="2"}`},
		{map[string]string{"odd name": "1", "9": "x"}, `{"9"="x", "odd name"="1"}`},
		{map[string]string{"a": "\x1b\u202e\xff\""}, `{a="\x1b\u202e\xff\""}`},
		{map[string]string{"a": long}, `{a="` + long + `"}`},
		{map[string]string{"a": long + "yz"}, `{a="` + long + `"…122}`},
	} {
		if got := seriesName(test.labels); got != test.want {
			t.Errorf("%v: got %s, want %s", test.labels, got, test.want)
		}
	}
}

package harmless

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"queue-age 0.4 s, größer": "queue-age 0.4 s, größer",
		"two\nlines\tand a tab":   "two\nlines\tand a tab",
		"\x1b[31mred":             `\u001b[31mred`,
		"\x1b]52;c;cm0gLXJm\x07":  `\u001b]52;c;cm0gLXJm\u0007`, // https://github.com/shanselman/winget-tui/issues/32
		"\u009b31m":               `\u009b31m`,
		"\u202egnp.exe":           `\u202egnp.exe`,
		"\xff":                    `\xff`,
		"\ufffd":                  "\ufffd",
		"\r\x00":                  `\u000d\u0000`,
		"\U000e0041":              `\udb40\udc41`,
		"a\u200db\ufeffc\u2028d":  `a\u200db\ufeffc\u2028d`,
		"日本語 \U0001f399":          "日本語 \U0001f399",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestHostile: nothing of what is shown is obeyed or cannot be seen.
func TestHostile(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		for how, shown := range map[string]string{"line": Line(text), "text": strings.NewReplacer("\n", "", "\t", "").Replace(Text(text))} {
			if why := hostiletext.Harmful(shown) + hostiletext.Blank(shown); why != "" {
				t.Errorf("%s as %s: %s", name, how, why)
			}
		}
	}
}

// TestAllText: what is shown is never obeyed by a terminal, and JSON that goes through still means the same.
func TestAllText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		shown := Line(text)
		if strings.ContainsFunc(shown, Hidden) {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if Line(shown) != shown {
			t.Fatalf("%q is not shown the same way twice", text)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(Line(string(encoded))), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q came back as %q: %v", text, back, err)
		}
	})
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"ab": "ab", "abc": "ab…", "aé": "a…", "é": "é", "": ""} {
		if got := Cut(text, 2); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
	for name, text := range hostiletext.Texts() {
		if got := Cut(text, 100); len(got) > 100+len("…") {
			t.Errorf("%s is %d bytes long", name, len(got))
		}
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
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
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestPrintableHoldsForAllText: what comes out is never obeyed by a terminal, and
// JSON that goes through still means the same.
func TestPrintableHoldsForAllText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		shown := printable(text)
		if i := strings.IndexFunc(shown, func(r rune) bool { return hidden(r) && r != utf8.RuneError }); i >= 0 {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		if printable(shown) != shown {
			t.Fatalf("%q is not shown the same way twice", text)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := (printableWriter{&out}).Write(encoded); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q came back as %q: %v", text, back, err)
		}
	})
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"dial redis://op:s3cr3t@h:6379/0: refused": "dial redis://h:6379/0: refused",
		"https://u:p@prom/graph?token=abc&x=1":     "https://prom/graph?token=[removed]&x=1",
		"Authorization: Bearer eyJh.b-c":           "Authorization: Bearer [removed]",
		`{"password": "hunter2", "user": "op"}`:    `{"password": [removed], "user": "op"}`,
		"queue-age 0.4 s":                          "queue-age 0.4 s",
	} {
		if got := redact(text); got != want {
			t.Errorf("redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzParseSpoken(f *testing.F) {
	for _, s := range spokenWords {
		f.Add(s.word + " " + s.form)
		f.Add(s.word + surely)
	}
	f.Add("approve")
	f.Fuzz(func(t *testing.T, line string) {
		order, ok, err := parseSpoken(line, time.Now())
		if !ok && err != nil || ok && order.Kind == "" {
			t.Errorf("%q gives %v, %v, %v", line, order, ok, err)
		}
		if order.Kind == "approve" {
			t.Errorf("%q approves", line)
		}
		if _, err := parseModes(line); err == nil && strings.TrimSpace(line) == "" {
			t.Errorf("%q is taken for modes", line)
		}
	})
}

func FuzzSplitTyped(f *testing.F) {
	f.Add([]byte("approve\napprove\n"))
	f.Add([]byte("\x1b[200~y\ny\n\x1b[201~"))
	f.Fuzz(func(t *testing.T, input []byte) {
		lines, rest := splitTyped(input)
		if len(lines) != bytes.Count(input, []byte{'\n'}) || len(rest) > longestLine || bytes.Contains(rest, []byte{'\n'}) {
			t.Errorf("%q gives %q and %q", input, lines, rest)
		}
		for _, line := range lines {
			if !utf8.ValidString(line) || strings.Contains(line, "\n") {
				t.Errorf("%q gives the line %q", input, line)
			}
		}
	})
}

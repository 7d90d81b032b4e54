package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/internal/harmless"
	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestWhatIsPrintedIsHarmless: whatever a command prints goes through its streams.
func TestWhatIsPrintedIsHarmless(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		var out bytes.Buffer
		if _, err := (printableWriter{&out}).Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		shown := strings.NewReplacer("\n", "", "\t", "").Replace(out.String())
		if why := hostiletext.Harmful(shown) + hostiletext.Blank(shown); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// hidden reports what no line of text may hold.
func hidden(r rune) bool { return r != '\n' && r != '\t' && harmless.Hidden(r) }

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

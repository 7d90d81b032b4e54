package runbook

import (
	"testing"
	"unicode/utf8"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: what a message repeats acts on no terminal and is short. Zero width characters stay outside quotes,
// for words of people may need them.
func TestHostileText(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		for how, show := range map[string]struct {
			show  func(string) string
			limit int
		}{
			"quoted":    {quote, quotedLimit},
			"printable": {printable, printableLimit},
		} {
			shown := show.show(text)
			if why := hostiletext.Harmful(shown); why != "" {
				t.Errorf("%s %s: %s", name, how, why)
			}
			if most := show.limit*len(`\u202e`) + len(`"…"`); utf8.RuneCountInString(shown) > most {
				t.Errorf("%s %s is %d bytes long", name, how, len(shown))
			}
		}
	}
}

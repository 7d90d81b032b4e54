package actions

import (
	"testing"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: what a sentence repeats of a server acts on no terminal, on one line, and is short. A server's own
// words have no quotes around them; what shows nothing is left to whoever prints.
func TestHostileText(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		for how, shown := range map[string]string{"quoted": printable(text), "clipped": plain(clip(text), false)} {
			if why := hostiletext.Harmful(shown); why != "" {
				t.Errorf("%s %s: %s", name, how, why)
			}
			if most := longestQuote*len(`\u202e`) + len(`"…"`); len(shown) > most {
				t.Errorf("%s %s is %d bytes long", name, how, len(shown))
			}
		}
	}
}

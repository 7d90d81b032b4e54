package controls

import (
	"testing"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: what an error repeats of a value in Redis is ASCII and short: a service logs it where it likes.
func TestHostileText(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		shown := quote(text)
		if why := hostiletext.Harmful(shown) + hostiletext.Blank(shown); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if len(shown) > 80*len(`\u202e`)+len(`"…"`) {
			t.Errorf("%s is %d bytes long", name, len(shown))
		}
	}
}

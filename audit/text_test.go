package audit

import (
	"testing"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: a path in a sentence and a name in a record act on no terminal. A path is never cut, for it is what
// a person has to type.
func TestHostileText(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		if why := hostiletext.Harmful(show(text)); why != "" {
			t.Errorf("%s as a path: %s", name, why)
		}
		written := string(quote(plainActor(text)))
		if why := hostiletext.Harmful(written); why != "" {
			t.Errorf("%s as an actor: %s", name, why)
		}
		if len(written) > maxActor+len(`""`) {
			t.Errorf("%s as an actor is %d bytes long", name, len(written))
		}
	}
}

package tui

import (
	"testing"

	"github.com/rewarm/rewarm/internal/hostiletext"
)

// TestHostileText: nothing of what is drawn is obeyed or cannot be seen. Marks that combine are left out besides: their
// cells are not agreed upon.
func TestHostileText(t *testing.T) {
	texts := hostiletext.Texts()
	texts["mark that combines"] = "a\u0301b"
	for name, text := range texts {
		shown := clean(text)
		if why := hostiletext.Harmful(shown) + hostiletext.Blank(shown); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if drawn := cut(shown, 80, "…"); cells(drawn) > 80 {
			t.Errorf("%s takes %d cells", name, cells(drawn))
		}
	}
	if got := clean(texts["mark that combines"]); got != `a\u0301b` {
		t.Errorf("a mark that combines is drawn as %q", got)
	}
}

package cli

import (
	"strings"
	"testing"
	"time"
)

// TestHelpThatCanBeTyped: what the help of a watch says can be typed elsewhere is an order.
func TestHelpThatCanBeTyped(t *testing.T) {
	filled := strings.NewReplacer("[", "", "]", "", "WHO", "ana", "UNTIL", "8h", "TIME", "10m", "VALUE", "1s")
	for _, s := range spokenWords {
		words := strings.Fields(filled.Replace(s.remoteForm()))
		if order, err := s.args(words, time.Now()); err != nil || order.Kind != s.kind {
			t.Errorf("%s %s: %v, %v", s.word, s.remoteForm(), order, err)
		}
	}
}

package tui

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// TestWhatAHandTypes tells lines of a person from what was pasted, comes from a program or from the
// terminal itself.
// https://github.com/charmbracelet/bubbletea/issues/404
func TestWhatAHandTypes(t *testing.T) {
	type chunk struct {
		text  string
		paste bool
		gap   time.Duration // since the chunk before
	}
	keys := func(text string, gap time.Duration) (list []chunk) {
		for _, r := range text {
			list = append(list, chunk{text: string(r), gap: gap})
		}
		return list
	}
	for name, c := range map[string]struct {
		chunks []chunk
		burst  bool
	}{
		"key by key":         {keys("approve", 80*time.Millisecond), false},
		"a fast hand":        {keys("approve", 35*time.Millisecond), false},
		"a bad connection":   {[]chunk{{text: "app"}, {text: "rove", gap: 400 * time.Millisecond}}, false},
		"bracketed paste":    {[]chunk{{text: "approve", paste: true}}, true},
		"paste without mark": {[]chunk{{text: "approve"}}, true},
		"a program":          {keys("approve", time.Millisecond), true},
		"a paste in between": {append(keys("appr", 80*time.Millisecond), chunk{text: "ove", paste: true, gap: time.Second}), true},
		"a terminal's reply": {[]chunk{{text: "11;rgb:1c1c/1b1b/1a1a", gap: time.Second}}, true},
	} {
		now, number := time.Unix(0, 0), uint64(0)
		next := func() uint64 { number++; return number }
		var h hand
		text := ""
		for _, chunk := range c.chunks {
			now = now.Add(chunk.gap)
			h.feel(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(chunk.text), Paste: chunk.paste}, now, next)
			text += chunk.text
		}
		if got := h.line(text, now.Add(c.chunks[len(c.chunks)-1].gap), next); got.Burst != c.burst {
			t.Errorf("%s: burst %v", name, got.Burst)
		}
	}
}

// TestALineKnowsWhetherItWasBegunBefore: its number is taken at its first key.
func TestALineKnowsWhetherItWasBegunBefore(t *testing.T) {
	q := newQueue()
	var before, after hand
	key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a")}
	before.feel(key, time.Unix(0, 0), q.next)
	asked := q.next()
	after.feel(key, time.Unix(1, 0), q.next)
	if early, late := before.line("a", time.Unix(2, 0), q.next), after.line("a", time.Unix(2, 0), q.next); early.Number >= asked || late.Number <= asked {
		t.Errorf("numbers %d and %d around the question's %d", early.Number, late.Number, asked)
	}
}

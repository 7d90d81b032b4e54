package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rewarm/rewarm/steps"
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
		now := time.Unix(0, 0)
		var h hand
		text := ""
		for _, chunk := range c.chunks {
			now = now.Add(chunk.gap)
			h.feel(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(chunk.text), Paste: chunk.paste}, now, steps.Question{}, 0)
			text += chunk.text
		}
		if got := h.line(text, now.Add(c.chunks[len(c.chunks)-1].gap)); got.Burst != c.burst {
			t.Errorf("%s: burst %v", name, got.Burst)
		}
	}
}

// TestALineKnowsWhatWasSaid: how much the walk had said when its first key was hit, whatever is said later.
func TestALineKnowsWhatWasSaid(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 83), 80, 24, Options{})
	var got []Typed
	m.options.Typed = func(line Typed) { got = append(got, line) }
	type1 := func(r rune) { m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) }
	type1('a')
	m.queue.say(said{"held, not aborted", true})
	m.Update(woken{})
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	type1('a')
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	if len(got) != 2 || got[0].Heard != 0 || got[1].Heard != 1 {
		t.Errorf("%+v", got)
	}
}

// TestALineKnowsWhatWasAsked: the question that stood on the screen when its first key was hit, whatever comes later.
func TestALineKnowsWhatWasAsked(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 83), 80, 24, Options{})
	var got []Typed
	m.options.Typed = func(line Typed) { got = append(got, line) }
	type1 := func(r rune) { m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) }
	type1('2') // before the question was drawn
	m.View()
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	type1('2')
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	if len(got) != 2 || got[0].Asked.Step != "" || got[1].Asked.Step != "declare" {
		t.Errorf("%+v", got)
	}
}

// TestALineThatIsNotSentIsKnown: with what was asked when it was begun, until it is sent or cleared.
func TestALineThatIsNotSentIsKnown(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 83), 80, 24, Options{})
	var unsent []Typed
	m.options.Unsent = func(line Typed) { unsent = append(unsent, line) }
	m.options.Typed = func(Typed) {}
	m.View()
	for _, key := range []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune{'n'}}, {Type: tea.KeyRunes, Runes: []rune{'o'}}, {Type: tea.KeyEsc},
		{Type: tea.KeyRunes, Runes: []rune{'x'}}, {Type: tea.KeyEnter}} {
		m.Update(key)
	}
	var texts []string
	for _, line := range unsent {
		texts = append(texts, line.Text)
		if line.Text != "" && line.Asked.Step != "declare" {
			t.Errorf("%q was begun at %q", line.Text, line.Asked.Step)
		}
	}
	if got, want := strings.Join(texts, ","), "n,no,,x,"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

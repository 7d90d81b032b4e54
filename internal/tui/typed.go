package tui

import (
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rewarm/rewarm/steps"
)

// Typed is one line that a person typed. Asked is the question that stood on the screen when the first key of the line
// was hit: a line is no answer to any other. Burst marks a line that no hand has typed.
type Typed struct {
	Text  string
	Asked steps.Question
	Burst bool
	Heard uint64 // how many lines the walk had said to the screen when the first key was hit
}

// fastest is the least time between two keys of a person. A key that is held repeats more slowly
// and types no words.
const fastest = 10 * time.Millisecond

// mostAtOnce is how many keys of a person may come together: a bad connection holds some back.
const mostAtOnce = 4

// hand watches how a line comes in.
type hand struct {
	begun time.Time // when its first key came
	keys  int
	asked steps.Question
	heard uint64
	burst bool
}

// feel takes a key into account that adds text to the line, while a question stands on the screen and so much was said.
func (h *hand) feel(msg tea.KeyMsg, now time.Time, asked steps.Question, heard uint64) {
	if h.keys == 0 {
		*h = hand{begun: now, asked: asked, heard: heard}
	}
	h.keys++
	if msg.Paste || len(msg.Runes) > mostAtOnce {
		h.burst = true
	}
}

// line is the whole line, when it is sent.
func (h *hand) line(text string, now time.Time) Typed {
	t := h.sofar(text, now)
	*h = hand{}
	return t
}

// sofar is a line that goes on.
func (h *hand) sofar(text string, now time.Time) Typed {
	tooFast := now.Sub(h.begun) < time.Duration(utf8.RuneCountInString(text))*fastest
	return Typed{Text: text, Asked: h.asked, Heard: h.heard, Burst: h.burst || text != "" && tooFast}
}

package tui

import (
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// Typed is one line that a person typed. Number grows with every line and every question, and is
// taken when the first key of the line is hit: a line with a number below that of a question was begun before the question
// appeared. Burst marks a line that no hand has typed.
type Typed struct {
	Text   string
	Number uint64
	Burst  bool
}

// fastest is the least time between two keys of a person. A key that is held repeats more slowly
// and types no words.
const fastest = 10 * time.Millisecond

// mostAtOnce is how many keys of a person may come together: a bad connection holds some back.
const mostAtOnce = 4

// hand watches how a line comes in.
type hand struct {
	begun  time.Time // when its first key came
	keys   int
	number uint64
	burst  bool
}

// feel takes a key into account that adds text to the line.
func (h *hand) feel(msg tea.KeyMsg, now time.Time, next func() uint64) {
	if h.keys == 0 {
		*h = hand{begun: now, number: next()}
	}
	h.keys++
	if msg.Paste || len(msg.Runes) > mostAtOnce {
		h.burst = true
	}
}

// line is the whole line, when it is sent.
func (h *hand) line(text string, now time.Time, next func() uint64) Typed {
	if h.keys == 0 {
		h.number = next()
	}
	tooFast := now.Sub(h.begun) < time.Duration(utf8.RuneCountInString(text))*fastest
	t := Typed{Text: text, Number: h.number, Burst: h.burst || text != "" && tooFast}
	*h = hand{}
	return t
}

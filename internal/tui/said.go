package tui

import (
	"strings"
	"time"
)

// saying is something that the walk has said to a person.
type saying struct {
	at    time.Time // on the clock of the person
	text  string
	about *string // what stood when it was the answer to a word; nil for what is no answer
}

// Said is how long something stands on the screen that the walk has said, and how much of it.
const (
	saidFor  = 30 * time.Second
	mostSaid = 20
)

// hear takes what was said. An answer is about what stands now.
func (m *model) hear(said []said) {
	if len(said) == 0 {
		return
	}
	stands := ""
	if m.story.State != nil {
		m.story.stands(m.now())
		stands = m.story.standsFor()
	}
	for _, s := range said {
		one := saying{at: m.options.Hand(), text: s.text}
		if s.answers {
			one.about = &stands
		}
		m.said = append(m.said, one)
	}
	m.heard += uint64(len(said))
	m.said = m.said[max(0, len(m.said)-mostSaid):]
}

// forget drops what has stood for long, and every answer that is about something else than what stands now: beside that
// it would mislead.
func (m *model) forget(d *drawing) {
	kept := m.said[:0]
	for _, s := range m.said {
		if m.options.Hand().Sub(s.at) <= saidFor && (s.about == nil || *s.about == m.story.standsFor()) {
			kept = append(kept, s)
		}
	}
	m.said = kept
}

// standsFor tells apart what an answer can be about: the question that was asked last, and what holds.
func (s *Story) standsFor() string {
	var b strings.Builder
	b.WriteString(s.question.Key())
	for _, hold := range s.State.Holds() {
		b.WriteString("\x00" + hold.Cause + hold.Sentence)
	}
	return b.String()
}

// leaf is a text that was opened to be read.
type leaf struct {
	title string
	rows  []string // clean
}

func (l leaf) wrapped(width int) []string {
	var rows []string
	for _, row := range l.rows {
		set := len(row) - len(strings.TrimLeft(row, " "))
		rows = append(rows, wrapped(row, width, set+2)...)
	}
	return rows
}

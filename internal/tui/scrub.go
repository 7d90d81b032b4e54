package tui

import "fmt"

// scrub goes to the next event that says something, or to the one before. Behind the last one the
// screen follows the run again.
func (m *model) scrub(way int) {
	if !m.options.Watching || len(m.kept) == 0 {
		return
	}
	to := m.at
	for to += way; to > 0 && to < len(m.kept) && len(m.kept[to-1].Lines) == 0; {
		to += way
	}
	m.standAt(max(to, 1))
}

// standAt folds the run anew up to an event: there is no way back from a record.
func (m *model) standAt(to int) {
	if to < m.at {
		m.story, m.at = &Story{}, 0
	}
	m.past = to < len(m.kept)
	m.follow(m.kept[m.at:min(to, len(m.kept))])
}

// watchLine says at which moment the screen stands.
func (m *model) watchLine() string {
	if !m.past {
		return "watching, q leaves, Left goes back"
	}
	return fmt.Sprintf("event %d of %d, Left, Right, q leaves", m.at, len(m.kept))
}

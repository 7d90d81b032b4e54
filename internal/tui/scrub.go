package tui

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/steps"
)

// scrub goes to the next event that says something, or to the one before. Behind the last one the
// screen follows the run again.
func (m *model) scrub(way int) {
	if m.came == 0 {
		return
	}
	next := m.saidBefore(m.at + 1)
	to := m.came
	switch {
	case way < 0:
		to = 1
		if before := m.saidBefore(m.at); before > 0 {
			to = m.tellings[before-1].at
		}
	case next < len(m.tellings):
		to = m.tellings[next].at
	}
	m.standAt(to)
}

// present goes back to now.
func (m *model) present() {
	if m.past {
		m.standAt(m.came)
	}
}

// telling is an event that said something: how many events had come with it, and what it said. The records themselves
// are read again when somebody goes back to them.
type telling struct {
	at    int
	lines []Line
}

// note counts the events that have come, and keeps what they say.
func (m *model) note(events []Event) {
	for i := range events {
		if m.came++; len(events[i].Lines) > 0 {
			m.tellings = append(m.tellings, telling{m.came, events[i].Lines})
		}
	}
}

// saidBefore is how many events said something before so many had come.
func (m *model) saidBefore(at int) int {
	n, _ := slices.BinarySearchFunc(m.tellings, at, func(t telling, at int) int { return t.at - at })
	return n
}

// standAt shows the run as it was behind so many events. There is no way back from a record, so it is folded from the
// nearest checkpoint on.
func (m *model) standAt(to int) {
	to = min(to, m.came)
	if !m.past {
		m.left = checkpoint{m.at, m.story}
	}
	if from := m.nearest(to); to < m.at || from.at > m.at {
		if from.at > m.near.before(to).at {
			m.near = checkpoints{every: max(m.far.every/nearCheckpoints, 1)}
		}
		m.story, m.at = from.story.clone(), from.at
	}
	m.past = to < m.came
	m.followAgain(to)
	m.story.question = steps.Question{} // what was asked before belongs to another moment
}

// followAgain goes on up to so many events, whose records are read again.
func (m *model) followAgain(to int) {
	said := m.tellings[m.saidBefore(m.at+1):]
	for record, err := range m.options.Again(m.at, to) {
		e := Event{Record: record}
		if err == nil {
			e.Body, err = m.decoder.Body(record.Kind, record.Body)
		}
		if m.trouble = err; err != nil {
			return
		}
		if len(said) > 0 && said[0].at == m.at+1 {
			e.Lines, said = said[0].lines, said[1:]
		}
		m.followOne(&e)
	}
}

// nearest is the last checkpoint that is not behind so many events.
func (m *model) nearest(to int) checkpoint {
	best := checkpoint{story: &Story{}}
	for _, c := range []checkpoint{m.far.before(to), m.near.before(to), m.left} {
		if c.at <= to && c.at > best.at {
			best = c
		}
	}
	return best
}

// checkpoint is the story behind so many events.
type checkpoint struct {
	at    int
	story *Story // never goes on; its clones do
}

// checkpoints are stories at about even distances. However long the run is there are only so many of them.
type checkpoints struct {
	every int
	list  []checkpoint
}

// A log of 100,000 records has a checkpoint every 4096, and every 256 from the one to where a screen went last. Each
// takes about a megabyte.
const (
	mostCheckpoints  = 32
	nearCheckpoints  = 16 // between two of those over the whole run
	firstCheckpoints = 64 // events between two, at first
)

// pass keeps the story behind so many events when it is time for a checkpoint.
func (c *checkpoints) pass(at int, story *Story) {
	if at%c.every != 0 || len(c.list) > 0 && at <= c.list[len(c.list)-1].at {
		return
	}
	c.list = append(c.list, checkpoint{at, story.clone()})
	if len(c.list) > mostCheckpoints {
		c.every *= 2
		c.list = slices.DeleteFunc(c.list, func(one checkpoint) bool { return one.at%c.every != 0 })
	}
}

// before is the last checkpoint up to so many events, the zero one when there is none.
func (c *checkpoints) before(at int) checkpoint {
	for _, one := range slices.Backward(c.list) {
		if one.at <= at {
			return one
		}
	}
	return checkpoint{}
}

// watchLine says at which moment the screen stands.
func (m *model) watchLine() string {
	if !m.past {
		return "watching, q leaves, Left goes back"
	}
	return fmt.Sprintf("event %d of %d, Left, Right, Esc to now, q leaves", m.at, m.came)
}

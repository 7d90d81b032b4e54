package tui

import (
	"fmt"
	"slices"

	"github.com/rewarm/rewarm/steps"
)

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

// standAt shows the run as it was behind so many events. There is no way back from a record, so it is folded from the
// nearest checkpoint on.
func (m *model) standAt(to int) {
	to = min(to, len(m.kept))
	if !m.past {
		m.left = checkpoint{m.at, m.story}
	}
	if from := m.nearest(to); to < m.at || from.at > m.at {
		if from.at > m.near.before(to).at {
			m.near = checkpoints{every: max(m.far.every/mostCheckpoints, 1)}
		}
		m.story, m.at = from.story.clone(), from.at
	}
	m.past = to < len(m.kept)
	m.follow(m.kept[m.at:to])
	m.story.question = steps.Question{} // what was asked before belongs to another moment
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

// A log of 100,000 records has a checkpoint every 2048, and every 32 from the one to where a screen went last.
const (
	mostCheckpoints  = 64
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
	return fmt.Sprintf("event %d of %d, Left, Right, q leaves", m.at, len(m.kept))
}

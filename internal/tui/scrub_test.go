package tui

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/steps"
)

// TestAnyWayThroughTime: however a watch went to a moment, it shows what a fold of the records up to there shows, also
// of a run by which somebody has taken the command over.
func TestAnyWayThroughTime(t *testing.T) {
	events := walked(t)
	events = append(events, events[:100]...)
	straight := screenOf(t, events, 120, 40, Options{Watching: true, Again: again(events)})
	straight.story = &Story{}
	shown := make([]string, len(events)+1)
	for i := range events {
		straight.follow(events[i : i+1])
		if straight.trouble != nil || straight.story.State.Seq != events[i].Record.Seq {
			t.Fatalf("event %d of %d: %v", i, len(events), straight.trouble)
		}
		shown[i+1] = board(straight)
	}
	for _, every := range []int{1, 7, firstCheckpoints} {
		m := screenOf(t, events[:1], 120, 40, Options{Watching: true, Again: again(events)})
		m.options.Now = straight.options.Now
		m.story, m.far = &Story{}, checkpoints{every: every}
		random := rand.New(rand.NewPCG(1, uint64(every)))
		for turn := range 200 {
			switch random.IntN(4) {
			case 0:
				m.standAt(1 + random.IntN(max(m.came, 1)))
			case 1:
				m.scrub(-1)
			case 2:
				m.scrub(+1)
			default:
				for _, e := range events[m.came:min(m.came+30, len(events))] {
					m.queue.put(e)
				}
				m.take()
			}
			if !m.past && m.at != m.came {
				t.Fatalf("turn %d: %d of %d events, and the screen takes this for now", turn, m.at, m.came)
			}
			if m.at == 0 {
				continue
			}
			if diff := cmp.Diff(shown[m.at], board(m)); diff != "" {
				t.Fatalf("turn %d, after %d events (-folded straight +shown):\n%s", turn, m.at, diff)
			}
		}
	}
}

// board is a frame without what says where in time it stands, and without what was asked before: that is
// there only for a walk that is busy between two records.
func board(m *model) string {
	past := m.past
	if !past {
		m.story.question = steps.Question{}
	}
	m.past = false
	frame := m.frame()
	m.past = past
	return plain(frame[:len(frame)-1])
}

// TestCheckpointsAreBounded: the more events, the further they lie apart.
func TestCheckpointsAreBounded(t *testing.T) {
	c, story := checkpoints{every: firstCheckpoints}, &Story{}
	for at := 1; at <= 100_000; at++ {
		c.pass(at, story)
	}
	if c.every != 4096 || len(c.list) != 100_000/4096 || c.before(50_000).at != 50_000/4096*4096 {
		t.Errorf("%d checkpoints, one every %d, the last before the middle at %d", len(c.list), c.every, c.before(50_000).at)
	}
}

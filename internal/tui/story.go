package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Event is one record of a run, with what it says in words.
type Event struct {
	Record audit.Record
	Body   any    // what steps.DecodeBody makes of the record, where nobody else changes it; nil to have it decoded
	Lines  []Line // none for a record that only measures
}

// Line is one thing that a record says.
type Line struct {
	Where string   // the step with its stage, or the stage
	Text  string   // what happened
	Rows  []string // what belongs to it: what a person can do, what waiting costs
}

// Story is what a screen knows of a run: the fold of its records and what the fold forgets.
type Story struct {
	State *steps.State

	events   []happening
	told     int // lines so far, also those that are not kept
	latest   eventRows
	pasts    map[probes.Ask]*past
	flips    []time.Time    // of changes, by the clock of Prometheus
	question steps.Question // when the walk waited last
	settled  int            // flips of the state that were looked at
	stages   [runbook.StageCount + 1]span
}

// clone gives a story that goes on by itself: what one of the two follows from now on is not seen in the other.
func (s *Story) clone() *Story {
	c := *s
	if s.State != nil {
		c.State = s.State.Clone()
	}
	c.events, c.flips = slices.Clip(s.events), slices.Clip(s.flips)
	c.pasts = make(map[probes.Ask]*past, len(s.pasts))
	for ask, p := range s.pasts {
		c.pasts[ask] = &past{slices.Clip(p.points)}
	}
	return &c
}

// happening is one line of the events, fit to be drawn.
type happening struct {
	at    time.Time
	t     time.Duration // of the run
	where string        // stage/step
	step  string        // the same, shorter
	text  string
	rows  []string
}

// span is when a stage was entered and left; zero while it was not.
type span struct{ from, to time.Time }

// mostEvents bounds the lines that are kept. All of them are in the log.
const mostEvents = 2000

// Follow takes the next record.
func (s *Story) Follow(e Event) error {
	body, err := e.Body, error(nil)
	if body == nil {
		body, err = steps.DecodeBody(e.Record.Kind, e.Record.Body)
	}
	if err != nil {
		return err
	}
	if _, begins := body.(*steps.Begun); begins && s.State != nil {
		*s = Story{events: s.events, told: s.told} // whoever has taken the command over walks on in a run of their own
	}
	if s.State, err = steps.Follow(s.State, e.Record, body); err != nil {
		return err
	}
	for _, l := range e.Lines {
		s.events = append(s.events, happened(e.Record, l))
		s.told++
	}
	if len(s.events) > 2*mostEvents {
		s.events = append([]happening{}, s.events[len(s.events)-mostEvents:]...)
	}
	switch b := body.(type) {
	case *steps.StageBody:
		s.entered(b, e.Record.At)
	case *steps.Observed:
		s.measured(b)
	case *steps.Settled:
		for _, flip := range s.State.Flips()[s.settled:] {
			if s.settled++; !flip.Nothing {
				s.flips = append(s.flips, flip.ServerAt)
			}
		}
	case *steps.Ended:
		s.stages[s.State.Stage].to = e.Record.At
	}
	return nil
}

func happened(r audit.Record, l Line) happening {
	h := happening{at: r.At, t: time.Duration(r.T) * time.Millisecond, where: clean(l.Where), text: clean(l.Text)}
	h.step = h.where[strings.LastIndexByte(h.where, '/')+1:]
	for _, row := range l.Rows {
		h.rows = append(h.rows, clean(row))
	}
	return h
}

// stands is what a person is asked and what blocks. While the walk is busy between two records it asks what was asked
// before.
func (s *Story) stands(now time.Time) steps.Standing {
	standing := s.State.Standing(now)
	if standing.Waits {
		s.question = standing.Question
	}
	standing.Question = s.question
	return standing
}

func (s *Story) entered(b *steps.StageBody, at time.Time) {
	now, _ := runbook.ParseStage(b.Stage)
	if s.stages[now].from.IsZero() {
		s.stages[now].from = at
	}
	for stage := runbook.DeclareMode; stage < now; stage++ {
		if before := &s.stages[stage]; !before.from.IsZero() && before.to.IsZero() {
			before.to = at
		}
	}
}

// measured keeps the past of each probe for the graphs.
func (s *Story) measured(b *steps.Observed) {
	if s.pasts == nil {
		s.pasts = map[probes.Ask]*past{}
	}
	for i := range b.Answers {
		a := &b.Answers[i]
		if a.Reason != "" || a.Count == 0 {
			continue
		}
		p := s.pasts[a.Ask]
		if p == nil {
			p = &past{}
			s.pasts[a.Ask] = p
		}
		p.add(point{at: a.At.UnixNano(), low: a.Min.Value, high: a.Max.Value})
	}
}

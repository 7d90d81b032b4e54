package steps

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rewarm/rewarm/probes"
)

// keptPolls bounds the memory of a long run: no gate counts back further than its
// passes, and none asks for nearly as many.
const keptPolls = 64

// forgetPolls lets every gate start anew: nobody looked while the run stood still.
func (s *State) forgetPolls() {
	s.pollBase = s.polled()
	s.polls, s.partial, s.lastPoll = nil, nil, time.Time{}
	s.tracks = map[string]*track{}
	s.exit.anew()
}

// observed takes one record of a poll into the state, and judges the poll when it is whole.
func (s *State) observed(b *Observed) {
	s.answered(b)
	s.follow(b.At)
	s.looked(b)
	if b.Propagation != nil {
		s.partial.propagation = b.Propagation
	}
	if !b.More {
		s.endPoll()
	}
}

// answered is what Prometheus said.
func (s *State) answered(b *Observed) {
	if s.partial == nil {
		s.partial = &poll{at: b.At}
	}
	s.partial.take(b.Answers)
	for i := range b.Answers {
		s.baseline(&b.Answers[i])
		for _, newest := range b.Answers[i].Newest {
			s.latest = later(s.latest, newest)
		}
	}
	if len(b.Answers) > 0 || b.Propagation != nil {
		s.measure(time.Duration(b.OffsetMS) * time.Millisecond)
	}
}

// looked is what Redis held.
func (s *State) looked(b *Observed) {
	s.RedisDown, s.lost, s.returned = b.Redis, b.Lost, b.Returned
	if b.Redis == "" {
		s.away = retry{}
		s.read()
		s.lapses(b.Lapsed)
		s.expires = time.Duration(b.ExpiresMS) * time.Millisecond
		s.warned = s.warned && s.expires > 0
	}
	for name, raw := range b.Controls {
		s.noticed(name, raw)
	}
	for name, raw := range b.ControlsBase64 {
		text := string(raw)
		s.noticed(name, &text)
	}
	for _, name := range b.Lost {
		if c := s.Control(name); c.Ours && equalRaw(c.Raw, c.Expected) { // an older flip had the same value
			s.lostFlip(name, b.LostAt)
		}
	}
	for _, l := range b.Left {
		s.takeOver(l)
	}
}

// endPoll keeps a poll that is whole, and has every gate judge it.
func (s *State) endPoll() {
	if s.partial.propagation != nil {
		s.propagated(s.partial)
	}
	if s.compared == nil {
		s.compared = s.liveNumbers()
	}
	p := s.partial
	p.index, p.seenAt, p.latest, p.numbers, p.baselines = s.polled(), s.LastAt, s.latest, s.compared, s.baselines
	s.polls = append(s.polls, p)
	s.partial, s.lastPoll = nil, s.LastAt
	if len(s.polls) > keptPolls {
		s.polls = slices.Delete(s.polls, 0, 1)
		s.pollBase++
	}
	s.judgeAll()
}

// take adds the answers of one record; the bodies of records are shared, and do not change.
func (p *poll) take(answers []probes.Answer) {
	if p.answers == nil {
		p.answers = slices.Clip(answers)
		return
	}
	p.answers = append(p.answers, answers...)
}

// answer finds what a poll learned, nil where it did not ask. Polls ask a few dozen questions at most.
func (p *poll) answer(ask probes.Ask) *probes.Answer {
	for i := len(p.answers) - 1; i >= 0; i-- { // of two records of one poll the later counts
		if p.answers[i].Ask == ask {
			return &p.answers[i]
		}
	}
	return nil
}

// polled is how many polls the run has seen.
func (s *State) polled() int { return s.pollBase + len(s.polls) }

// read takes in that all controls were read together with their meta.
func (s *State) read() {
	for _, c := range s.controls {
		c.Unread = false
	}
}

// judgeAll lets every gate that watches judge the latest poll. The counts then follow
// from the records alone, whoever folds them and whenever they are looked at.
func (s *State) judgeAll() {
	for _, w := range s.watches() {
		if w.ID != exitID {
			s.track(w)
		}
	}
	s.followExit()
}

func (s *State) baseline(a *probes.Answer) {
	p := s.Doc.Probe(a.Ask.Probe)
	if _, fixed := s.baselines[a.Ask.Probe]; fixed || p == nil || !p.Baseline {
		return
	}
	if a.Reason != "" || a.Manual != nil || a.Count != 1 || math.IsNaN(a.Max.Value) || math.IsInf(a.Max.Value, 0) {
		return
	}
	s.baselines = maps.Clone(s.baselines) // earlier polls keep what they were judged by
	s.baselines[a.Ask.Probe] = a.Max.Value
	for _, t := range s.tracks {
		t.asks = slices.DeleteFunc(t.asks, s.isFixed)
	}
	s.exit.asks = nil
}

// obeyed is the share of processes that must obey a version before what is
// measured counts as after the flip (contracts of the controls).
const obeyed = 0.99

// propagated marks the flips that the service obeys now. A service that has reported its
// version once does so always: that it is silent is unknown then, as after a restart of
// Prometheus with an empty head. Nor is it known while nothing else has data either.
func (s *State) propagated(seen *poll) {
	p := seen.propagation
	if p.Reason != "" && p.Reason != probes.NoData {
		return
	}
	s.reports = s.reports || p.Reported
	for _, f := range s.flips {
		switch {
		case !f.Mark.IsZero() || f.Version > p.Version:
		case !s.reports && !seen.hasData():
		case !s.reports:
			f.Mark = s.unreportedMark(f)
		case p.Processes > 0 && float64(p.Obeying) >= obeyed*float64(p.Processes):
			f.Mark = p.Oldest
		}
	}
}

// hasData reports whether any question of a poll was answered with a value.
func (p *poll) hasData() bool {
	for i := range p.answers {
		if a := &p.answers[i]; a.Reason == "" && a.Count > 0 {
			return true
		}
	}
	return false
}

// unreportedMark is since when a flip is taken to be obeyed that the service does not
// report. Before the first poll the clock of Prometheus was not known, so what it is known
// to be now counts as well.
func (s *State) unreportedMark(f *FlipState) time.Time {
	return s.assumedMark(f, f.At.Add(s.offset))
}

// assumedMark is when a flip is taken to be obeyed of which nothing better is known than
// when it was made or its loss was found.
func (s *State) assumedMark(f *FlipState, at time.Time) time.Time {
	return later(later(f.ServerAt, s.setBack), at).Add(f.Settle)
}

// follow keeps the clock of Prometheus in view. While it is behind a moment that it has
// shown already, it has samples from then, and no mark may lie before them.
func (s *State) follow(at time.Time) {
	s.setBack = time.Time{}
	if at.Before(s.shown) {
		s.setBack = s.shown
	}
	s.shown = later(s.shown, at)
}

func (s *State) see(control string, raw *string) {
	c := s.Control(control)
	if !c.Known || !equalRaw(c.Raw, raw) {
		s.compared, c.SeenAt = nil, s.LastAt
	}
	c.Known, c.Raw = true, raw
}

// noticed takes in a value that was read. When it moved and the run did not move it, no
// approval that covers the control stands any more.
func (s *State) noticed(control string, raw *string) {
	if c := s.Control(control); c.Known && !equalRaw(c.Raw, raw) {
		s.voidControl(control)
	}
	s.see(control, raw)
}

package steps

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// A pace is told when it was seen for some time, and ends before anybody would stop waiting.
const (
	leastPace   = 4 * time.Second
	longestPace = 30 * time.Second // how far back it looks
	longestLeft = time.Hour
)

// approach is how a bound that fails comes closer to passing.
type approach struct {
	probe, way string
	each       float64 // a second
	left       time.Duration
}

// pace says how long a gate takes yet when all of it that fails goes on as it does, and how fast the slowest of it
// moves: for whatever fills or empties, as a cache that is warmed. It is "" while anything in the gate gets no closer
// or is not known: one figure falls, too, because what it counts became damage that another one counts.
func (s *State) pace(w Watch, t *track) string {
	findings := t.last.judgement().Findings
	var slowest approach
	open := 0
	for _, group := range w.Gate {
		if len(findings) < len(group) {
			return ""
		}
		found := findings[:len(group)]
		findings = findings[len(group):]
		if slices.ContainsFunc(found, func(f probes.Finding) bool { return f.Verdict == probes.Pass }) {
			continue
		}
		nearest, ok := s.nearest(w, t, group, found)
		if !ok {
			return ""
		}
		if open++; nearest.left > slowest.left {
			slowest = nearest
		}
	}
	switch {
	case open == 0:
		return ""
	case open > 1:
		slowest.way = slowest.probe + " " + slowest.way
	}
	return fmt.Sprintf("%s left at this pace, %s by %s a second", Lasts(slowest.left.Round(time.Second)), slowest.way,
		threeDigits(math.Abs(slowest.each)))
}

// nearest is the bound that passes first, of those of which one is enough.
func (s *State) nearest(w Watch, t *track, group []runbook.Bound, found []probes.Finding) (nearest approach, ok bool) {
	for i := range found {
		if found[i].Verdict != probes.Fail {
			continue
		}
		if a, comes := s.approachOf(w, t, group[i], &found[i]); comes && (!ok || a.left < nearest.left) {
			nearest, ok = a, true
		}
	}
	return nearest, ok
}

// approachOf is false for a bound that gets no closer, or that has stopped to.
func (s *State) approachOf(w Watch, t *track, bound runbook.Bound, f *probes.Finding) (a approach, ok bool) {
	ask := t.askOf(bound.Probe)
	first, last := s.course(w, ask, f.Series)
	if first == nil || last.at.Sub(first.at) < leastPace {
		return a, false
	}
	limit, known := last.number(bound.Operand)
	was, now := valueOf(first.answer(ask), f.Series), valueOf(last.answer(ask), f.Series)
	each := (now - was) / last.at.Sub(first.at).Seconds()
	a = approach{bound.Probe, movement(was, now), each, time.Duration((limit - now) / each * float64(time.Second))}
	never := !known || math.IsNaN(each) || each == 0
	return a, !never && a.left > 0 && a.left <= longestLeft && a.way == t.movementOf(f)
}

// askOf is what a track asks of a probe.
func (t *track) askOf(probe string) probes.Ask {
	i := slices.IndexFunc(t.asks, func(ask probes.Ask) bool { return ask.Probe == probe })
	if i < 0 {
		return probes.Ask{}
	}
	return t.asks[i]
}

// threeDigits are as much of a number as anybody reads, without an exponent where it is large.
func threeDigits(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// course gives the polls with the first and the last value of a series that a watch may look at, lately; nil for none.
func (s *State) course(w Watch, ask probes.Ask, series string) (first, last *poll) {
	for i := len(s.polls) - 1; i >= 0; i-- {
		p := s.polls[i]
		switch {
		case w.Marked && !p.at.After(w.Mark), last != nil && last.at.Sub(p.at) > longestPace:
			return first, last
		case math.IsNaN(valueOf(p.answer(ask), series)):
			continue
		case last == nil:
			last = p
		}
		first = p
	}
	return first, last
}

// number is what a bound compares with at a poll; false when that is not one number.
func (p *poll) number(o runbook.Operand) (float64, bool) {
	switch {
	case o.Control != "":
		number, ok := p.numbers[o.Control]
		return number, ok
	case o.Probe != "":
		number, ok := p.baselines[o.Probe]
		return number, ok
	}
	return o.Number, true
}

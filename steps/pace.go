package steps

import (
	"fmt"
	"math"
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

// pace says how fast the first bound of a gate that does not pass comes closer to passing, and how long that will
// take yet: for whatever fills or empties, as a cache that is warmed. It is "" when the bound gets no closer.
func (s *State) pace(w Watch, t *track) string {
	i := 0
	for _, group := range w.Gate {
		for _, bound := range group {
			if i >= len(t.last.judgement().Findings) {
				return ""
			}
			finding := t.last.judgement().Findings[i]
			if i++; finding.Verdict == probes.Fail {
				return s.paceOf(w, t, bound, finding.Series)
			}
		}
	}
	return ""
}

func (s *State) paceOf(w Watch, t *track, bound runbook.Bound, series string) string {
	var ask probes.Ask
	for _, a := range t.asks {
		if a.Probe == bound.Probe {
			ask = a
		}
	}
	first, last := s.course(w, ask, series)
	if first == nil || last.at.Sub(first.at) < leastPace {
		return ""
	}
	limit, ok := last.number(bound.Operand)
	was, now := valueOf(first.answer(ask), series), valueOf(last.answer(ask), series)
	each := (now - was) / last.at.Sub(first.at).Seconds()
	left := time.Duration((limit - now) / each * float64(time.Second))
	way := movement(was, now)
	if !ok || math.IsNaN(each) || each == 0 || left <= 0 || left > longestLeft || way != s.trend(t) { // it may have stopped
		return ""
	}
	return fmt.Sprintf("%s left at this pace, %s by %s a second", left.Round(time.Second), way, threeDigits(math.Abs(each)))
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

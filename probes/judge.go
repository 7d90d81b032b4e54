package probes

import (
	"math"
	"slices"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Situation is everything that a gate is judged by. The zero Situation makes every
// bound unknown. Functions may be nil; what they would have told is then not known.
type Situation struct {
	// Mark is the moment at which the service obeyed the flip that is judged; only
	// what lies strictly after it counts. Zero when there was none.
	Mark time.Time
	// Unmarked says why it is not known yet when the flip that is judged was obeyed; then
	// nothing that was measured counts. "" when that is known, or nothing was flipped.
	Unmarked string
	// ByHand is the moment, on our clock, after which a reading by hand is one of what was
	// after the flip. Zero when there was none.
	ByHand time.Time
	// AlonePasses and AloneFails say whether a reading by hand of one person alone may let
	// a bound pass, or fail. Where it may not, the bound is unknown until another confirms it.
	AlonePasses, AloneFails bool
	// StaleAfter is the age at which the newest sample of a series is too old. Zero
	// allows no age at all.
	StaleAfter time.Duration
	// Latest is the newest sample that was seen by then, as in Freshness. Zero when none was.
	Latest time.Time
	// From and To are the numbers of the rung that is considered, "" without one.
	From, To string
	// Answer finds what this observation learned, or nil.
	Answer func(Ask) *Answer
	// Previous finds what the observation before learned, or nil. Callers that skip
	// repeated samples hand in the last observation that moved.
	Previous func(Ask) *Answer
	// Control gives a control's live value in the control's unit, durations in seconds.
	Control func(name string) (float64, bool)
	// Baseline gives the fixed start value of a probe that has one.
	Baseline func(probe string) (float64, bool)
	// Probe finds a probe of the runbook, or nil.
	Probe func(name string) *runbook.Probe

	mute bool // only the verdict is wanted
}

// Judge holds a gate against one observation. A gate fails when a group fails, is
// unknown when a group is unknown, and passes when all pass. The empty gate is unknown:
// nothing was measured.
func Judge(g runbook.Gate, s Situation) Judgement {
	var j Judgement
	j.Verdict = s.judgeGate(g, func(f Finding) { j.Findings = append(j.Findings, f) })
	return j
}

// Decide is the verdict of Judge, at less cost: nothing is put into words.
func Decide(g runbook.Gate, s Situation) Verdict {
	s.mute = true
	return s.judgeGate(g, func(Finding) {})
}

func (s *Situation) judgeGate(g runbook.Gate, found func(Finding)) Verdict {
	passed, failed := 0, 0
	for _, group := range g {
		verdicts := make([]Verdict, 0, 4) // few groups have more
		for _, b := range group {
			f := s.judgeOne(b)
			found(f)
			verdicts = append(verdicts, f.Verdict)
		}
		switch groupVerdict(verdicts) {
		case Pass:
			passed++
		case Fail:
			failed++
		}
	}
	switch {
	case failed > 0:
		return Fail
	case passed > 0 && passed == len(g):
		return Pass
	}
	return Unknown
}

// groupVerdict is pass when one bound passes, fail only when all fail.
func groupVerdict(verdicts []Verdict) Verdict {
	failed := 0
	for _, v := range verdicts {
		switch v {
		case Pass:
			return Pass
		case Fail:
			failed++
		}
	}
	if failed > 0 && failed == len(verdicts) {
		return Fail
	}
	return Unknown
}

// noAnswer are the reasons that no flip explains: nobody answered, or not as Prometheus does.
var noAnswer = []Reason{Transport, Malformed, Rejected, WrongType}

// JudgeBound holds one bound against one observation. As long as the mark is not known it
// says what keeps its probe from answering at all, as a Prometheus that is away, before it
// says that: the first is what a person can mend.
func JudgeBound(b runbook.Bound, s Situation) Finding { return s.judgeOne(b) }

func (s *Situation) judgeOne(b runbook.Bound) Finding {
	f, hands := s.judgeBound(b), s.hands(b)
	if !s.mute {
		if now, _ := s.look(s.probe(b.Probe)); now != nil {
			f.Source = now.Source
		}
	}
	switch {
	case len(hands) > 0:
		return s.byHand(f, hands)
	case s.Unmarked != "" && !slices.Contains(noAnswer, f.Reason):
		return s.unknown(Finding{Bound: f.Bound, Probe: f.Probe}, BeforeMark, s.Unmarked)
	}
	return f
}

func (s *Situation) judgeBound(b runbook.Bound) Finding {
	f := Finding{Probe: b.Probe}
	probe := s.probe(b.Probe)
	now, before := s.look(probe)
	if !s.mute {
		f.Bound = boundText(b)
	}
	if now != nil && !s.mute {
		f.Notes = notes(now)
	}
	if probe.EmptyPass && now != nil && now.Reason == NoData {
		return s.judgeEmpty(f, now, before)
	}
	if !probe.Baseline {
		if reason, detail := s.doubt(now, before); reason != "" {
			return s.unknown(f, reason, detail)
		}
	}
	if now == nil {
		return s.unknown(f, NoComparison, "its start value is not known yet")
	}
	if b.Series != 0 && now.Count != b.Series {
		return s.unknown(f, SeriesCount, seriesCountText(now.Count, b.Series))
	}
	if b.Op == runbook.Falling || b.Op == runbook.Rising {
		return s.judgeTrend(b, f, probe, now, before)
	}
	return s.judgeLevel(b, f, probe, now)
}

// probe finds a probe; one that the runbook does not have is only a name.
func (s *Situation) probe(name string) *runbook.Probe {
	if s.Probe != nil {
		if p := s.Probe(name); p != nil {
			return p
		}
	}
	return &runbook.Probe{Name: name}
}

// look finds the answers of this observation and the one before. A probe with a start
// value answers with that, for ever.
func (s *Situation) look(p *runbook.Probe) (now, before *Answer) {
	if p.Baseline {
		if s.Baseline == nil {
			return nil, nil
		}
		v, ok := s.Baseline(p.Name)
		if !ok || !finite(v) {
			return nil, nil
		}
		a := &Answer{}
		a.SetReadings([]Reading{NewReading("{}", v)})
		return a, nil
	}
	if s.Previous != nil {
		before = s.Previous(askFor(p, s.From, s.To))
	}
	return s.measured(p), before
}

// measured finds the answer of this observation, nil when there is none.
func (s *Situation) measured(p *runbook.Probe) *Answer {
	if s.Answer == nil {
		return nil
	}
	return s.Answer(askFor(p, s.From, s.To))
}

// doubt finds why an answer cannot be judged.
func (s *Situation) doubt(now, before *Answer) (Reason, string) {
	if reason, detail := unusable(now); reason != "" {
		return reason, detail
	}
	if now.Manual != nil {
		return s.beforeHand(now.Manual)
	}
	if reason, detail := stale(now, Freshness{s.StaleAfter, s.Latest}); reason != "" {
		return reason, detail
	}
	return s.beforeMark(now, before)
}

// unusable finds what is wrong with an answer as such.
func unusable(a *Answer) (Reason, string) {
	if a == nil {
		return NotAsked, ""
	}
	if a.Reason != "" {
		return a.Reason, a.Detail
	}
	if reason, detail := warned(a.Warnings); reason != "" {
		return reason, detail
	}
	if a.Count == 0 || len(a.Readings) == 0 {
		return NoData, ""
	}
	if a.Max.Raw != "" { // then all are finite
		return "", ""
	}
	switch first := slices.MinFunc(a.Readings, compareReadings); {
	case math.IsNaN(first.Value):
		return NotANumber, "NaN in " + first.Series
	case math.IsInf(first.Value, 0):
		return Infinite, first.Raw + " in " + first.Series
	}
	return "", ""
}

// Freshness is what the age of samples is held against. A clock of Prometheus that was set back asks
// for moments before the newest sample that it has given, at which samples from long ago look new:
// until it is there again, their age counts from that sample.
type Freshness struct {
	StaleAfter time.Duration
	Latest     time.Time // the newest sample that was seen, zero when none was
}

func stale(a *Answer, f Freshness) (Reason, string) {
	if a.Stalest.IsZero() {
		return Stale, "no series behind it has a current sample"
	}
	limit := ", more than the " + spanText(f.StaleAfter) + " of stale_after"
	if age := a.At.Sub(a.Stalest); age > f.StaleAfter {
		return Stale, "the newest sample of a series is " + spanText(age) + " old" + limit
	}
	if behind := f.Latest.Sub(a.Stalest); a.At.Before(f.Latest) && behind > f.StaleAfter {
		return Stale, "the clock of prometheus was set back: a sample was seen already that is " + spanText(behind) +
			" newer than this one" + limit
	}
	return "", ""
}

// beforeMark wants every window to lie wholly after the mark. The sample of an instant
// selector must have done so in the observation before too: a scrape may land between
// the question for a value and the question for its age.
func (s *Situation) beforeMark(now, before *Answer) (Reason, string) {
	mark := s.Mark
	switch {
	case s.Unmarked != "":
		return BeforeMark, s.Unmarked
	case mark.IsZero():
		return "", ""
	case !now.At.After(mark):
		return BeforeMark, "it was asked before the flip was obeyed at " + momentText(mark)
	case !now.WindowStart.IsZero() && !now.WindowStart.After(mark):
		return BeforeMark, "it still looks back to " + momentText(now.WindowStart) + ", and the flip was obeyed at " +
			momentText(mark)
	case now.Oldest.IsZero():
		return "", ""
	case !now.Oldest.After(mark):
		return BeforeMark, "it rests on a sample of " + momentText(now.Oldest) + ", and the flip was obeyed at " +
			momentText(mark)
	case before == nil || !before.Oldest.After(mark):
		return BeforeMark, "its samples are from after the flip for the first time, the next observation counts"
	}
	return "", ""
}

// judgeEmpty passes a probe that the runbook lets pass without series.
func (s *Situation) judgeEmpty(f Finding, now, before *Answer) Finding {
	if reason, detail := warned(now.Warnings); reason != "" {
		return s.unknown(f, reason, detail)
	}
	if reason, detail := s.beforeMark(now, before); reason != "" {
		return s.unknown(f, reason, detail)
	}
	f.Verdict = Pass
	f.Sentence = f.Probe + " has no series, which passes by `empty: pass`"
	return f
}

// judgeLevel compares every series with the operand and names the one that decides.
func (s *Situation) judgeLevel(b runbook.Bound, f Finding, probe *runbook.Probe, now *Answer) Finding {
	low, reason, detail := s.level(b.Operand)
	if reason != "" {
		return s.unknown(f, reason, detail)
	}
	high := low
	if b.Op == runbook.Between {
		if high, reason, detail = s.level(b.High); reason != "" {
			return s.unknown(f, reason, detail)
		}
	}
	miss := func(r Reading) float64 { return missBy(b.Op, r.Value, low.value, high.value) }
	decides := deciding(now.Readings, miss, b.Any)
	ok := holds(b.Op, decides.Value, low.value, high.value)
	middle := b.Op == runbook.Equals || b.Op == runbook.Between
	if b.Any && !ok && middle && now.Count > len(now.Readings) {
		return s.unknown(f, SeriesCount, "only the lowest and highest of its series were kept, one between them may hold")
	}
	f.Verdict = verdictOf(ok)
	if !s.mute {
		f.Value, f.Series = quantityText(decides.Value, probe.Unit), decides.Series
		f.Sentence = levelSentence(b, probe, now, decides, ok, low, high)
	}
	return f
}

func verdictOf(ok bool) Verdict {
	if ok {
		return Pass
	}
	return Fail
}

// missBy says how far a value lies on the wrong side of a bound; what is right is
// negative, or zero on the edge.
func missBy(op runbook.Op, v, low, high float64) float64 {
	switch op {
	case runbook.AtMost, runbook.Below:
		return v - low
	case runbook.AtLeast, runbook.Above:
		return low - v
	case runbook.Between:
		return math.Max(low-v, v-high)
	default:
		return math.Abs(v - low)
	}
}

// holds compares; no comparison holds for NaN, and an infinity never gets here.
func holds(op runbook.Op, v, low, high float64) bool {
	switch op {
	case runbook.Above:
		return v > low
	case runbook.AtLeast:
		return v >= low
	case runbook.Below:
		return v < low
	case runbook.AtMost:
		return v <= low
	case runbook.Equals:
		return v == low
	case runbook.Between:
		return v >= low && v <= high
	}
	return false
}

// deciding finds the reading on which the verdict turns: the worst, or the best when
// any series is enough. Ties go to the first by name, whatever the order was.
func deciding(readings []Reading, miss func(Reading) float64, best bool) Reading {
	chosen := readings[0]
	for _, r := range readings[1:] {
		m, c := miss(r), miss(chosen)
		if best {
			m, c = -m, -c
		}
		if m > c || m == c && r.Series < chosen.Series {
			chosen = r
		}
	}
	return chosen
}

// level is a number to compare with, and where it came from.
type level struct {
	value  float64
	source string // "" for a plain number
}

func (s *Situation) level(o runbook.Operand) (level, Reason, string) {
	switch {
	case o.Control != "":
		return s.controlLevel(o.Control)
	case o.Probe != "":
		return s.probeLevel(o.Probe)
	case !finite(o.Number):
		return level{}, NoComparison, "the number to compare with is " + formatSample(o.Number)
	}
	return level{value: o.Number}, "", ""
}

func (s *Situation) controlLevel(name string) (level, Reason, string) {
	if s.Control == nil {
		return level{}, NoComparison, "the live value of control " + name + " is not known"
	}
	v, ok := s.Control(name)
	switch {
	case !ok:
		return level{}, NoComparison, "the live value of control " + name + " is not known"
	case !finite(v):
		return level{}, NoComparison, "control " + name + " has no limit to compare with"
	}
	return level{v, "control " + name}, "", ""
}

func (s *Situation) probeLevel(name string) (level, Reason, string) {
	p := s.probe(name)
	now, before := s.look(p)
	if p.Baseline {
		if now == nil {
			return level{}, NoComparison, "the start value of " + name + " is not known yet"
		}
		return level{now.Min.Value, name}, "", ""
	}
	if reason, detail := s.doubt(now, before); reason != "" {
		return level{}, reason, "compared with " + name + ", which is unknown: " + reason.explain(detail)
	}
	if now.Count != 1 {
		return level{}, SeriesCount, "compared with " + name + ": " + seriesCountText(now.Count, 1)
	}
	return level{now.Readings[0].Value, name}, "", ""
}

package steps

import (
	"strconv"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Watch is a gate that is being watched: which bounds, how often, how many passes in
// a row, and since when the samples behind it count.
type Watch struct {
	ID         string // "when STEP", "expect STEP", "undo_if STEP", "exit", or the guard's name
	Gate       runbook.Gate
	Every      time.Duration
	Passes     int
	StaleAfter time.Duration
	Marked     bool      // only what lies after Mark counts
	Mark       time.Time // zero while it is not known yet: then nothing counts
	From, To   string    // the numbers of the rung or lift being considered
}

type trackKey struct {
	id       string
	mark     int64
	from, to string
}

// track counts what one watch saw. It is derived from the polls alone; it is kept so
// that each gate judges each poll once.
type track struct {
	next    int // the next poll to judge, counted over the whole run
	passes  int // in a row, up to the latest poll
	fails   int
	unknown int
	since   time.Time // our clock: when the present row of passes, fails or unknowns began
	seen    bool
	last    probes.Judgement
	counted *poll // the last observation that counted
	before  *poll // the last observation: a poll with all answers and new samples
	earlier *poll // the one before it
}

// track brings the count of a watch up to the latest poll.
func (s *State) track(w Watch) *track {
	key := trackKey{id: w.ID, from: w.From, to: w.To}
	if w.Marked {
		key.mark = w.Mark.UnixNano()
	}
	t := s.tracks[key]
	if t == nil {
		t = &track{next: s.pollBase}
		s.tracks[key] = t
	}
	asks := probes.Asks(s.Doc, w.Gate, w.From, w.To)
	for t.next = max(t.next, s.pollBase); t.next < s.pollBase+len(s.polls); t.next++ {
		s.count(t, w, asks, s.polls[t.next-s.pollBase])
	}
	return t
}

// count takes one poll into a track: the same samples seen twice are one observation,
// and passes closer together than the watch's distance are one pass.
func (s *State) count(t *track, w Watch, asks []probes.Ask, p *poll) {
	if !p.has(asks) {
		return
	}
	same, before := t.before != nil && !moved(asks, p, t.before), t.before
	if same {
		before = t.earlier
	}
	j := s.judge(w, p, before)
	if same && j.Verdict == t.last.Verdict {
		return
	}
	changed := !t.seen || j.Verdict != t.last.Verdict
	if changed {
		t.since = p.seenAt
	}
	if !same {
		t.earlier, t.before = t.before, p
	}
	t.seen, t.last = true, j
	if near := t.counted != nil && p.at.Sub(t.counted.at) < w.Every*9/10; near && !changed {
		return
	}
	t.add(j.Verdict)
	t.counted = p
}

func moved(asks []probes.Ask, now, before *poll) bool {
	for _, ask := range asks {
		if b := before.answers[ask]; b != nil && !probes.Moved(now.answers[ask], b) {
			return false
		}
	}
	return true
}

func (t *track) add(v probes.Verdict) {
	passes, fails, unknown := t.passes, t.fails, t.unknown
	t.passes, t.fails, t.unknown = 0, 0, 0
	switch v {
	case probes.Pass:
		t.passes = passes + 1
	case probes.Fail:
		t.fails = fails + 1
	default:
		t.unknown = unknown + 1
	}
}

// judge gives the verdict of a watch on one poll; before is the poll before it.
func (s *State) judge(w Watch, p, before *poll) probes.Judgement {
	if w.Marked && w.Mark.IsZero() {
		return notObeyedYet(w.Gate)
	}
	previous := func(probes.Ask) *probes.Answer { return nil }
	if before != nil {
		previous = func(a probes.Ask) *probes.Answer { return before.answers[a] }
	}
	situation := probes.Situation{
		StaleAfter: w.StaleAfter, From: w.From, To: w.To,
		Answer:   func(a probes.Ask) *probes.Answer { return p.answers[a] },
		Previous: previous,
		Control:  s.controlNumber,
		Baseline: func(name string) (float64, bool) { v, ok := s.baselines[name]; return v, ok },
		Probe:    s.Doc.Probe,
	}
	if w.Marked {
		situation.Mark = w.Mark
	}
	return probes.Judge(w.Gate, situation)
}

// notObeyedYet is the judgement on a gate whose mark is not known yet.
func notObeyedYet(gate runbook.Gate) probes.Judgement {
	var j probes.Judgement
	for _, group := range gate {
		for _, b := range group {
			j.Findings = append(j.Findings, probes.Finding{Bound: b.String(), Probe: b.Probe, Reason: probes.BeforeMark,
				Sentence: b.Probe + ": the service has not reported yet that it obeys the last flip"})
		}
	}
	return j
}

// controlNumber gives the live value of a control for a bound that compares with it.
func (s *State) controlNumber(name string) (float64, bool) {
	c := s.Doc.Control(name)
	if c == nil || !c.Kind.Numeric() {
		return 0, false
	}
	value, ok := s.live(c)
	if !ok || value.Unlimited {
		return 0, false
	}
	return value.Number, true
}

// whenWatch is the gate before a flip. A release counts only what happened after the
// run's latest flip; a protecting step has no mark.
func (s *State) whenWatch(step *runbook.Step, from, to string) Watch {
	w := s.watch(step, "when "+step.Name, step.When)
	w.From, w.To = from, to
	if flip := s.latestFlip(); flip != nil && !step.Stage.Protects() {
		w.Marked, w.Mark = true, flip.Mark
	}
	return w
}

// afterWatch is a gate that judges a step's own flip.
func (s *State) afterWatch(step *runbook.Step, kind string, gate runbook.Gate, flip *FlipState) Watch {
	w := s.watch(step, kind+" "+step.Name, gate)
	w.Marked = true
	if flip != nil {
		w.Mark = flip.Mark
		w.From, w.To = flip.Target.From, flip.Target.To
	}
	return w
}

func (s *State) watch(step *runbook.Step, id string, gate runbook.Gate) Watch {
	return Watch{ID: id, Gate: gate, Every: step.Timing.Every, Passes: step.Timing.Passes, StaleAfter: step.Timing.StaleAfter}
}

func (s *State) guardWatch(g *runbook.Guard) Watch {
	d := s.Doc.Defaults
	return Watch{ID: g.Name, Gate: runbook.Gate{{g.Bound}}, Every: d.Every, Passes: g.Passes, StaleAfter: d.StaleAfter}
}

// exitWatch is the exit; its mark is the run's latest flip.
func (s *State) exitWatch() Watch {
	d := s.Doc.Defaults
	w := Watch{ID: "exit", Gate: s.Doc.Exit.When, Every: d.Every, Passes: 1, StaleAfter: d.StaleAfter, Marked: true}
	if flip := s.latestFlip(); flip != nil {
		w.Mark = flip.Mark
	}
	return w
}

// flipOf gives the settled flip whose effect a step's expectation judges.
func (s *State) flipOf(step *runbook.Step) *FlipState {
	for i := len(s.flips) - 1; i >= 0; i-- {
		f := s.flips[i]
		own := f.Target.Purpose == PurposeFlip || f.Target.Purpose == PurposeHarder || f.Target.Purpose == PurposeRestore
		if f.Target.Step == step.Name && own && !f.Undone && !f.Idled {
			return f
		}
	}
	return nil
}

// exitTrack follows the exit's intervals, which do not overlap.
type exitTrack struct {
	next      int
	before    *poll
	last      probes.Judgement
	since     time.Time // evaluation time of the first observation of the first interval
	held      time.Time // end of the last interval, once all have held
	passesNow bool
}

// followExit brings the exit up to the latest poll.
func (s *State) followExit() *exitTrack {
	w, x := s.exitWatch(), &s.exit
	asks := probes.Asks(s.Doc, w.Gate, "", "")
	for x.next = max(x.next, s.pollBase); x.next < s.pollBase+len(s.polls); x.next++ {
		p := s.polls[x.next-s.pollBase]
		if p.has(asks) {
			s.countExit(x, w, p)
		}
	}
	return x
}

func (p *poll) has(asks []probes.Ask) bool {
	for _, ask := range asks {
		if p.answers[ask] == nil {
			return false
		}
	}
	return true
}

// countExit takes one observation: an interval holds when every observation in it
// passes; else a new first one starts.
func (s *State) countExit(x *exitTrack, w Watch, p *poll) {
	x.last = s.judge(w, p, x.before)
	x.before = p
	x.passesNow = x.last.Verdict == probes.Pass
	if !x.passesNow {
		x.since = time.Time{}
		return
	}
	if x.since.IsZero() {
		x.since = p.at
	}
	length := time.Duration(s.Doc.Exit.Intervals) * s.Doc.Exit.Interval
	if end := x.since.Add(length); x.held.IsZero() && !p.at.Before(end) {
		x.held = end
	}
}

// counting reports whether the exit passes and its intervals have not ended yet: a
// lift now would start them again.
func (x *exitTrack) counting() bool { return x.held.IsZero() && !x.since.IsZero() }

// targetFor gives the target of one flip with what it comes from and goes to.
func targetFor(step string, purpose Purpose, c *runbook.Control, from runbook.Value, to *runbook.Value) Target {
	t := Target{Step: step, Purpose: purpose, Control: c.Name}
	if to == nil {
		t.Delete = true
	} else {
		t.To = actions.Encode(*to)
	}
	if c.Kind.Numeric() && !from.Unlimited {
		t.From = strconv.FormatFloat(from.Number, 'f', -1, 64)
	}
	return t
}

package steps

import (
	"slices"
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
	First      int       // the first poll that counts, over the whole run
	From, To   string    // the numbers of the rung or lift being considered
	ByHand     time.Time // after the flip, by our clock: only what is given by hand after it counts
	// What a reading by hand of one person alone may do here; see alone.
	AlonePasses, AloneFails bool
}

// trackKey says which polls a track counts, and for which rung.
type trackKey struct {
	marked   bool
	mark     time.Time
	first    int
	from, to string
	byHand   time.Time
}

func (w *Watch) key() trackKey {
	return trackKey{w.Marked, w.Mark, w.First, w.From, w.To, w.ByHand}
}

// track counts what one watch saw. It is derived from the polls alone; it is kept so
// that each gate judges each poll once. There is one for each gate: what an earlier
// flip or rung made of it no longer matters.
type track struct {
	key     trackKey
	asks    []probes.Ask
	next    int // the next poll to judge, counted over the whole run
	passes  int // in a row, up to the latest poll
	fails   int
	unknown int
	since   *poll // with which the present row of passes, fails or unknowns began
	last    ruling
	counted *poll // the last observation that counted
	latest  *poll // the last poll that was judged
	before  *poll // the last observation: a poll with all answers and new samples
	earlier *poll // the one before it
}

// seen reports whether the watch has judged anything.
func (t *track) seen() bool { return t.since != nil }

// sinceWhen is when the present row began, on our clock.
func (t *track) sinceWhen() time.Time {
	if t.since == nil {
		return time.Time{}
	}
	return t.since.seenAt
}

// track brings the count of a watch up to the latest poll.
func (s *State) track(w Watch) *track {
	t := s.tracks[w.ID]
	if t == nil || t.key != w.key() {
		t = s.newTrack(w)
		s.tracks[w.ID] = t
	}
	for t.next = max(t.next, s.pollBase); t.next < s.polled(); t.next++ {
		if p := s.polls[t.next-s.pollBase]; w.unmarked() {
			s.await(t, w, p)
		} else {
			s.count(t, w, p)
		}
	}
	return t
}

// unmarked reports whether the watch waits for its mark.
func (w *Watch) unmarked() bool { return w.Marked && w.Mark.IsZero() }

// await takes one poll into a gate that waits for its mark: nothing that was measured counts
// yet, but what keeps its probes from answering is worth knowing, and what is given by hand
// counts.
func (s *State) await(t *track, w Watch, p *poll) {
	switch {
	case !p.has(t.asks):
	case t.seen() || p.byHand(t.asks):
		s.count(t, w, p)
	default:
		t.latest, t.last = p, s.rule(w, p, nil)
	}
}

func (s *State) newTrack(w Watch) *track {
	t := &track{key: w.key(), asks: s.asks(w), next: max(s.pollBase, w.First)}
	if w.Marked {
		t.last = ruled(notObeyedYet(w))
	}
	if w.unmarked() {
		return t
	}
	for i := min(t.next-s.pollBase, len(s.polls)) - 1; i >= 0 && t.before == nil; i-- {
		if p := s.polls[i]; p.has(t.asks) && (!w.Marked || p.at.After(w.Mark)) {
			t.before = p
		}
	}
	return t
}

// asks lists what a watch asks. A start value that is fixed is not asked again.
func (s *State) asks(w Watch) []probes.Ask {
	return slices.DeleteFunc(probes.Asks(s.Doc, w.Gate, w.From, w.To), s.isFixed)
}

func (s *State) isFixed(ask probes.Ask) bool {
	_, fixed := s.baselines[ask.Probe]
	return fixed
}

// count takes one poll into a track: the same samples seen twice are one observation,
// and passes closer together than the watch's distance are one pass. A poll from before
// the mark says nothing, unless later ones were seen already: then the clock of Prometheus
// was set back, and what has passed until then is not known to pass any more. A poll from
// before the one that was judged last is compared with nothing, and the distance to the next
// pass counts from it.
func (s *State) count(t *track, w Watch, p *poll) {
	if !p.has(t.asks) || w.Marked && !p.at.After(w.Mark) && !t.seen() {
		return
	}
	if t.latest != nil && p.at.Before(t.latest.at) {
		t.earlier, t.before, t.counted = nil, nil, p
	}
	t.latest = p
	same, before := t.before != nil && !moved(t.asks, p, t.before), t.before
	if same {
		before = t.earlier
	}
	j := s.rule(w, p, before)
	if same && t.seen() && j.Verdict == t.last.Verdict {
		return
	}
	changed := !t.seen() || j.Verdict != t.last.Verdict
	if changed {
		t.since = p
	}
	if !same {
		t.earlier, t.before = t.before, p
	}
	t.last = j
	if near := t.counted != nil && p.at.Sub(t.counted.at) < w.Every*9/10; near && !changed {
		return
	}
	t.add(j.Verdict)
	t.counted = p
}

func moved(asks []probes.Ask, now, before *poll) bool {
	for _, ask := range asks {
		if b := before.answer(ask); b != nil && !probes.Moved(now.answer(ask), b) {
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

// rule gives the verdict of a watch on one poll; before is the poll before it. It
// looks at nothing but the two, so it gives the same whenever it is asked.
func (s *State) rule(w Watch, p, before *poll) ruling {
	r := ruling{watch: w, doc: s.Doc, poll: p, before: before}
	r.Verdict = probes.Decide(w.Gate, r.situation())
	return r
}

// judge is rule in words.
func (s *State) judge(w Watch, p, before *poll) probes.Judgement {
	r := s.rule(w, p, before)
	return r.judgement()
}

// ruling is the verdict on a gate, put into words when somebody wants to read them: most of a log is folded for what
// comes of its verdicts alone. The polls that it is about do not change any more.
type ruling struct {
	Verdict probes.Verdict
	watch   Watch
	doc     *runbook.Document
	poll    *poll // nil for one that is in words
	before  *poll
	words   probes.Judgement
}

func ruled(j probes.Judgement) ruling { return ruling{Verdict: j.Verdict, words: j} }

// judgement gives a ruling in words.
func (r *ruling) judgement() probes.Judgement {
	if r.poll != nil {
		*r = ruled(probes.Judge(r.watch.Gate, r.situation()))
	}
	return r.words
}

// situation is what a ruling is judged by.
func (r *ruling) situation() probes.Situation {
	w, p, before := &r.watch, r.poll, r.before
	s := probes.Situation{
		StaleAfter: w.StaleAfter, Latest: p.latest, From: w.From, To: w.To,
		AlonePasses: w.AlonePasses, AloneFails: w.AloneFails,
		Answer:   p.answer,
		Control:  func(name string) (float64, bool) { v, ok := p.numbers[name]; return v, ok },
		Baseline: func(name string) (float64, bool) { v, ok := p.baselines[name]; return v, ok },
		Probe:    r.doc.Probe,
	}
	if before != nil {
		s.Previous = before.answer
	}
	if w.Marked {
		s.Mark, s.ByHand = w.Mark, w.ByHand
		if w.Mark.IsZero() {
			s.Unmarked = notObeyed
		}
	}
	return s
}

// notObeyed is why nothing that was measured counts while a flip has no mark.
const notObeyed = "the service has not reported yet that it obeys the last flip"

// notObeyedYet is the judgement on a gate as long as nothing from after its mark was
// observed.
func notObeyedYet(w Watch) probes.Judgement {
	why := notObeyed
	if !w.Mark.IsZero() {
		why = "nothing was observed yet from after " + w.Mark.UTC().Format("15:04:05.000") + ", when the last flip was obeyed"
	}
	var j probes.Judgement
	for _, group := range w.Gate {
		for _, b := range group {
			j.Findings = append(j.Findings, probes.Finding{Bound: b.String(), Probe: b.Probe, Reason: probes.BeforeMark,
				Sentence: b.Probe + " unknown: " + why})
		}
	}
	return j
}

// liveNumbers gives the live value of every control that is known and has a number:
// what bounds that name a control compare with.
func (s *State) liveNumbers() map[string]float64 {
	numbers := map[string]float64{}
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		if value, ok := s.live(c); ok && c.Kind.Numeric() && !value.Unlimited {
			numbers[c.Name] = value.Number
		}
	}
	return numbers
}

// whenWatch is the gate before a flip. A release counts only what happened after the
// run's latest flip, and no observation before the one that cleared the last owed
// expectation; a protecting step has no mark.
func (s *State) whenWatch(step *runbook.Step, from, to string) Watch {
	w := s.watch(step, "when "+step.Name, step.When)
	w.From, w.To = from, to
	if step.Stage.Protects() {
		w.AlonePasses, w.AloneFails = true, true
		return w
	}
	w.after(s, s.latestFlip())
	w.AloneFails, w.First = true, max(w.First, s.clearPoll)
	return w
}

// after has a gate count what happened after a flip, if there was one.
func (w *Watch) after(s *State, flip *FlipState) {
	if flip == nil {
		return
	}
	w.Marked, w.Mark, w.First = true, flip.Mark, max(w.First, flip.polls)
	w.ByHand = later(flip.At.Add(flip.Settle), flip.Mark.Add(-s.offset))
}

// afterWatch is a gate that judges a step's own flip.
func (s *State) afterWatch(step *runbook.Step, kind string, gate runbook.Gate, flip *FlipState) Watch {
	w := s.watch(step, kind+" "+step.Name, gate)
	w.Marked = true
	w.after(s, flip)
	if flip != nil {
		w.From, w.To = flip.Target.From, flip.Target.To
	}
	if flip != nil && kind == "undo_if" && !flip.stood.mark.IsZero() {
		w.Mark, w.First = flip.stood.mark, flip.stood.polls
	}
	w.alone(step, kind, flip)
	return w
}

// alone says what a reading by hand of one person alone may do: whatever holds back or
// protects. What lifts something takes two: that a release is met, and that a protection
// is undone.
func (w *Watch) alone(step *runbook.Step, kind string, flip *FlipState) {
	protects := step.Stage.Protects() || flip != nil && flip.Plan.Direction == runbook.Protecting
	switch {
	case kind == "undo_if":
		w.AlonePasses = !protects
	case protects:
		w.AlonePasses, w.AloneFails = true, step.Otherwise != runbook.Undo
	default:
		w.AloneFails = true
	}
}

func (s *State) watch(step *runbook.Step, id string, gate runbook.Gate) Watch {
	return Watch{ID: id, Gate: gate, Every: step.Timing.Every, Passes: step.Timing.Passes, StaleAfter: step.Timing.StaleAfter}
}

func (s *State) guardWatch(g *runbook.Guard) Watch {
	d := s.Doc.Defaults
	return Watch{ID: g.Name, Gate: s.guardGates[g.Name], Every: d.Every, Passes: g.Passes, StaleAfter: d.StaleAfter, AloneFails: true}
}

const exitID = "exit"

// exitWatch is the exit; its mark is the run's latest flip, if there was one.
func (s *State) exitWatch() Watch {
	d := s.Doc.Defaults
	w := Watch{ID: exitID, Gate: s.Doc.Exit.When, Every: d.Every, Passes: 1, StaleAfter: d.StaleAfter, AloneFails: true}
	w.after(s, s.latestFlip())
	return w
}

// flipOf gives the settled flip, or the call, whose effect a step's expectation judges.
func (s *State) flipOf(step *runbook.Step) *FlipState {
	hand := s.Step(step.Name).ByHand
	for i := len(s.flips) - 1; i >= 0; i-- {
		f := s.flips[i]
		own := f.Target.Purpose == PurposeFlip || f.Target.Purpose == PurposeHarder || f.Target.Purpose == PurposeRestore
		if hand != nil && !f.At.After(hand.At) {
			break
		}
		if f.Target.Step == step.Name && own && !f.Undone && !f.Idled {
			return f
		}
	}
	return s.Step(step.Name).Acted
}

// exitTrack follows the exit's intervals, which do not overlap.
type exitTrack struct {
	next      int
	asks      []probes.Ask
	earlier   *poll // the observation before that
	before    *poll
	latest    *poll
	last      ruling
	since     time.Time // evaluation time of the first observation of the first interval
	held      time.Time // end of the last interval, once all have held
	passesNow bool
	green     int            // the poll with which the present row of passes began, counted over the whole run
	known     probes.Verdict // the last that was measured: unknown does not change it
	knownAt   time.Time      // since when, on our clock
}

// anew lets the intervals start again.
func (x *exitTrack) anew() {
	x.earlier, x.before, x.since, x.passesNow = nil, nil, time.Time{}, false
}

// track is the exit as the gates of steps are tracked.
func (x *exitTrack) track() *track {
	return &track{asks: x.asks, last: x.last, earlier: x.earlier, before: x.before}
}

// followExit brings the exit up to the latest poll.
func (s *State) followExit() *exitTrack {
	x := &s.exit
	if x.next >= s.polled() {
		return x
	}
	w := s.exitWatch()
	s.exitAsks(w)
	for x.next = max(x.next, s.pollBase); x.next < s.polled(); x.next++ {
		if p := s.polls[x.next-s.pollBase]; p.has(x.asks) {
			s.countExit(x, w, p)
		}
	}
	return x
}

func (s *State) exitAsks(w Watch) []probes.Ask {
	if s.exit.asks == nil {
		s.exit.asks = s.asks(w)
	}
	return s.exit.asks
}

func (p *poll) has(asks []probes.Ask) bool {
	for _, ask := range asks {
		if p.answer(ask) == nil {
			return false
		}
	}
	return true
}

// countExit takes one observation: an interval holds when every observation in it
// passes; else a new first one starts, as it does after a gap in which an interval
// went by unobserved.
func (s *State) countExit(x *exitTrack, w Watch, p *poll) {
	gap := x.before != nil && p.at.Sub(x.before.at) > s.Doc.Exit.Interval
	x.last = s.rule(w, p, x.before)
	x.earlier, x.before, x.latest = x.before, p, p
	passed := x.passesNow
	x.passesNow = x.last.Verdict == probes.Pass
	if x.passesNow && !passed {
		x.green = p.index
	}
	if x.last.Verdict != probes.Unknown && x.last.Verdict != x.known {
		x.known, x.knownAt = x.last.Verdict, p.seenAt
	}
	if setBack := p.at.Before(x.since); !x.passesNow || gap || setBack {
		x.since = time.Time{}
	}
	if !x.passesNow {
		return
	}
	if x.since.IsZero() {
		x.since = p.at
	}
	if end := x.since.Add(exitLength(s.Doc)); x.held.IsZero() && !p.at.Before(end) {
		x.held = end
	}
}

func exitLength(doc *runbook.Document) time.Duration {
	return time.Duration(doc.Exit.Intervals) * doc.Exit.Interval
}

// counting reports whether the exit passes and its intervals have not ended yet: a
// lift now would start them again.
func (x *exitTrack) counting() bool { return x.held.IsZero() && !x.since.IsZero() }

// early reports whether nothing stands against the exit but that it still looks at what
// was before the last flip.
func (x *exitTrack) early() bool {
	return x.latest != nil && !x.passesNow && onlyEarly(x.last.judgement().Findings)
}

// onlyEarly reports whether nothing was found that does not pass but what still looks at what was before a flip.
func onlyEarly(findings []probes.Finding) bool {
	for _, f := range findings {
		if f.Verdict != probes.Pass && f.Reason != probes.BeforeMark {
			return false
		}
	}
	return true
}

// targetFor gives the target of one flip with what it comes from, if that is known,
// and goes to.
func targetFor(step string, purpose Purpose, c *runbook.Control, from runbook.Value, to *runbook.Value) Target {
	t := Target{Step: step, Purpose: purpose, Control: c.Name, From: numberText(from)}
	if to == nil {
		t.Delete = true
	} else {
		t.To = actions.Encode(*to)
	}
	return t
}

// numberText writes the number of a value in plain decimals, "" when it has none.
func numberText(v runbook.Value) string {
	if !v.Kind.Numeric() || v.Unlimited {
		return ""
	}
	return strconv.FormatFloat(v.Number, 'f', -1, 64)
}

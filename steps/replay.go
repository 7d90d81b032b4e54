package steps

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Replay follows the records of a run and judges the gates of a runbook, mostly another one, by what the run
// observed: with the same counts, marks and clocks, and under the bounds, passes and ages of that runbook. Each
// gate is judged alone, along the run as it really went.
type Replay struct {
	doc   *runbook.Document
	s     *State // the run as it was
	turns []*turn
	open  map[string]*turn // by the gate's name: what is watched, or was last

	tracks map[string]*track
	exit   exitTrack
	guards map[string]runbook.Gate
	fixed  int // start values that were fixed already
}

// Passing is when a gate passed; for a guard when it was breached. The zero Passing is never.
type Passing struct {
	At  time.Time // evaluation time of the observation, on the clock of Prometheus
	Seq uint64    // of the record behind which it was so
	T   int64     // run time of that record, in milliseconds
}

// Never reports whether the gate did not pass.
func (p Passing) Never() bool { return p.At.IsZero() }

// Replayed is one gate in one of its turns: from when it was watched until what it led to.
type Replayed struct {
	Gate     string // as in [Watch]
	From, To string // of the rung or lift, "" without one
	Began    Passing
	Recorded Passing // as the run judged it
	Would    Passing // by the other runbook
	// After is true when Would rests on readings from after what the recorded gate led to.
	After bool
	// RecordedVerdict and WouldVerdict are of a gate that is judged once: the when of a protecting step.
	RecordedVerdict, WouldVerdict string
	// Unanswered is why the gate cannot be judged by what the run observed, "" when it can.
	Unanswered string
	// Findings are what the other runbook says of the observation by which the gate passed in the run or,
	// where it would have passed earlier, of the earlier one; Passes is how many had passed in a row then, of the
	// Needed.
	Findings       []probes.Finding
	Passes, Needed int
}

// turn is a Replayed that is still being judged.
type turn struct {
	Replayed
	watch  Watch    // of the other runbook
	epoch  trackKey // of the run's own watch
	led    bool     // the records say what it has led to
	polls  int      // observations meanwhile
	judged bool     // the run has judged it by some observation
	asked  bool     // some observation could answer it
	lacked string   // a probe that was not asked
}

// NewReplay begins a replay under a runbook, before the first record.
func NewReplay(doc *runbook.Document) *Replay {
	r := &Replay{doc: doc, open: map[string]*turn{}, tracks: map[string]*track{}, guards: map[string]runbook.Gate{}}
	for _, g := range doc.Guards {
		r.guards[g.Name] = runbook.Gate{{g.Bound}}
	}
	return r
}

// Follow takes the next record. The body is what DecodeBody makes of it.
func (r *Replay) Follow(record audit.Record, body any) (err error) {
	if r.s, err = Follow(r.s, record, body); err != nil {
		return err
	}
	switch b := body.(type) {
	case *Resumed:
		r.tracks = map[string]*track{}
		r.exit.anew()
		maps.DeleteFunc(r.open, func(_ string, t *turn) bool { return t.watch.ID != "" })
	case *Observed:
		if b.More {
			return nil
		}
		r.fixAsks()
	case *Judged:
		r.once(record, b.Gate, b.Verdict)
		r.leads(b.Gate)
	case *Skipped:
		if len(b.Findings) > 0 {
			r.once(record, "when "+b.Step, probes.Fail.String())
		}
	case *StepBody:
		if step := r.s.Doc.Step(b.Step); b.State == StepDone && step != nil && step.Flip == nil && step.Restore == nil &&
			step.Call == nil {
			r.leads("when " + b.Step) // a gate alone
		}
	case *Settled:
		if b.Result == ResultApplied || b.Result == ResultNothing {
			r.leads("when " + b.Target.Step)
		}
	case *Recovered:
		r.one(exitID, Passing{}).Recorded = Passing{b.RecoveredAt, record.Seq, record.T}
	case *Guarded:
		r.guarded(record, b)
	}
	r.look(record)
	return nil
}

// shadow is the run as the other runbook would look at it. It shares everything but the tracks.
func (r *Replay) shadow() *State {
	s := *r.s
	s.Doc, s.tracks, s.exit, s.guardGates = r.doc, r.tracks, r.exit, r.guards
	return &s
}

// fixAsks leaves out of what gates ask the start values that are fixed now, as the run does.
func (r *Replay) fixAsks() {
	if len(r.s.baselines) == r.fixed {
		return
	}
	r.fixed = len(r.s.baselines)
	for _, t := range r.tracks {
		t.asks = slices.DeleteFunc(t.asks, r.s.isFixed)
	}
	r.exit.asks = nil
}

// look judges every gate behind a record.
func (r *Replay) look(record audit.Record) {
	if len(r.s.polls) == 0 {
		return
	}
	latest := r.s.polls[len(r.s.polls)-1]
	now := Passing{latest.at, record.Seq, record.T}
	shadow := r.shadow()
	watched := map[string]bool{}
	for _, w := range r.s.watches() {
		kind, step := r.ofStep(w.ID)
		if step == nil || kind == "when" && step.Stage.Protects() {
			continue
		}
		t := r.turnOf(w, now)
		if watched[w.ID] = true; record.Kind == KindObserved {
			t.polls++
		}
		r.judge(shadow, t, w, now)
	}
	for id, t := range r.open {
		if !watched[id] && t.watch.ID != "" {
			r.goOn(shadow, t, now)
		}
	}
	r.breaches(shadow, now)
	r.recovers(shadow, now)
	r.exit = shadow.exit
}

// ofStep takes the name of a step's gate apart; nil for a guard and the exit.
func (r *Replay) ofStep(gate string) (kind string, step *runbook.Step) {
	kind, name, _ := strings.Cut(gate, " ")
	if !slices.Contains([]string{"when", "expect", "undo_if"}, kind) {
		return kind, nil
	}
	return kind, r.s.Doc.Step(name)
}

// turnOf gives the turn that a watch belongs to, and begins one when the gate is watched anew.
func (r *Replay) turnOf(w Watch, now Passing) *turn {
	t := r.open[w.ID]
	if t != nil && !t.led && t.From == w.From && t.To == w.To {
		return t
	}
	t = &turn{Replayed: Replayed{Gate: w.ID, From: w.From, To: w.To, Began: now}, watch: w}
	r.open[w.ID], r.turns = t, append(r.turns, t)
	delete(r.tracks, w.ID)
	return t
}

// leads ends a turn: what its gate led to is in the records.
func (r *Replay) leads(gate string) {
	if t := r.open[gate]; t != nil {
		t.led = true
	}
}

// judge holds both gates against the latest observation. What passed under an earlier mark does not count any
// more.
func (r *Replay) judge(shadow *State, t *turn, w Watch, now Passing) {
	if t.epoch != w.key() {
		t.epoch, t.Recorded, t.Would, t.Findings = w.key(), Passing{}, Passing{}, nil
	}
	own := r.s.track(w)
	passed := own.passes >= w.Passes
	t.judged = t.judged || own.seen()
	if t.watch, t.Unanswered = r.underOther(w); t.Unanswered == "" {
		r.wouldPass(shadow, t, now, passed && t.Recorded.Never())
	}
	if passed && t.Recorded.Never() {
		t.Recorded = now
	}
}

// goOn judges a gate by what was observed after its turn, until it would have passed.
func (r *Replay) goOn(shadow *State, t *turn, now Passing) {
	if t.Unanswered == "" && t.Would.Never() && !t.Recorded.Never() {
		r.wouldPass(shadow, t, now, false)
		t.After = !t.Would.Never()
	}
}

func (r *Replay) wouldPass(shadow *State, t *turn, now Passing, passedNow bool) {
	asks := shadow.asks(t.watch)
	t.asked, t.lacked = r.s.lacks(t.asked, t.lacked, asks)
	judged := shadow.track(t.watch)
	passes := judged.passes >= t.watch.Passes
	if t.Would.Never() && (passedNow || passes && t.Recorded.Never()) {
		t.Findings, t.Passes, t.Needed = judged.last.judgement().Findings, judged.passes, t.watch.Passes
	}
	if passes && t.Would.Never() {
		t.Would = now
	}
}

// lacks remembers whether some observation had all answers, and else a probe that had none.
func (s *State) lacks(asked bool, lacked string, asks []probes.Ask) (bool, string) {
	latest := s.polls[len(s.polls)-1]
	for _, ask := range asks {
		if latest.answer(ask) == nil {
			return asked, ask.Probe
		}
	}
	return true, lacked
}

// underOther gives the watch with the gate of the other runbook, or why there is none that can be judged.
func (r *Replay) underOther(w Watch) (Watch, string) {
	kind, own := r.ofStep(w.ID)
	step := r.doc.Step(own.Name)
	if step == nil {
		return w, "the other runbook has no step " + own.Name
	}
	w.Gate = gateOf(step, kind)
	w.Every, w.Passes, w.StaleAfter = step.Timing.Every, step.Timing.Passes, step.Timing.StaleAfter
	if len(w.Gate) == 0 {
		return w, "the other runbook has no such gate"
	}
	return w, r.unanswered(w.Gate)
}

func gateOf(step *runbook.Step, kind string) runbook.Gate {
	switch kind {
	case "when":
		return step.When
	case "expect":
		return step.Expect
	}
	return step.UndoIf
}

// unanswered says which probe of a gate asks something else than the run has asked, "" when none does.
func (r *Replay) unanswered(gate runbook.Gate) string {
	for _, ask := range probes.Asks(r.doc, gate, "", "") {
		own, other := r.s.Doc.Probe(ask.Probe), r.doc.Probe(ask.Probe)
		switch {
		case own == nil:
			return "the run has no probe " + ask.Probe
		case own.Query != other.Query:
			return "the run asked another query for " + ask.Probe
		case own.Unit != other.Unit || own.Baseline != other.Baseline || own.Alive != other.Alive ||
			own.Sources != other.Sources ||
			own.Memory != other.Memory || own.Second != other.Second || !sameAbsent(own.Absent, other.Absent):
			return "the run asked " + ask.Probe + " in another way: its unit, absent, alive, sources, memory, baseline or second"
		}
	}
	return ""
}

func sameAbsent(a, b *runbook.Absent) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// once judges the when of a protecting step by the observation by which the run has judged it.
func (r *Replay) once(record audit.Record, gate, verdict string) {
	kind, step := r.ofStep(gate)
	if kind != "when" || step == nil || !step.Stage.Protects() || len(r.s.polls) == 0 {
		return
	}
	at := Passing{r.s.polls[len(r.s.polls)-1].at, record.Seq, record.T}
	t := &turn{Replayed: Replayed{Gate: gate, Began: at, Recorded: at, RecordedVerdict: verdict}, led: true,
		judged: true, asked: true}
	r.turns = append(r.turns, t)
	w, why := r.underOther(r.s.whenWatch(step, "", ""))
	if t.Unanswered = why; why != "" {
		return
	}
	shadow := r.shadow()
	p, before := shadow.newest(shadow.asks(w))
	if t.asked, t.lacked = r.s.lacks(p != nil, "", shadow.asks(w)); p == nil {
		return
	}
	j := shadow.judge(w, p, before)
	t.Would, t.WouldVerdict, t.Findings = at, j.Verdict.String(), j.Findings
}

// one gives the only turn of a guard or the exit.
func (r *Replay) one(gate string, began Passing) *turn {
	t := r.open[gate]
	if t == nil {
		t = &turn{Replayed: Replayed{Gate: gate, Began: began}}
		r.open[gate], r.turns = t, append(r.turns, t)
	}
	return t
}

// guarded notes the first breach that the run has recorded of a guard.
func (r *Replay) guarded(record audit.Record, b *Guarded) {
	other := r.otherGuard(b.Guard)
	if other == nil || !b.Breached || len(r.s.polls) == 0 {
		return
	}
	at := Passing{r.s.polls[len(r.s.polls)-1].at, record.Seq, record.T}
	if t := r.one(other.Name, at); t.Recorded.Never() {
		t.Recorded = at
	}
}

// otherGuard finds the guard of the other runbook that asks the same probe in the same way as one of the run.
func (r *Replay) otherGuard(name string) *runbook.Guard {
	i := slices.IndexFunc(r.s.Doc.Guards, func(g runbook.Guard) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	own, found := &r.s.Doc.Guards[i], (*runbook.Guard)(nil)
	for j := range r.doc.Guards {
		g := &r.doc.Guards[j]
		if g.Bound.Probe != own.Bound.Probe || g.Bound.Op != own.Bound.Op {
			continue
		}
		if found == nil || g.Name == own.Name {
			found = g
		}
	}
	return found
}

// breaches judges the guards of the other runbook in their stages.
func (r *Replay) breaches(shadow *State, now Passing) {
	for i := range r.doc.Guards {
		g := &r.doc.Guards[i]
		if !shadow.guarding(g) {
			continue
		}
		t := r.one(g.Name, now)
		if t.Unanswered = r.unanswered(r.guards[g.Name]); t.Unanswered != "" {
			continue
		}
		w := shadow.guardWatch(g)
		t.asked, t.lacked = r.s.lacks(t.asked, t.lacked, shadow.asks(w))
		if judged := shadow.track(w); t.Would.Never() && judged.fails >= g.Passes {
			t.Would, t.Findings = now, judged.last.judgement().Findings
		}
	}
}

// recovers judges the exit of the other runbook.
func (r *Replay) recovers(shadow *State, now Passing) {
	t := r.one(exitID, now)
	if t.Unanswered = r.unanswered(r.doc.Exit.When); t.Unanswered != "" {
		return
	}
	t.asked, t.lacked = r.s.lacks(t.asked, t.lacked, shadow.exitAsks(shadow.exitWatch()))
	x := shadow.followExit()
	if t.Would.Never() && !x.held.IsZero() {
		t.Would = Passing{x.held, now.Seq, now.T}
	}
	if t.Would.Never() || t.Recorded.Never() {
		t.Findings = x.last.judgement().Findings
	}
}

// Gates gives every gate of the run and of the other runbook, in the order in which they came to be watched; at
// the end those of the other runbook that never were.
func (r *Replay) Gates() []Replayed {
	var list []Replayed
	known := map[string]bool{}
	for _, t := range r.turns {
		g := t.Replayed
		known[g.Gate] = true
		if t.watch.ID != "" && (!t.judged || !t.led && t.polls == 0) {
			continue // it was not looked at
		}
		if g.Unanswered == "" && !t.asked {
			g.Unanswered = "the run did not ask " + t.lacked + " meanwhile"
		}
		list = append(list, g)
	}
	for step := range r.doc.Steps() {
		for _, kind := range []string{"when", "expect", "undo_if"} {
			if id := kind + " " + step.Name; len(gateOf(step, kind)) > 0 && !known[id] {
				list = append(list, Replayed{Gate: id, Unanswered: r.unwatched(step)})
			}
		}
	}
	for _, g := range r.doc.Guards {
		if !known[g.Name] {
			list = append(list, Replayed{Gate: g.Name, Unanswered: "the run did not come to its stages"})
		}
	}
	return list
}

func (r *Replay) unwatched(step *runbook.Step) string {
	if r.s != nil && r.s.Doc.Step(step.Name) == nil {
		return "the run has no step " + step.Name
	}
	return "the run did not watch it"
}

// State is the run as it was, as far as it was followed; nil before the first record.
func (r *Replay) State() *State { return r.s }

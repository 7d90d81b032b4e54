package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// walker drives one run in a world, as the command line does.
type walker struct {
	*world
	doc       *runbook.Document
	journal   *memoryJournal
	machine   *Machine
	approve   ApproveMode
	calls     []CallRequest
	over      *Over
	run       string
	autoCalls bool // every call ends well at once
	ended     Ending
	stopped   bool
	out       strings.Builder
	quiet     bool
	tail      []string // the last lines, for a test that fails
	lastGates map[string]string
	rights    rights
	moves     int
	still     int // moves since the clock moved
}

func newWalker(t tester, doc *runbook.Document) *walker {
	w := &walker{world: newWorld(t), doc: doc, approve: Auto, run: testRun, lastGates: map[string]string{}}
	w.journal = &memoryJournal{now: func() time.Time { return w.clock.now }}
	w.redis.intended = w.intended
	for i := range doc.Probes {
		w.signal(doc.Probes[i].Name).set(point{at: start.Add(-time.Hour), values: []float64{0}})
	}
	w.rights = rights{t: t, doc: doc}
	return w
}

// intended wants a plan's intent to be safe, and nothing loosened without a log.
func (w *walker) intended(p actions.Plan) error {
	if w.journal.full && p.Direction == runbook.Releasing && readableBefore(w.doc, p) {
		return errors.New("it releases, and the log's disk is broken")
	}
	return w.journal.intended(p.Digest())
}

func readableBefore(doc *runbook.Document, p actions.Plan) bool {
	_, err := decode(doc.Control(p.Control), p.Before)
	return err == nil
}

const testRun = "20261129T100800Z-test-7f3a"

func (w *walker) newMachine(through string) *Machine {
	return New(Config{Doc: w.doc, Journal: w.journal, Prober: w, Controls: w.redis, Caller: w, Clock: w.clock,
		Begun:    Begun{Run: w.run, File: "test.yaml", Approve: w.approve, Through: through, Version: "test", Host: "ops-1", PID: 1, User: "ana", Over: w.over},
		Holder:   actions.Holder{Run: w.run, Actor: "ana", Host: "ops-1"},
		OnRecord: w.record})
}

func (w *walker) begin(through string) error {
	w.machine = w.newMachine(through)
	return w.machine.Begin(context.Background())
}

// takeOver lets another run take the command over from the one that is walked.
func (w *walker) takeOver() error {
	w.over = w.machine.State().Overtake("ana does not answer")
	w.run, w.calls, w.stopped = w.run+"b", nil, false
	w.journal = &memoryJournal{now: w.journal.now}
	return w.begin("")
}

func (w *walker) resume() error {
	w.machine, w.stopped = w.newMachine(""), false
	w.calls = nil
	return w.machine.Resume(context.Background(), w.journal.all())
}

// Start takes a call.
func (w *walker) Start(r CallRequest) { w.calls = append(w.calls, r) }

// mostMoves is how many moves may be made without the clock moving: many more than a
// whole runbook has records, far fewer than for ever.
const mostMoves = 400

// step makes one move; it reports false when the walk has ended.
func (w *walker) step(until time.Time) (bool, error) {
	if w.autoCalls {
		for len(w.calls) > 0 {
			if err := w.finishCall(w.calls[0].Step, true, ""); err != nil {
				return false, err
			}
		}
	}
	move, err := w.machine.Step(context.Background())
	if err != nil {
		return false, err
	}
	w.moves++
	w.still++
	if w.still > mostMoves {
		w.t.Fatalf("%d moves and the clock still stands at %s; the last: %#v\n%s", w.still, w.since(), move, strings.Join(w.tail, "\n"))
	}
	switch m := move.(type) {
	case Stop:
		w.ended, w.stopped = m.Ending, true
		return false, nil
	case Wait:
		if !m.Until.After(w.clock.now) {
			w.t.Fatalf("%s: waits until %s, which is not later", w.since(), m.Until)
		}
		if m.Until.After(until) {
			w.clock.moveTo(until)
			return false, nil
		}
		w.clock.moveTo(m.Until)
		w.still = 0
	}
	return true, nil
}

func (w *walker) walk(d time.Duration) error {
	until := w.clock.now.Add(d)
	w.still = 0
	for {
		if more, err := w.step(until); !more || err != nil {
			return err
		}
	}
}

func (w *walker) finishCall(step string, ok bool, failure string) error {
	for i, r := range w.calls {
		if r.Step == step {
			w.calls = append(w.calls[:i:i], w.calls[i+1:]...)
			return w.machine.Called(CallDone{Step: r.Step, Undo: r.Undo, Instead: r.Instead, OK: ok, Error: failure})
		}
	}
	return fmt.Errorf("no call of %s was started", step)
}

func (w *walker) since() string {
	return fmt.Sprintf("+%.1fs", w.clock.now.Sub(start).Seconds())
}

// record is told of every record: it checks the rights and prints a line.
func (w *walker) record(r audit.Record, body any) {
	w.rights.record(r, body, w.machine.State())
	line := w.line(r, body)
	if line == "" {
		return
	}
	w.tail = append(w.tail[max(len(w.tail)-20, 0):], line)
	if w.quiet {
		return
	}
	fmt.Fprintf(&w.out, "+%.1fs %s\n", r.At.Sub(start).Seconds(), line)
}

func (w *walker) line(r audit.Record, body any) string {
	by := func(who string) string {
		if who == "" {
			return ""
		}
		return " by " + who
	}
	switch b := body.(type) {
	case *Begun:
		if b.Over != nil && len(b.Over.Found) > 0 {
			return "begun; " + strings.Join(b.Over.Found, "; ")
		}
		return "begun"
	case *Resumed:
		return "resumed; " + strings.Join(b.Found, "; ")
	case *StageBody:
		if b.Skip != "" {
			return ""
		}
		return "stage " + b.Stage
	case *StepBody:
		return strings.TrimSpace(fmt.Sprintf("step %s %s %s", b.Step, b.State, b.Outcome))
	case *Observed:
		return w.observedLine(b)
	case *Planned:
		return fmt.Sprintf("planned %s %s: %s -> %s %s", b.Target.Purpose, b.Target.Step, b.Target.Control+" "+b.Before, b.After, b.Plan.Direction)
	case *Approved:
		return fmt.Sprintf("approved %s of %s (%d changes)%s, %s", b.Scope, b.Step, len(b.Covers), by(b.By), b.How)
	case *Intended:
		blind := ""
		if b.Blind {
			blind = " BLIND"
		}
		return fmt.Sprintf("intended %s %s %s -> %s%s", b.Target.Purpose, b.Target.Step, b.Target.Control, b.After, blind)
	case *Settled:
		text := fmt.Sprintf("settled %s %s %s: %s", b.Target.Purpose, b.Target.Step, b.Target.Control, b.Result)
		if b.Cause != "" {
			text += " (" + b.Cause + ")"
		}
		if b.Result != ResultApplied && b.Sentence != "" {
			text += ": " + b.Sentence
		}
		return text
	case *Judged:
		return fmt.Sprintf("judged %s: %s, %s", b.Gate, b.Verdict, b.Decision)
	case *OwedBody:
		return "owed " + b.Gate
	case *Guarded:
		if b.Breached {
			return fmt.Sprintf("breached %s: %s", b.Guard, b.Action)
		}
		return fmt.Sprintf("guard %s: %s", b.Guard, b.Action)
	case *Drifted:
		return fmt.Sprintf("drifted %s: expected %s, found %s, %s: %s", b.Control, shown(b.Expected), shown(b.Found), b.Direction, b.Decision)
	case *Held:
		if b.Lifted {
			return fmt.Sprintf("lifted [%s]: %s", b.Cause, b.Sentence)
		}
		text := fmt.Sprintf("HELD [%s]: %s | can: %s", b.Cause, b.Sentence, b.Can)
		if b.Costs != "" {
			text += " | costs: " + b.Costs
		}
		return text
	case *Skipped:
		return fmt.Sprintf("skipped %s: %s%s", b.Step, b.Reason, by(b.By))
	case *ManualBody:
		if b.Confirms != "" {
			return fmt.Sprintf("confirmed the reading of %s by %s: %s", b.Ask.Probe, b.Confirms, b.By)
		}
		return fmt.Sprintf("reading of %s by hand: %s %s by %s from %q until %+.0fs", b.Ask.Probe, b.Value, b.Unit, b.By, b.Source, b.Until.Sub(start).Seconds())
	case *Noted:
		return "noted: " + b.Text + by(b.By)
	case *OrderedBody:
		refused := ""
		if b.Refused != "" {
			refused = ", refused"
		}
		if b.Moot != "" {
			return fmt.Sprintf("moot %s %s%s: %s", b.Order, b.Step, by(b.By), b.Moot)
		}
		return strings.TrimSpace(fmt.Sprintf("ordered %s %s%s%s", b.Order, strings.TrimSpace(b.Step+" "+b.Control), by(b.By), refused))
	case *Called:
		return calledLine(b)
	case *ConfirmedBody:
		if !b.Answered {
			return fmt.Sprintf("asked %s: %s", b.Step, b.Ask)
		}
		return fmt.Sprintf("answered %s: %s %v%s", b.Step, b.Answer, b.Modes, by(b.By))
	case *Recovered:
		line := fmt.Sprintf("recovered at +%.1fs, took %.1fs late=%v",
			b.RecoveredAt.Sub(start).Seconds(), float64(b.TookMS)/1000, b.Late)
		if b.IncidentMS > 0 {
			line += fmt.Sprintf(", of an incident of %.1fs", float64(b.IncidentMS)/1000)
		}
		return line
	case *Ended:
		return endedLine(r.Kind, b)
	}
	return r.Kind
}

func calledLine(b *Called) string {
	what := "call " + b.Step
	if b.Undo {
		what += " undo"
	}
	if b.Instead {
		what += " instead"
	}
	switch {
	case !b.Finished:
		return fmt.Sprintf("%s started: %v", what, b.Command)
	case b.OK:
		return what + " ended well"
	}
	return what + " failed: " + b.Error
}

func endedLine(kind string, b *Ended) string {
	text := kind
	if b.Reason != "" {
		text += ": " + b.Reason
	}
	for _, o := range b.Overrides {
		text += fmt.Sprintf("; %s=%s (steady %s)", o.Control, o.Value, o.Steady)
	}
	for _, c := range b.Calls {
		text += "; call " + c + " not undone"
	}
	for _, h := range b.ByHand {
		text += "; by hand: " + h
	}
	return text
}

// observedLine tells what changed since the poll before, nothing when nothing did.
func (w *walker) observedLine(b *Observed) string {
	var parts []string
	for _, g := range b.Gates {
		short := g.Verdict
		if g.Verdict == probes.Unknown.String() {
			short = "unknown(" + reasonsOf(g.Findings) + ")"
		}
		if g.Of > 1 && g.Verdict == probes.Pass.String() {
			short += fmt.Sprintf(" %d/%d", min(g.Passes, g.Of), g.Of)
		}
		if w.lastGates[g.Gate] != short {
			w.lastGates[g.Gate] = short
			parts = append(parts, g.Gate+" "+short)
		}
	}
	if b.Redis != "" {
		parts = append(parts, "redis away")
	}
	if len(parts) == 0 {
		return ""
	}
	return "saw " + strings.Join(parts, "; ")
}

func reasonsOf(findings []probes.Finding) string {
	var list []string
	for _, f := range findings {
		if reason := string(f.Reason); f.Verdict == probes.Unknown && !slices.Contains(list, reason) {
			list = append(list, reason)
		}
	}
	return strings.Join(list, ",")
}

// rights checks, record by record, what no walk may ever do. It knows nothing of how
// the machine decides.
type rights struct {
	t   tester
	doc *runbook.Document
}

func (r *rights) record(rec audit.Record, body any, s *State) {
	if held, ok := body.(*Held); ok && !held.Lifted {
		r.can(rec, held, s)
	}
	b, ok := body.(*Intended)
	if !ok || b.Plan.Direction != runbook.Releasing || b.Target.Purpose == PurposePutBack {
		return
	}
	step := r.doc.Step(b.Target.Step)
	ordered := b.Target.Purpose == PurposeUndo && s.Step(b.Target.Step).undoWaits(step)
	if b.Target.Purpose == PurposeUndo && !ordered {
		return
	}
	what := "the releasing flip " + b.Target.String()
	if b.Target.Purpose == PurposeHand {
		if len(s.approvals) != 1 || s.approvals[0].Digest != b.Digest {
			r.t.Fatalf("record %d: %s has no consent", rec.Seq, what)
		}
		return
	}
	if !ordered && (step == nil || step.Stage.Protects()) {
		if readableBefore(r.doc, b.Plan) {
			r.t.Fatalf("record %d: %s is no release step's", rec.Seq, what)
		}
		return
	}
	r.release(rec, what, s)
	if ordered && s.Recovered == nil {
		r.t.Fatalf("record %d: %s was made before the exit has held", rec.Seq, what)
	}
	if step.Timing.Release != runbook.ApprovalNone && !r.wasApproved(s, b.Digest, b.Target.Control) {
		r.t.Fatalf("record %d: %s was made without an approval", rec.Seq, what)
	}
}

// lift checks that taking back the call of a brake on a person's word is a release.
func (r *rights) lift(rec audit.Record, s *State, step *runbook.Step) {
	what, undo := "the undo of the call of "+step.Name, callChange(step, true)
	r.release(rec, what, s)
	if s.Recovered == nil {
		r.t.Fatalf("record %d: %s was started before the exit has held", rec.Seq, what)
	}
	if !r.wasApproved(s, digestOf([]Change{undo}), undo.Control) {
		r.t.Fatalf("record %d: %s was started without an approval", rec.Seq, what)
	}
}

// release checks that nothing stands before what releases.
func (r *rights) release(rec audit.Record, what string, s *State) {
	fail := func(format string, args ...any) {
		r.t.Fatalf("record %d: %s was made while %s", rec.Seq, what, fmt.Sprintf(format, args...))
	}
	if owed := s.Owed(); len(owed) > 0 {
		fail("%v is owed", owed)
	}
	if holds := s.Holds(); len(holds) > 0 {
		fail("held: %s", holds[0].Sentence)
	}
	if len(s.open) > 1 {
		fail("%s is open", s.open[0].Target)
	}
	if s.RedisDown != "" || s.Broken && !rec.Emergency {
		fail("redis or the log is away")
	}
	for i := range r.doc.Guards {
		if s.Breached(r.doc.Guards[i].Name) {
			fail("%s is breached", r.doc.Guards[i].Name)
		}
	}
}

// can checks that what a hold offers would not be refused.
func (r *rights) can(rec audit.Record, held *Held, s *State) {
	if held.Can == "" {
		r.t.Fatalf("record %d: the hold %q does not say what a person may do", rec.Seq, held.Cause)
	}
	if len(held.Words) > 0 && !strings.HasPrefix(held.Can, canType("", held.Words...)) {
		r.t.Fatalf("record %d: the hold %q offers %q and says %q", rec.Seq, held.Cause, held.Words, held.Can)
	}
	for _, word := range held.Words {
		ok := false
		switch word, name, _ := strings.Cut(word, " "); word {
		case "skip":
			step := s.Doc.Step(strings.TrimSuffix(name, " REASON"))
			ok = step != nil && s.refuseSkip(step) == nil
		case "put-back", "adopt":
			ok = s.drifts[name] != nil
		case "release":
			ok = aPersonLifts(held.Cause)
		case "done":
			step := s.Doc.Step(strings.TrimSuffix(name, " HOW"))
			ok = step != nil && step.Stage.Protects() && step.Flip != nil && s.Step(step.Name).Phase == StepEntered
		case "reading":
			probe, _, _ := strings.Cut(name, " ")
			ok = s.Doc.Probe(probe) != nil
		case "handover":
			ok = held.Cause == causeShift
		}
		if !ok {
			r.t.Fatalf("record %d: the hold %q offers %q, which is no word or would be refused", rec.Seq, held.Cause, word)
		}
	}
}

func (r *rights) wasApproved(s *State, digest, control string) bool {
	for _, a := range s.approvals {
		if a.Digest == digest || !a.Void && a.Scope != ScopePlan && a.covers(control) {
			return true
		}
	}
	return false
}

// defaults completes a short runbook of a test.
var defaults = map[string]string{
	"apiVersion": "apiVersion: rewarm/v1\n",
	"kind":       "kind: Runbook\n",
	"name":       "name: test\n",
	"service":    "service: catalog\n",
	"defaults":   "defaults: {every: 1s, passes: 2, timeout: 20s, stale_after: 5s, approval: {protect: none, release: one}}\n",
	"controls": `controls:
  admission: {kind: rate, unit: attempts/s, min: 100, max: 10000, absent: unlimited, steady: 3200, protects: lower, temporary: false}
  stale: {kind: duration, max: 120s, absent: 10s, steady: 10s, protects: higher, review: 30m, back: [60s, 30s]}
  jobs: {kind: switch, absent: on, steady: on, protects: off}
  leaders: {kind: count, unit: leaders, absent: 400, steady: 400, protects: lower}
  prewarm: {kind: rate, unit: attempts/s, max: 3200, absent: 0, steady: 0, protects: lower, dead_man: 0}
  routing: {kind: percent, absent: 100, steady: 100, protects: lower}
`,
	"probes": `probes:
  queue: {query: 'max(queue_age_seconds)', unit: s}
  demand: {query: 'sum(rate(attempts_total[5s]))', unit: attempts/s}
  peak: {query: 'max(admitted_rate)', unit: attempts/s}
  forbidden: {query: 'sum(violations)', unit: reads}
  errors: {query: 'sum(errors_share)', unit: ratio}
  predicted: {query: 'sum(demand) + sum(exposed) * (${to} - ${from})', unit: attempts/s}
`,
	"exit": "exit: {intervals: 2, interval: 3s, when: [{probe: demand, at_most: 2000}]}\n",
}

var (
	topLevel   = regexp.MustCompile(`(?m)^([a-zA-Z_]+):`)
	stageLevel = regexp.MustCompile(`(?m)^  ([a-z-]+):`)
)

// blocks cuts a text at the keys that a pattern finds.
func blocks(text string, key *regexp.Regexp) map[string]string {
	found := key.FindAllStringSubmatchIndex(text, -1)
	list := map[string]string{}
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		list[text[m[2]:m[3]]] = strings.TrimRight(text[m[0]:end], "\n") + "\n"
	}
	return list
}

// complete gives the whole runbook of a short one.
func complete(short string) string {
	given := blocks(short, topLevel)
	full := ""
	for _, key := range []string{"apiVersion", "kind", "name", "service", "recover_within", "figures", "parameters", "defaults", "controls", "probes", "exit", "guards"} {
		if block, ok := given[key]; ok {
			full += block
		} else {
			full += defaults[key]
		}
	}
	stages := blocks(given["stages"], stageLevel)
	full += "stages:\n"
	for s := runbook.DeclareMode; s <= runbook.Reconcile; s++ {
		if block, ok := stages[s.String()]; ok {
			full += block
		} else {
			full += fmt.Sprintf("  %s: {skip: nothing to do}\n", s)
		}
	}
	return full
}

func mustParse(t tester, short string) *runbook.Document {
	t.Helper()
	text := complete(short)
	doc, problems := runbook.Parse("test.yaml", []byte(text), nil)
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", problems.Error(), text)
	}
	return doc
}

var errNotHere = errors.New("no such command")

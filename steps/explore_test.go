//go:build !race

package steps

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// smallest has two brakes, of which one owes something, two releases and one guard.
const smallest = `
defaults: {every: 1s, passes: 1, timeout: 3s, stale_after: 2s, approval: {protect: none, release: one}}
guards:
  - {probe: peak, at_most: 4000, from: rank-warmth, to: restore, passes: 1, otherwise: {flip: {control: prewarm, to: 0}}}
exit: {intervals: 1, interval: 1s, when: [{probe: demand, at_most: 2000}]}
stages:
  protect-origin:
    - step: admit
      flip: {control: admission, to: 3200}
      expect: [{probe: peak, at_most: 3200}]
    - step: pause
      flip: {control: jobs, to: off}
  rank-warmth:
    - step: warm
      when: [{probe: queue, at_most: 1s}]
      flip: {control: prewarm, to: 800}
      expect: [{probe: queue, at_most: 1s}]
  restore:
    - step: lift
      restore: {order: [prewarm, jobs]}
      when: [{probe: queue, at_most: 1s}]
`

// fewest has two brakes that nothing restores, so that a short walk comes to its end with both
// in force: what a person wants put back is lifted there.
const fewest = `
defaults: {every: 1s, passes: 1, timeout: 3s, stale_after: 2s, approval: {protect: none, release: one}}
exit: {intervals: 1, interval: 1s, when: [{probe: demand, at_most: 2000}]}
stages:
  protect-origin:
    - step: admit
      flip: {control: admission, to: 3200}
    - step: freeze
      call: {do: [deployctl, freeze], undo: [deployctl, thaw]}
`

// position is a run with the world around it, as far as the machine can tell: what the
// log says, what Redis holds, and how much may still go wrong.
type position struct {
	bodies  []any
	records []audit.Record
	values  map[string]*string
	digests map[string]bool // that Redis has taken
	now     time.Time
	version int64
	faults  int // that may still happen
	words   int // that persons may still say
}

func (p position) with(kind Kind, body any) position {
	r := audit.Record{Seq: uint64(len(p.records) + 1), At: p.now, Actor: "ana", Kind: kind}
	p.records = append(p.records[:len(p.records):len(p.records)], r)
	p.bodies = append(p.bodies[:len(p.bodies):len(p.bodies)], body)
	return p
}

func (p position) set(control string, raw *string) position {
	p.values = maps.Clone(p.values)
	p.values[control] = raw
	return p
}

func (p position) fold(t *testing.T) *State {
	s, err := newState(p.bodies[0].(*Begun))
	for i := 0; err == nil && i < len(p.records); i++ {
		err = s.apply(p.records[i], p.bodies[i])
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \+0000 UTC`)
	counted = regexp.MustCompile(`seq \d+ at \S+ \S+ \S+ \S+|green \d+|polls \d+\+\d+|UTC \d+ done|version \d+|open (.*) [0-9a-f]{64}|(approval \S+) [0-9a-f]{64}|since [^ ]+ [^ ]+ [^ ]+ UTC`)
)

// canonical writes a position without what does not matter: numbers of records, and when
// it was but how long ago.
func (p position) canonical(s *State) string {
	text := counted.ReplaceAllString(dump(s), "$1$2")
	text = moments.ReplaceAllStringFunc(text, func(m string) string {
		at, err := time.Parse("2006-01-02 15:04:05 -0700 MST", m)
		if err != nil {
			return m
		}
		return max(-9*time.Second, p.now.Sub(at)).Round(time.Second).String()[:2]
	})
	for _, c := range []string{"admission", "jobs", "prewarm"} {
		text += c + " " + shown(p.values[c]) + " "
	}
	return text + fmt.Sprintf("faults %d words %d holds %d", p.faults, p.words, len(s.holds))
}

// explorer walks every position once that some choice of the world and of persons leads to.
type explorer struct {
	t      *testing.T
	doc    *runbook.Document
	seen   map[string]bool
	rights rights
	undoes []string // steps that persons want put back
}

// after gives the positions to which the next move can lead.
func (e *explorer) after(p position, s *State) []position {
	switch m := Next(s, p.now).(type) {
	case Write:
		return []position{p.with(m.Kind, m.Body)}
	case MakePlan:
		return e.planned(p, m)
	case ApplyFlip:
		return e.applied(p, m)
	case SettleIntent:
		return []position{e.settled(p, m.Intended)}
	case Poll:
		return e.polled(p, s, m)
	case Wait:
		return e.waited(p, s, m)
	case StartCall:
		return e.called(p, s, m)
	}
	return nil
}

// called: a call ends well at once.
func (e *explorer) called(p position, s *State, m StartCall) []position {
	if m.Undo {
		e.rights.lift(p.records[len(p.records)-1], s, e.doc.Step(m.Step))
	}
	p = p.with(KindCalled, &Called{Step: m.Step, Undo: m.Undo})
	return []position{p.with(KindCalled, &Called{Step: m.Step, Undo: m.Undo, Finished: true, OK: true})}
}

func (e *explorer) planned(p position, m MakePlan) []position {
	c := e.doc.Control(m.Target.Control)
	live := actions.Live{Control: c.Name, Raw: p.values[c.Name], Value: c.Absent}
	if v, err := decode(c, live.Raw); err == nil {
		live.Value = v
	} else {
		live.Invalid = err.Error()
	}
	plan := actions.NewPlan(testRun, m.Target.Step, c, live, m.To)
	target := m.Target
	target.From = numberText(live.Value)
	next := []position{p.with(KindPlanned, &Planned{Target: target, Plan: plan, Digest: plan.Digest(), Before: readable(c, plan.Before), After: readable(c, plan.After)})}
	if p.faults > 0 {
		away := p
		away.faults--
		next = append(next, away.with(KindSettled, &Settled{Target: m.Target, Result: ResultUnreached, Sentence: "away",
			Plan: actions.Plan{Run: testRun, Step: m.Target.Step, Control: c.Name}, ServerAt: p.now}))
	}
	return next
}

// applied: the flip is made or, at the price of a fault, refused, or its answer is lost
// before or after it was made.
func (e *explorer) applied(p position, m ApplyFlip) []position {
	f := m.Planned
	outcome := func(p position, r Result, cause actions.Cause) position {
		return p.with(KindSettled, &Settled{Target: f.Target, Plan: f.Plan, Digest: f.Digest, Result: r, Cause: string(cause),
			Version: p.version, ServerAt: p.now, After: f.After, Sentence: "so it is"})
	}
	if f.Plan.Nothing() {
		return []position{outcome(p, ResultNothing, "")}
	}
	intended := &Intended{Target: f.Target, Plan: f.Plan, Digest: f.Digest, Fence: 1, Blind: m.Blind, Before: f.Before, After: f.After}
	p = p.with(KindIntended, intended)
	e.rights.record(p.records[len(p.records)-1], intended, p.fold(e.t))
	made := p.set(f.Plan.Control, f.Plan.After)
	made.digests = maps.Clone(p.digests)
	if made.digests[f.Digest] {
		e.t.Fatalf("%s is applied twice", f.Target)
	}
	made.digests[f.Digest], made.version = true, p.version+1
	next := []position{outcome(made, ResultApplied, "")}
	if p.faults > 0 {
		p.faults--
		made.faults--
		next = append(next, outcome(p, ResultUnknown, actions.NoAnswer), outcome(made, ResultUnknown, actions.NoAnswer), outcome(p, ResultRefused, actions.OutOfMemory))
	}
	return next
}

func (e *explorer) settled(p position, i *Intended) position {
	body := &Settled{Target: i.Target, Plan: i.Plan, Digest: i.Digest, Result: ResultRefused, Cause: string(actions.NotApplied), Seen: true,
		Found: p.values[i.Plan.Control], ServerAt: p.now, After: i.After}
	if p.digests[i.Digest] {
		body.Result, body.Cause, body.Version = ResultApplied, "", p.version
	}
	return p.with(KindSettled, body)
}

// polled: everything passes, everything fails, or nothing is known.
func (e *explorer) polled(p position, s *State, m Poll) []position {
	changed := map[string]*string{}
	for i := range e.doc.Controls {
		name := e.doc.Controls[i].Name
		if c := s.Control(name); !c.Known || !equalRaw(c.Raw, p.values[name]) {
			changed[name] = p.values[name]
		}
	}
	var next []position
	for _, value := range []string{"0", "99999", ""} {
		body := &Observed{At: p.now, Controls: changed, Propagation: &probes.Propagation{Version: m.Version, Reported: true, Processes: 1, Obeying: 1, Oldest: p.now}}
		for _, ask := range m.Asks {
			a := probes.Answer{Ask: ask, At: p.now, Oldest: p.now, Stalest: p.now, Newest: []time.Time{p.now}}
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				a.SetReadings([]probes.Reading{probes.NewReading("{}", v)})
			} else {
				a = probes.Answer{Ask: ask, At: p.now, Reason: probes.NoData}
			}
			body.Answers = append(body.Answers, a)
		}
		next = append(next, p.with(KindObserved, body))
	}
	return next
}

// waited: the time passes, a person has a word, a hand writes, or the process dies.
func (e *explorer) waited(p position, s *State, m Wait) []position {
	later := p
	later.now = m.Until
	next := []position{later}
	if p.words > 0 {
		p.words--
		if q := m.Question; len(q.Offers) > 0 {
			o := q.Offers[0]
			next = append(next, p.with(KindApproved, &Approved{Scope: o.Scope, Digest: o.Digest, Step: q.Step, By: "ben", How: "typed", Covers: o.Covers}))
		}
		if s.hold(causePerson) == nil {
			next = append(next, p.with(KindHeld, &Held{Cause: causePerson, By: "ben", Sentence: "held", Can: "release, or abort"}))
		} else {
			next = append(next, p.with(KindHeld, &Held{Cause: causePerson, By: "ben", Lifted: true, Sentence: "released"}))
		}
		next = append(next, p.with(KindOrdered, &OrderedBody{Order: OrderAbort, By: "ben"}))
		for _, name := range e.undoes {
			if s.refuseUndo(name) == nil {
				next = append(next, p.with(KindOrdered, &OrderedBody{Order: OrderUndo, Step: name, By: "ben"}))
			}
			if _, refused := s.kept(name); refused == nil {
				next = append(next, p.with(KindOrdered, &OrderedBody{Order: OrderKeep, Step: name, By: "ben"}))
			}
		}
	}
	if later.faults > 0 {
		later.faults--
		on, tight := "on", "100"
		later.now = later.now.Add(time.Second)
		next = append(next, later.with(KindResumed, &Resumed{Approve: Manual}), later.set("jobs", &on), later.set("admission", &tight), later.set("admission", nil))
	}
	return next
}

// TestEveryPosition explores Next and the fold to a bounded depth: every answer of the
// probes, every fate of a flip, hands, crashes and words, of which so many may come. At
// every flip the rights are checked, at every position that the decision is the same
// twice and leaves the state alone; no position may be without a way on.
func TestEveryPosition(t *testing.T) {
	for name, c := range map[string]struct {
		book          string
		undoes        []string
		faults, words int
		end           Ending // that some way comes to
	}{
		"most of a walk":    {smallest, nil, 1, 3, EndedAborted},
		"a flip put back":   {fewest, []string{"admit"}, 0, 2, EndedClosed},
		"a call taken back": {fewest, []string{"freeze"}, 0, 2, EndedClosed},
	} {
		t.Run(name, func(t *testing.T) {
			doc := mustParse(t, c.book)
			e := &explorer{t: t, doc: doc, seen: map[string]bool{}, rights: rights{t: t, doc: doc}, undoes: c.undoes}
			if ends := e.explore(c.faults, c.words); ends[c.end] == 0 {
				t.Errorf("no way is %s: %v", c.end, ends)
			}
		})
	}
}

func (e *explorer) explore(faults, words int) map[Ending]int {
	begun := &Begun{Format: FormatV1, Run: testRun, Service: "catalog", File: "test.yaml", Runbook: e.doc.Source, SHA256: e.doc.Sum(), Approve: Manual, Fence: 1}
	first := position{values: map[string]*string{}, digests: map[string]bool{}, now: start, faults: faults, words: words}
	level := []position{first.with(KindBegun, begun)}
	ends := map[Ending]int{}
	for depth := 0; len(level) > 0 && depth < deepest; depth++ {
		var next []position
		for _, p := range level {
			s := p.fold(e.t)
			key := p.canonical(s)
			if e.seen[key] {
				continue
			}
			e.seen[key] = true
			if s.Ending != "" {
				ends[s.Ending]++
				continue
			}
			ways := e.after(p, s)
			if len(ways) == 0 {
				e.t.Fatalf("no way on after %d records: %#v\n%s", len(p.records), Next(s, p.now), key)
			}
			if p.canonical(s) != key {
				e.t.Fatalf("Next has changed the state:\n%s", key)
			}
			next = append(next, ways...)
		}
		level = next
	}
	e.t.Logf("%d positions, %d still open, ends %v", len(e.seen), len(level), ends)
	return ends
}

// deepest is how many moves are explored: most of an undisturbed walk.
const deepest = 40

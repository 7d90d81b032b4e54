package simulation

import (
	"errors"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// replaced gives a warp that changes the runbook which the machine walks: pairs of what
// stands in it and what is to stand there.
func replaced(pairs ...string) warp {
	return warp{text: strings.NewReplacer(pairs...).Replace}
}

// written gives a warp that writes another body than the one that is folded.
func written[T any](change func(*T)) warp {
	return warp{deep: true, body: func(body any) any {
		b, ok := body.(*T)
		if !ok {
			return body
		}
		changed := *b
		change(&changed)
		return &changed
	}}
}

// decided gives a warp that changes what the machine has decided.
func decided[T any](change func(*T)) warp {
	return warp{body: func(body any) any {
		if b, ok := body.(*T); ok {
			change(b)
		}
		return body
	}}
}

// believed lets what is no number look like a zero.
func believed(o *probes.Observation) {
	for i := range o.Answers {
		if a := &o.Answers[i]; a.Count == 1 && math.IsNaN(a.Readings[0].Value) {
			a.SetReadings([]probes.Reading{probes.NewReading("{}", 0)})
		}
	}
}

// lowered lets queues and what prewarm adds look like next to nothing.
func lowered(o *probes.Observation) {
	for i := range o.Answers {
		if a := &o.Answers[i]; (a.Ask.Probe == "within" || a.Ask.Probe == "queue") && a.Count == 1 {
			a.SetReadings([]probes.Reading{probes.NewReading("{}", 0.1)})
		}
	}
}

func appliedTwice(s *store, l actions.Lease, p actions.Plan, st actions.Stamp, now time.Time) actions.Outcome {
	o := s.apply(l, p, st, now)
	s.version++
	s.changes = append(s.changes, s.changes[len(s.changes)-1])
	return o
}

func withoutFence(s *store, l actions.Lease, p actions.Plan, st actions.Stamp, now time.Time) actions.Outcome {
	s.commander.run, s.commander.fence, s.commander.process = l.Run, l.Fence, l.Process
	return s.apply(l, p, st, now)
}

func withoutProcess(s *store, l actions.Lease, p actions.Plan, st actions.Stamp, now time.Time) actions.Outcome {
	s.commander.process = l.Process
	return s.apply(l, p, st, now)
}

// full is the largest runbook, with a word for each release.
var full = Book{Admission: 2400, Harder: true, Otherwise: true, Route: true, Jobs: true, Stale: true, Freeze: 1, Passes: 2, Word: true, Guard: 0}

// mutants are machines and worlds that misbehave, each with the invariant that catches it.
var mutants = []struct {
	name   string
	warp   warp
	faults string
	caught string
}{
	{"a commit does not wait for the disk", warp{unsynced: true}, "", intentFirst},
	{"what is no number reads as zero", warp{observe: believed}, `60 prometheus "" "nan" 20s`, releaseProved},
	{"a brake owes nothing", replaced("      expect: [{probe: peak, at_most: {control: admission}}]\n      if_unmet: {to: 1600, after: 6s}\n", ""), "", releaseOwes},
	{"a person's hold lifts by itself", decided(func(b *steps.Held) { b.Lifted = b.Lifted || b.Cause == "person" }), `60 order "" "hold" 0s`, releaseUnheld},
	{"what was loosened is adopted", decided(func(b *steps.Drifted) { b.Decision = steps.DriftAdopted }), `150 hand "jobs" "on" 0s`, releaseAgreed},
	{"nobody is asked", replaced("release: one", "release: none"), "", releaseWord},
	{"an undo is not asked for", replaced("    - step: pause\n", "    - step: pause\n      approval: {protect: none, release: none}\n"), `150 order "pause" "undo" 0s`, releaseWord},
	{"a Redis that is well is said to be away", warp{slow: true}, "", brakesAtOnce},
	{"a plan counts as often as it is sent", warp{apply: appliedTwice}, "", onlyOnce},
	{"what prewarm adds is left out", warp{observe: lowered}, `500 service "" "surge" 1s`, withinLimit},
	{"a brake is set beyond its bounds", replaced("max: 4000, absent", "max: 9999, absent", "to: 2400", "to: 9000"), "", forbiddenFresh},
	{"a window that does harm stays open", replaced("      undo_if: [{probe: forbidden, above: 0}]\n", ""), `60 service "" "defect" 20s`, forbiddenFresh},
	{"the fence is not looked at", warp{apply: withoutFence}, `30 elsewhere "" "" 1s`, oneCommander},
	{"the process is not looked at", warp{apply: withoutProcess}, "30 elsewhere \"\" \"\" 1s\n33 forget \"\" \"everything\" 0s", oneCommander},
	{"the end names nothing", decided(func(b *steps.Ended) { b.Overrides = nil }), `150 order "" "abort" 0s`, closeNames},
	{"the end leaves out an undo that waits", decided(func(b *steps.Ended) { b.Undos = nil }), "150 order \"pause\" \"undo\" 0s\n170 order \"\" \"abort\" 0s", undoTold},
	{"the hash is read as it was planned", warp{read: planned}, "", logExplains},
	{"the log leaves out a version", written(func(b *steps.Settled) { b.Version = 0 }), "", resumeFold},
	{"a record names another before it", warp{forked: true}, "", chainHolds},
	{"the clock stands", warp{stuck: true}, "", rests},
	{"persons say nothing", warp{mute: true}, "", toTheEnd},
	{"an order has an id each time it comes", warp{renamed: true}, `60 letter "" "note twice" 0s`, orderOnce},
	{"the log fails for no reason", warp{odd: true}, "", noSurprise},
}

func planned(lives map[string]actions.Live) {
	if live, ok := lives["jobs"]; ok {
		live.Raw = pointer("off")
		lives["jobs"] = live
	}
}

// TestInvariantsAreAlive wants each invariant to catch a misbehaviour, and the same
// incident to pass without it.
func TestInvariantsAreAlive(t *testing.T) {
	missing := maps.Clone(Invariants)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			book := full
			if m.caught == withinLimit {
				book.Route, book.Jobs = false, false // nothing takes the demand away
			}
			p, err := ParsePlan("book " + book.String() + "\nmanual true\n" + m.faults)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Run(p); err != nil {
				t.Fatalf("without it: %v", err)
			}
			_, err = run(p, m.warp)
			var broken *violation
			if !errors.As(err, &broken) || broken.name != m.caught {
				t.Fatalf("%s was to catch it: %v", m.caught, err)
			}
		})
		delete(missing, m.caught)
	}
	for name := range missing {
		t.Errorf("no mutant is caught by %s", name)
	}
}

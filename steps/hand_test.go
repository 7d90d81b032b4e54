package steps

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// handWalker prepares a flip by hand of the incident's controls, to a raw value.
func handWalker(t tester, control, to string) *walker {
	w := incidentWalker(t)
	w.machine = w.handMachine(&Hand{Control: control, To: to, Reason: "drill", ReviewMS: 60000})
	return w
}

func (w *walker) handMachine(hand *Hand) *Machine {
	m := w.newMachine("")
	m.c.Begun.Hand = hand
	return m
}

func (w *walker) kinds() string {
	var kinds []string
	for _, r := range w.journal.records {
		kinds = append(kinds, r.Kind)
	}
	return strings.Join(kinds, " ")
}

// shownPlan is what a person was shown before: read now, and of no run.
func (w *walker) shownPlan(t *testing.T, control string, to float64) actions.Plan {
	t.Helper()
	c := w.doc.Control(control)
	lives, err := w.redis.Read(t.Context(), []*runbook.Control{c})
	if err != nil {
		t.Fatal(err)
	}
	return HandPlan(c, lives[control], runbook.Value{Kind: c.Kind, Number: to})
}

func TestAFlipByHandLeavesTheLogOfAFlip(t *testing.T) {
	w := handWalker(t, "admission", "1600")
	outcome, err := w.machine.ByHand(t.Context(), nil)
	if err != nil || outcome.Result != ResultApplied {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if got, want := w.kinds(), "begun planned intended settled closed"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
	if w.redis.commander() != "nobody" {
		t.Errorf("%s still commands", w.redis.commander())
	}
	sameFold(t, w.journal, w.machine.State())
	overrides := w.machine.State().Overrides()
	if len(overrides) != 1 || overrides[0].ReviewAt.IsZero() || w.machine.State().Ending != EndedClosed {
		t.Errorf("overrides %+v, ending %q", overrides, w.machine.State().Ending)
	}
}

func TestAReleaseByHandNeedsItsConsent(t *testing.T) {
	w := handWalker(t, "admission", "9000")
	w.redis.edit("admission", "1600")
	shown := w.shownPlan(t, "admission", 9000)
	outcome, err := w.machine.ByHand(t.Context(), &Consent{Shown: shown, By: "ana", How: "typed"})
	if err != nil || outcome.Result != ResultApplied {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if got, want := w.kinds(), "begun planned approved intended settled closed"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
	for name, consent := range map[string]*Consent{"none": nil, "for another value": {Shown: shown}} {
		w := handWalker(t, "admission", "9000")
		w.redis.edit("admission", "800")
		outcome, err := w.machine.ByHand(t.Context(), consent)
		if err != nil || outcome.Result != ResultRefused || outcome.Sentence == "" || w.redis.values() != "admission=800 " {
			t.Errorf("consent %s: %+v, %v, %s", name, outcome, err, w.redis.values())
		}
	}
}

// A flip by hand that is killed at any record, or gets no answer, is settled by a resume,
// and made at most once.
func TestAFlipByHandIsSettled(t *testing.T) {
	for _, fault := range []string{"", "lost", "unanswered"} {
		for at := 2; at <= 5; at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s record %d after=%v", fault, at, after), func(t *testing.T) {
					w := handWalker(t, "admission", "1600")
					w.redis.fault, w.journal.killAt, w.journal.killAfter = fault, at, after
					if _, err := w.machine.ByHand(t.Context(), nil); !errors.Is(err, errKilled) {
						t.Fatalf("it was to be killed: %v", err)
					}
					w.journal.killAt = 0
					w.machine = w.handMachine(w.machine.c.Begun.Hand)
					outcome, err := w.machine.ResumeHand(t.Context(), w.journal.all())
					if w.machine.State() == nil || w.machine.State().Ending == EndedClosed && err != nil {
						return // it had closed before it was killed
					}
					if err != nil {
						t.Fatal(err)
					}
					flipped := w.redis.values() == "admission=1600 "
					if said := outcome != nil && outcome.Result == ResultApplied || len(w.machine.State().Flips()) > 0; said != flipped || len(w.redis.writes) > 1 {
						t.Errorf("redis holds %q, the log says %+v, writes %v", w.redis.values(), outcome, w.redis.writes)
					}
					if w.machine.State().Ending != EndedClosed || len(w.machine.State().open) > 0 {
						t.Errorf("ending %q, open %v", w.machine.State().Ending, w.machine.State().open)
					}
				})
			}
		}
	}
}

// An outcome that cannot be had stays open, and another commander is named.
func TestAFlipByHandThatCannotBeSettledStaysOpen(t *testing.T) {
	w := handWalker(t, "admission", "1600")
	w.redis.fault = "lost"
	w.machine.c.OnRecord = func(_ audit.Record, body any) {
		_, settled := body.(*Settled)
		w.redis.down = w.redis.down || settled // it goes away before it can be asked
	}
	outcome, err := w.machine.ByHand(t.Context(), nil)
	if err != nil || outcome.Result != ResultUnknown || w.machine.State().Ending != "" || len(w.machine.State().open) != 1 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	w = handWalker(t, "admission", "1600")
	w.redis.server.HSet(controls.Keys(serviceName).Commander, "run", "another", "until", "9999999999999", "since", "1", "fence", "7")
	var commanded *actions.Commanded
	if _, err := w.machine.ByHand(t.Context(), nil); !errors.As(err, &commanded) || len(w.journal.records) > 0 {
		t.Errorf("%v, records %s", err, w.kinds())
	}
}

package gameday

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// A person's deed is wrong where the documents speak against it and the script does not do it, too; what they say
// of it is quoted.
func TestWrongMoves(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "templates", "gamedays", "second-outage.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	day, err := Parse("second-outage.yaml", source, bundled{})
	if err != nil {
		t.Fatal(err)
	}
	score := func(name string, v float64) Score { return Score{Name: name, Value: &v} }
	open := []Score{score("left", 3)}
	closed := []Score{score("recovered", 200), score("left", 0)}
	answer := func(modes ...runbook.Mode) Deed { return Deed{Deed: steps.OrderAnswer, About: "declare", Modes: modes} }
	for name, c := range map[string]struct {
		scores       []Score
		deeds        []Deed
		script       []Deed
		what         string // "" for nothing wrong
		why, whyElse string // parts of what is quoted
	}{
		"the modes":                  {deeds: []Deed{answer("cell-loss")}},
		"another mode":               {deeds: []Deed{answer("origin-fault")}, what: "declared origin-fault; it was ", why: " was left out: "},
		"one mode too many":          {deeds: []Deed{answer("hot-shard", "cell-loss")}, what: "declared hot-shard, cell-loss; it was cell-loss"},
		"a skipped brake":            {deeds: []Deed{{Deed: steps.OrderSkip, About: "enforce-admission", Text: "not needed"}}, what: "skipped enforce-admission: not needed", why: "enforce-admission: "},
		"as the script":              {deeds: []Deed{{Deed: steps.OrderSkip, About: "enforce-admission"}}, script: []Deed{{Deed: steps.OrderSkip, About: "enforce-admission"}}},
		"a colleague's hand":         {deeds: []Deed{{Deed: DeedEdit, About: "origin.admission", Text: "4000"}}},
		"what that was left at":      {deeds: []Deed{{Deed: steps.OrderAdopt, About: "origin.admission", Text: "4000"}}, what: "left origin.admission at 4000", why: "hit ratio", whyElse: "enforce-admission: "},
		"an undo that still waits":   {deeds: []Deed{{Deed: steps.OrderUndo, About: "no-retries"}}},
		"an undo that was made":      {deeds: []Deed{{Deed: steps.OrderUndo, About: "no-retries"}, {Deed: DeedLift, About: "no-retries", Text: "retries.budget to 10%"}}, what: "took back no-retries, retries.budget to 10%", why: "no-retries: "},
		"an undo of the machine":     {deeds: []Deed{{Deed: DeedLift, About: "no-retries"}}},
		"stopped half-way":           {scores: open, deeds: []Deed{{Deed: steps.OrderInterrupt, Text: "interrupt"}}, what: "stopped the walk", why: "had not recovered", whyElse: "3 of the controls"},
		"stopped by the day's end":   {scores: open, deeds: []Deed{{Deed: steps.OrderInterrupt, Seconds: day.Duration.Seconds()}}},
		"aborted when all was done":  {scores: closed, deeds: []Deed{{Deed: steps.OrderAbort}}},
		"a word that does no damage": {deeds: []Deed{{Deed: steps.OrderHold}, {Deed: steps.OrderRelease}, {Deed: steps.OrderApprove}}},
	} {
		got := day.Compare(&Result{Scores: c.scores, Deeds: c.deeds}, &Result{Deeds: c.script}).Wrong
		switch {
		case c.what == "" && len(got) > 0 || c.what != "" && len(got) != 1:
			t.Errorf("%s: %+v", name, got)
		case c.what != "":
			why := strings.Join(got[0].Why, "\n")
			if !strings.Contains(got[0].What, c.what) || !strings.Contains(why, c.why) || !strings.Contains(why, c.whyElse) {
				t.Errorf("%s: %q because of %q", name, got[0].What, why)
			}
		}
	}
}

// Of a past nobody knows which modes were right, unless the day says it.
func TestModesOfAPast(t *testing.T) {
	for script, wrong := range map[string]int{"": 0, "operator: {modes: [cell-loss]}": 1} {
		day := parse(t, `apiVersion: rewarm/v1
kind: GameDay
name: remembered
about: for a test
past: {input: [{series: up, values: '1x9'}]}
runbook: cell-loss
duration: 1m
`+script+`
expect: [{name: nothing, finally: [{score: words, equals: 0}]}]
`)
		person := &Result{Deeds: []Deed{{Deed: steps.OrderAnswer, About: "declare", Modes: []runbook.Mode{"origin-fault"}}}}
		if c := day.Compare(person, &Result{}); len(c.Wrong) != wrong || (c.Modes == nil) != (wrong == 0) {
			t.Errorf("%q: %v %+v", script, c.Modes, c.Wrong)
		}
	}
}

// An undo of a brake is a deed when it has lifted it; one that puts a release back protects, and is none.
func TestLiftIsADeed(t *testing.T) {
	for direction, lifts := range map[runbook.Direction]bool{runbook.Releasing: true, runbook.Protecting: false} {
		body := &steps.Settled{
			Target: steps.Target{Step: "no-retries", Purpose: steps.PurposeUndo}, Result: steps.ResultApplied,
			Plan: actions.Plan{Control: "retries.budget", Direction: direction}, After: "10%",
		}
		want := Deed{Deed: DeedLift, About: "no-retries", Text: "retries.budget to 10%"}
		if d, is := deedOf(body); is != lifts || lifts && !reflect.DeepEqual(d, want) {
			t.Errorf("%s: %v %+v", direction, is, d)
		}
	}
}

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// stretched is the state of a run that has stretched the stale window and capped leaders.
func stretched(t *testing.T) *steps.State {
	t.Helper()
	_, source, _ := readBundled(bundledBook)
	flip := func(step, control, after, shown string, version int64) []any {
		target := steps.Target{Step: step, Purpose: steps.PurposeFlip, Control: control, To: after}
		plan := actions.Plan{Run: "RUN", Step: step, Control: control, After: text(after), Direction: runbook.Protecting}
		digest := strings.Repeat(fmt.Sprintf("%02x", version), 32)
		return []any{
			&steps.Planned{Target: target, Plan: plan, Digest: digest, After: shown},
			&steps.Intended{Target: target, Plan: plan, Digest: digest, After: shown},
			&steps.Settled{Target: target, Plan: plan, Digest: digest, Result: steps.ResultApplied, Version: version, After: shown},
		}
	}
	bodies := []any{
		&steps.Begun{Format: steps.FormatV1, Run: "RUN", Service: "catalog", File: "book.yaml", Runbook: source},
		&steps.StageBody{Stage: "rank-warmth"},
	}
	bodies = append(bodies, flip("extend-stale", "stale.product-detail", "120", "120s", 1)...)
	bodies = append(bodies, flip("leaders-per-cell", "leaders.cell", "60", "60 leaders", 2)...)
	bodies = append(bodies, &steps.OrderedBody{Order: steps.OrderUndo, Step: "leaders-per-cell", By: "ben", Reason: "search asks for it"})
	kinds := make([]string, len(bodies))
	for i, body := range bodies {
		kinds[i] = kindOf(t, body)
	}
	dir := t.TempDir()
	logOf(t, dir, "20261129T100801Z-book-0001", kinds, bodies...)
	state, err := steps.Fold(audit.Records(filepath.Join(dir, "runs", "20261129T100801Z-book-0001", "audit.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// laterClock stands 72 s after the records were written.
type laterClock struct{ frozenClock }

func (c laterClock) Now() time.Time { return c.frozenClock.Now().Add(72 * time.Second) }

// TestQuestions holds what a person reads at the prompt, on a narrow terminal and a wide
// one: rows that break between words, and the words that count at the end.
func TestQuestions(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	rung := func(to string) steps.Change {
		return steps.Change{Control: "routing.cell-c", After: text(to), Unit: "%"}
	}
	undo := steps.Change{Control: "undo of call freeze-deployments", After: text(`["deployctl","thaw","catalog"]`)}
	ladder := steps.Question{Step: "route-back",
		Planned: &steps.Planned{Plan: actions.Plan{Control: "routing.cell-c", Direction: runbook.Releasing}, Digest: digest, Before: "0%", After: "10%"},
		Offers: []steps.Offer{
			{Scope: steps.ScopePlan, Digest: digest, Word: "approve", Covers: []steps.Change{rung("10")}},
			{Scope: steps.ScopeLadder, Digest: strings.Repeat("cd", 32), Word: "approve ladder", Covers: []steps.Change{rung("10"), rung("25"), rung("100")}},
		}}
	rest := steps.Question{Step: "lift-everything", Offers: []steps.Offer{
		{Scope: steps.ScopePlan, Digest: digest, Word: "approve", Covers: []steps.Change{undo}},
		{Scope: steps.ScopeLadder, Digest: strings.Repeat("cd", 32), Word: "approve rest", Covers: []steps.Change{
			{Control: "stale.product-detail", After: text("60")}, {Control: "stale.product-detail", After: text("10")},
			{Control: "jobs.background", After: text("on")}, undo}},
	}}
	modes := steps.Question{Step: "declare", Asks: "Which modes do the signals speak for?", Modes: true, Else: "undeclared", Until: laterClock{}.Now().Add(12 * time.Second)}
	told := modes
	told.Diagnosed = &steps.Noted{Text: "the signals speak for cell-loss; not measured: hot-shard", Diagnosis: &steps.Diagnosis{Signs: []steps.ModeSign{
		{Mode: "cell-loss", Verdict: "likely", Reason: "a cell was built up from empty in the last ten minutes"},
		{Mode: "hot-shard", Verdict: "unknown", Reason: "not measured: one node's CPU is full"},
		{Mode: "synchronized-expiry", Verdict: "unlikely", Reason: "it is not so that the hottest key was missing everywhere at once, or a large part of an untouched cell's keys lapsed"},
	}}}
	blind := modes
	blind.Diagnosed = &steps.Noted{Text: cannotSay("connection refused").text, Diagnosis: &steps.Diagnosis{}}
	free := steps.Question{Step: "reason", Asks: "Why?"}
	lift := steps.Question{Step: "leaders-per-cell", Lift: &stretched(t).Lifts()[0],
		Planned: &steps.Planned{Plan: actions.Plan{Control: "leaders.cell", Direction: runbook.Releasing}, Digest: digest, Before: "60 leaders", After: "400 leaders (field removed)"},
		Offers:  []steps.Offer{{Scope: steps.ScopePlan, Digest: digest, Word: "approve", Covers: []steps.Change{{Control: "leaders.cell"}}}}}

	var out narrow
	for _, out.width = range []int{80, 120} {
		fmt.Fprintf(&out, "%d columns\n", out.width)
		m := newScripted(t)
		m.state = stretched(t)
		d := &driver{machine: m, clock: laterClock{}, say: &out}
		for _, q := range []steps.Question{ladder, rest, modes, told, blind, free, lift} {
			d.asked = asked{question: q, key: q.Key()}
			d.showQuestion(true)
		}
		d.asked = asked{question: ladder, key: ladder.Key()}
		d.showQuestion(false)
		d.showStatus()
		if err := d.typed(typedLine{text: "help"}); err != nil {
			t.Fatal(err)
		}
	}
	compareGolden(t, "question.golden", out.Bytes())
	for line := range strings.Lines(out.String()) {
		if len(line) > 121 {
			t.Errorf("%q is too wide", line)
		}
	}
}

// TestLeft: on a paced lab a person is told the seconds that a person has.
func TestLeft(t *testing.T) {
	now := frozenClock{}.Now()
	for clock, want := range map[clock]string{
		frozenClock{}: "12 s",
		newPacedClock(&modelClock{now: now}, frozenClock{}, 4): "3 s",
	} {
		d := &driver{clock: clock}
		if got := d.left(now.Add(12 * time.Second)); got != want {
			t.Errorf("%T: %s left, want %s", clock, got, want)
		}
	}
	if got := (&driver{clock: frozenClock{}}).left(now.Add(-time.Minute)); got != "0 s" {
		t.Errorf("%s left of a deadline that has passed", got)
	}
}

// TestApproveWhileHeld: the word says what has to come first.
func TestApproveWhileHeld(t *testing.T) {
	state := stretched(t)
	d, m, said := attended(t, steps.Question{})
	m.state = state
	hold := func(h *steps.Held) {
		dir := t.TempDir()
		_, source, _ := readBundled(bundledBook)
		logOf(t, dir, "20261129T100801Z-book-0001", []string{steps.KindBegun, steps.KindHeld},
			&steps.Begun{Format: steps.FormatV1, Run: "RUN", Service: "catalog", File: "book.yaml", Runbook: source}, h)
		var err error
		if m.state, err = steps.Fold(audit.Records(filepath.Join(dir, "runs", "20261129T100801Z-book-0001", "audit.jsonl"))); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		held *steps.Held
		want string
	}{
		{&steps.Held{Cause: "person", By: "ana", Sentence: "held by ana: lunch", Can: "release, or abort"}, "rewarm: held by ana: lunch; release first\n"},
		{&steps.Held{Cause: "redis", Sentence: "redis cannot be read", Can: "abort; it lifts when redis answers"},
			"rewarm: held: redis cannot be read\nrewarm: hint: abort; it lifts when redis answers\n"},
	} {
		hold(test.held)
		said.Reset()
		if err := d.typed(typedLine{text: "approve stage", number: 11}); err != nil {
			t.Fatal(err)
		}
		if said.String() != test.want || len(m.orders) > 0 {
			t.Errorf("said %q, want %q; ordered %v", said, test.want, m.orders)
		}
	}
}

// unfinished is a person who has not sent a line yet.
type unfinished struct {
	terminal
	line typedLine
}

func (u *unfinished) unsent() typedLine { return u.line }

// TestTimeIsUp: what was typed and not sent is the answer when the time of a question ends that takes any text.
func TestTimeIsUp(t *testing.T) {
	now := wallClock{}.Now()
	asked := func(modes bool, left time.Duration) steps.Question {
		return steps.Question{Step: "reason", Asks: "Why?", Modes: modes, Else: "nothing", Until: now.Add(left)}
	}
	in := func(q steps.Question, text, burst string) typedLine {
		return typedLine{text: text, screen: true, asked: q.Key(), burst: burst}
	}
	over, open, modes := asked(false, -time.Second), asked(false, time.Hour), asked(true, -time.Second)
	for name, test := range map[string]struct {
		asks  steps.Question
		line  typedLine
		taken bool
	}{
		"a thought":             {over, in(over, "called the", ""), true},
		"there is time":         {open, in(open, "called the", ""), false},
		"it would choose":       {modes, in(modes, "2", ""), false},
		"nothing":               {over, in(over, "", ""), false},
		"an order":              {over, in(over, "hold it", ""), false},
		"an approval":           {over, in(over, "approve", ""), false},
		"pasted":                {over, in(over, "called the", tooFast), false},
		"begun before the time": {over, typedLine{text: "called the", screen: true, asked: "another"}, false},
	} {
		d, m, _ := attended(t, test.asks)
		d.person = &unfinished{line: test.line}
		if err := d.timeIsUp(); err != nil {
			t.Fatal(err)
		}
		if taken := len(m.orders) == 1 && m.orders[0].Text == test.line.text+unfinishedAnswer; taken != test.taken {
			t.Errorf("%s: %+v", name, m.orders)
		}
	}
}

package steps

import (
	"testing"

	"github.com/rewarm/rewarm/runbook"
)

// TestChoices: what an answer to the question after the modes takes and leaves out is what the machine does with it.
func TestChoices(t *testing.T) {
	book := func(modes string) *runbook.Document {
		return mustParse(t, `stages:
  declare-mode:
    - {step: ask, confirm: {ask: which, choose: modes, after: 5s, else: undeclared}}
  protect-origin:
    - {step: limit, flip: {control: admission, to: 3200}}
    - {step: around, `+modes+`flip: {control: stale, to: 120s}}
`)
	}
	for _, test := range []struct{ modes, want string }{
		{"", ""},
		{"modes: [cell-loss, cold-region], ", "an answer of 1, 4, 5, 6, 7 or 8 skips around; an answer of 2, 3 or none takes around; of several, one that takes a step is enough"},
	} {
		if got := ChoicesText(book(test.modes)); got != test.want {
			t.Errorf("%q: %q", test.modes, got)
		}
	}
	doc := book("modes: [cell-loss], ")
	for _, declared := range [][]runbook.Mode{nil, {"cell-loss"}, {"hot-shard"}, {"hot-shard", "cell-loss"}} {
		n := &next{doc: doc, s: &State{Doc: doc, Modes: declared}}
		choice := ChoiceOf(doc, declared...)
		if takes := n.applies(doc.Step("around")); takes != (len(choice.Takes) == 1) || takes == (len(choice.Skips) == 1) {
			t.Errorf("%v: the machine takes it: %v, the person is told %q", declared, takes, choice)
		}
	}
}

package cli

import (
	"strings"

	"github.com/rewarm/rewarm/steps"
)

// saidElsewhere reports whether a record says nothing that another line of a walk does
// not say: a plan and its intent are in the line of the flip, or in the question that
// waits for its approval, a step is done when the next is entered, and a breached guard
// holds. The log has them all, and `audit show` prints them.
func saidElsewhere(body any) bool {
	switch b := body.(type) {
	case *steps.Planned, *steps.Guarded:
		return true
	case *steps.Intended:
		return !b.Blind
	case *steps.StepBody:
		return b.State == steps.StepDone && (usualOutcomes[b.Outcome] || strings.HasPrefix(b.Outcome, "answered: "))
	}
	return false
}

var usualOutcomes = map[string]bool{"in force": true, "passed": true, "done": true, "restored": true}

// cameFrom is the value that a flip started from, as far as its plan was seen.
func (t *transcript) cameFrom(digest string) string {
	if p := t.plans[digest]; p != nil {
		return ", from " + p.Before
	}
	return ""
}

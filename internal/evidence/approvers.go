package evidence

import (
	"slices"
	"strings"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// approvers are whose approvals a release goes by, asked at its intent: those that still stand and cover it.
// Of two that say the same the later counts, and more than one person is named only where several approved.
func (t *tally) approvers(b *steps.Intended) string {
	if b.Plan.Direction != runbook.Releasing {
		return ""
	}
	var by []string
	for _, a := range t.state.Approvals() {
		if a.Void || !covers(a, b) {
			continue
		}
		if words := approvalWords(a); !slices.Contains(by, words) {
			by = append(by, words)
		}
	}
	return strings.Join(by, " and ")
}

// covers: an approval of a plan is of one digest; a wider one is of values of controls, whatever step gets to them.
func covers(a *steps.ApprovalState, b *steps.Intended) bool {
	if a.Scope == steps.ScopePlan {
		return a.Digest == b.Digest
	}
	return slices.ContainsFunc(a.Covers, func(c steps.Change) bool {
		return c.Control == b.Plan.Control && c.Unit == b.Plan.Unit && shownRaw(c.After) == shownRaw(b.Plan.After)
	})
}

func approvalWords(a *steps.ApprovalState) string {
	wide := map[steps.Scope]string{steps.ScopeLadder: ", the rest of its step",
		steps.ScopeStage: ", the whole stage"}[a.Scope]
	if a.How == steps.HowAuto {
		return "auto, its gate being green" + wide
	}
	return a.By + " (" + a.How + wide + ")"
}

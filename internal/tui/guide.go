package tui

import "github.com/rewarm/rewarm/runbook"

// guides say on a rehearsal what a stage is for, a line each.
var guides = [runbook.StageCount + 1]string{
	runbook.DeclareMode:      "Name what broke. The brakes do not wait for the answer; what is warmed and where reads go does.",
	runbook.ProtectOrigin:    "The more the origin is asked, the less it completes. So load comes off first; hits do not matter yet.",
	runbook.PreserveStale:    "Readers get copies from before, declared stale, where their class allows it. The copies run out.",
	runbook.ConstrainLeaders: "Of many reads of a missing key one fetches it and few keys are fetched at once.",
	runbook.RankWarmth:       "What most reads ask for is warmed first, with what live reads leave of the origin's limit.",
	runbook.Observe:          "Does useful work keep up with new work? Nothing comes back before the queue is short and retries are gone.",
	runbook.Expand:           "Reads come back rung by rung, each on the demand that it will make. Too much goes down again by itself.",
	runbook.Restore:          "What this run put on is lifted, one at a time, each on the demand it leaves. Recovered is not yet done.",
	runbook.Reconcile:        "The log has what the machine did. What else was done, only people know.",
}

// guideSection is the guide of the stage, on the lab's service alone: in an incident there is no room for it, and that of
// a past is another service.
func (d *drawing) guideSection(width int) section {
	if !d.s.Begun.Lab || d.s.Begun.Past || d.s.Stage == 0 || d.s.Ending != "" {
		return section{}
	}
	return section{rows: d.paintedWrap(d.ink.quiet, guides[d.s.Stage], width, 0), flows: true}
}

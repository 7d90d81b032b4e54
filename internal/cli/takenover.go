package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// takenOver says which run has taken the command over from another one for good.
type takenOver struct{ run, sentence string }

// takenOverIn finds who has taken over from a run: its log knows it when its process saw it, Redis always does, and of
// a run of this machine that did it, its first record. It is nil when nobody has.
func (p *program) takenOverIn(log *runLog, state *steps.State) *takenOver {
	if other := state.TakenBy(); other != "" {
		i := slices.IndexFunc(state.Holds(), func(h *steps.HoldState) bool { return h.TakenBy == other })
		return &takenOver{other, state.Holds()[i].Sentence}
	}
	if state.Ending != "" || state.Begun.Lab || log.over != nil || log.walked() {
		return log.over
	}
	return p.tookOver(log.folder)
}

// tookOver looks for a run of this machine that began by taking over from another one.
func (p *program) tookOver(from runFolder) *takenOver {
	folders, err := p.runFolders()
	if err != nil {
		return nil
	}
	for _, f := range folders {
		if f.run < from.run {
			continue
		}
		log := &runLog{folder: f, files: p.segments(f)}
		if b, _, _ := log.glance(); b.Over != nil && b.Over.Run == from.run {
			return &takenOver{f.run, oneLine(fmt.Sprintf("run %s has taken over: %s on %s, at %s: %s",
				f.run, b.User, b.Host, f.began().UTC().Format(time.RFC3339), b.Over.Reason))}
		}
	}
	return nil
}

// goesOn says what goes on with a run that nobody walks any more.
func (p *program) goesOn(run string, over *takenOver) string {
	if over == nil {
		return p.command("resume", run) + " goes on with it"
	}
	return over.sentence + "; " + p.command("watch", over.run) + " follows that"
}

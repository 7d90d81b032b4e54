package cli

import (
	"fmt"
	"strings"

	"github.com/rewarm/rewarm/steps"
)

// summary prints what a person wants to know when a walk has ended: the recovery
// time by the exit, what is not at its steady value, where the log lies, its head,
// and what to run next.
func (w *walk) summary() {
	s := w.machine.State()
	var b strings.Builder
	b.WriteString(wrapRows(howItStopped(s), columnsOf(w.p.out)))
	switch {
	case s.Recovered != nil:
		b.WriteString(strings.ToLower(recoveredText(s.Recovered)))
	default:
		b.WriteString("not recovered: the exit was not reached")
	}
	if s.Begun.Lab {
		b.WriteString(" (every figure is a model's)")
	}
	b.WriteString("\n")
	b.WriteString(wrapRows(olderThanRun(s), columnsOf(w.p.out)))
	left := standing{state: s, now: w.on.clock.Now(), over: w.takenOver()}
	b.WriteString(wrapRows(left.flipped(), columnsOf(w.p.out)))
	fmt.Fprintf(&b, "log: %s\n", oneLine(w.log.Path()))
	if s.Broken {
		b.WriteString(brokenLogText(w.p.settings.emergencyLog))
	}
	if head, ok := w.log.Head(); ok {
		fmt.Fprintf(&b, "head: %s%s\n", head, w.signedBy())
	}
	b.WriteString(wrapRows(w.comesBack(), columnsOf(w.p.out)))
	for _, command := range w.nextCommands() {
		fmt.Fprintf(&b, "next: %s\n", command)
	}
	switch {
	case w.on.lab && s.Ending != steps.EndedClosed:
		b.WriteString("this walk cannot be resumed: the lab ended with it; start again with " + w.on.again + "\n")
	case s.Ending != steps.EndedClosed && w.p.settings.secretsGiven():
		b.WriteString("the passwords of the URLs are left out: give them again\n")
	}
	fmt.Fprint(w.p.out, b.String())
}

// howItStopped is who ended a walk that did not come to its end by itself, and why.
func howItStopped(s *steps.State) []string {
	holds := s.Holds()
	switch {
	case s.Ending == steps.EndedAborted:
		return []string{oneLine("aborted" + by(s.End.By) + also(": ", s.End.Reason))}
	case s.Ending == "" && len(holds) > 0:
		return []string{oneLine("stopped: " + holds[len(holds)-1].Sentence)}
	}
	return nil
}

// olderThanRun says that an incident is older than the run that recovered it, where an earlier run has left something.
func olderThanRun(s *steps.State) []string {
	left, before, older := s.FoundLeft()
	if !older {
		return nil
	}
	return []string{oneLine(fmt.Sprintf("the incident is older: %s was left away from its steady value by run %s, %s before this run began",
		left.Control, left.Run, lasting(before.Milliseconds())))}
}

// brokenLogText says where the records are that the log's disk did not take.
func brokenLogText(emergencyLog string) string {
	if emergencyLog != "" {
		return "the records that its disk did not take are in " + oneLine(emergencyLog) + ": keep both files\n"
	}
	return "the records that its disk did not take are in the mirror in redis, from where resume, status and audit take them\n"
}

func (w *walk) signedBy() string {
	if w.journal.key == nil || w.journal.headDue {
		return ""
	}
	return ", signed by " + oneLine(w.journal.key.Verifier.Name())
}

// comesBack says of a walk that was given up how what it left out of place comes back: the run cannot be
// gone on with, and its undo went with it.
func (w *walk) comesBack() []string {
	s := w.machine.State()
	overrides := s.Overrides()
	if s.Ending != steps.EndedAborted || w.on.lab || len(overrides) == 0 {
		return nil
	}
	return []string{
		"an aborted run is not resumed; a new walk takes over what it left, and restores it once the exit holds:",
		"  " + w.p.bookCommand("run", s.Begun.File, s.Begun.Runbook, s.Begun.Parameters),
		"or one by one, by hand, as " + overrides[0].Control + ":",
		"  " + w.p.command("controls set", strings.Join([]string{s.Begun.Service, shellWord(overrides[0].Control),
			shellWord(overrides[0].Steady)}, " ")) + " --reason TEXT",
	}
}

// takenOver is who has taken over from the walk, as its own process has learned.
func (w *walk) takenOver() *takenOver {
	return w.p.takenOverIn(&runLog{folder: w.folder}, w.machine.State())
}

// nextCommands are what a person would run now, spelled so that they can be pasted.
func (w *walk) nextCommands() []string {
	p, run := w.p, w.folder.run
	next := []string{p.command("status", run), p.command("audit show", run), p.command("audit verify", run) + " --deep",
		p.command("evidence export", run)}
	if !w.on.lab && w.machine.State().Ending == "" {
		next = append(p.goOnCommands(w.machine.State(), w.takenOver()), next...)
	}
	return next
}

// checkLog verifies the log of a walk on the lab once it is closed, and says so.
func (w *walk) checkLog() error {
	if err := w.close(); err != nil {
		return err
	}
	checked, err := w.p.verify(w.folder)
	if err == nil {
		err = verifyDeep(w.p.records(w.folder), w.folder, &checked)
	}
	if err != nil {
		return err
	}
	if !w.p.settings.json() {
		fmt.Fprintf(w.p.out, "the log verifies: head %s\n", checked.Head)
	}
	return nil
}

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// events says in words what a record says.
func (t *transcript) events(record audit.Record, body any) []event {
	switch b := body.(type) {
	case *steps.Begun:
		return one("run", begunText(b))
	case *steps.Resumed:
		return one(t.here(), resumedText(b))
	case *steps.StageBody:
		return one(b.Stage, stageText(b))
	case *steps.StepBody:
		return one(t.at(b.Step), stepText(b))
	case *steps.Observed:
		return t.observed(record, b)
	case *steps.Judged:
		return one(t.at(b.Step), t.judgedText(b))
	case *steps.OwedBody:
		return one(t.at(b.Step), "on, effect not proved yet; "+t.stillOwed())
	case *steps.Guarded:
		return one(t.here(), guardedText(b))
	case *steps.Recovered:
		return one("exit", recoveredText(b))
	case *steps.Ended:
		return one(t.here(), t.endedText(record.Kind, b))
	}
	if e, ok := t.flipEvent(body); ok {
		if t.tries.again(record, body, e) {
			return nil
		}
		return []event{e}
	}
	if e, ok := t.personEvent(body); ok {
		return []event{e}
	}
	if record.Kind == steps.KindTorn {
		return one(t.here(), "torn: the log's last line was cut short and is passed over")
	}
	return one(t.here(), record.Kind+" "+string(record.Body))
}

func one(where, text string) []event { return []event{{where: where, text: text}} }

// flipEvent covers the life of a flip: plan, approval, intent, outcome, drift.
func (t *transcript) flipEvent(body any) (event, bool) {
	switch b := body.(type) {
	case *steps.Planned:
		return event{where: t.at(b.Target.Step), text: plannedText(b)}, true
	case *steps.Approved:
		return event{where: t.at(b.Step), text: t.approvedText(b)}, true
	case *steps.Intended:
		return event{where: t.at(b.Target.Step), text: intendedText(b)}, true
	case *steps.Settled:
		return event{where: t.at(b.Target.Step), text: t.settledText(b)}, true
	case *steps.Drifted:
		return event{where: t.here(), text: driftedText(b)}, true
	}
	return event{}, false
}

// personEvent covers what persons are told, asked and say, and what is called.
func (t *transcript) personEvent(body any) (event, bool) {
	switch b := body.(type) {
	case *steps.Held:
		return event{where: t.here(), text: heldText(b), rows: heldRows(b.Can, b.Costs)}, true
	case *steps.Skipped:
		return event{where: t.at(b.Step), text: skippedText(b)}, true
	case *steps.Noted:
		return event{where: t.here(), text: "note" + by(b.By) + from(b.Origin) + ": " + b.Text, rows: notedRows(b)}, true
	case *steps.ManualBody:
		return event{where: t.here(), text: manualText(b)}, true
	case *steps.OrderedBody:
		return event{where: t.at(b.Step), text: orderedText(b)}, true
	case *steps.Called:
		return event{where: t.at(b.Step), text: calledText(b)}, true
	case *steps.ConfirmedBody:
		return event{where: t.at(b.Step), text: confirmedText(b)}, true
	}
	return event{}, false
}

// notedRows is what a remark says of the modes.
func notedRows(b *steps.Noted) []string {
	if b.Diagnosis == nil {
		return nil
	}
	return diagnosisRows(b.Diagnosis)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// from says where an order came from that was not typed here, and how that is known.
func from(o *steps.Origin) string {
	if o == nil {
		return ""
	}
	text := also(" from ", o.Host)
	switch o.Proof {
	case actions.ProofACL:
		text += " (redis proves the name)"
	case actions.ProofClaimed:
		text += " (the name is claimed)"
	}
	return text
}

// also adds a part to a sentence when there is one.
func also(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// shortDigest is how much of a digest is shown and, at least, typed: hex digits.
const shortDigest = 8

// short is the part of a digest that a person can type.
func short(digest string) string { return digest[:min(shortDigest, len(digest))] }

func begunText(b *steps.Begun) string {
	if b.Hand != nil {
		return fmt.Sprintf("begun %s: %s of service %s by hand: %s; redis %s; by %s on %s, pid %d; rewarm %s",
			b.Run, b.Hand.Control, b.Service, b.Hand.Reason, b.Redis, b.User, b.Host, b.PID, b.Version)
	}
	parts := []string{
		fmt.Sprintf("begun %s: %s (sha256 %.12s) for service %s", b.Run, b.File, b.SHA256, b.Service),
		targetsText(b),
		"releases approved " + approverText(b.Approve),
		fmt.Sprintf("by %s on %s, pid %d", b.User, b.Host, b.PID),
		"rewarm " + b.Version,
	}
	if len(b.Parameters) > 0 {
		parts = slices.Insert(parts, 2, "with "+pairs(b.Parameters))
	}
	if b.Through != "" {
		parts = append(parts, "through "+b.Through)
	}
	if b.Over != nil {
		parts = append(parts, "TAKES OVER from "+b.Over.Run+": "+b.Over.Reason+also("; found: ", strings.Join(b.Over.Found, ", ")))
	}
	return strings.Join(parts, "; ")
}

func targetsText(b *steps.Begun) string {
	switch {
	case b.Past:
		return "on the lab: the metrics are of the past, which no flip changes"
	case b.Scenario != nil:
		return fmt.Sprintf("on the lab, scenario %s, seed %d: every figure is a model's", b.Scenario.Name, b.Scenario.Seed)
	case b.Lab:
		return "on the lab: every figure is a model's"
	}
	return "prometheus " + b.Prometheus + ", redis " + b.Redis
}

func approverText(mode steps.ApproveMode) string {
	if mode == steps.Auto {
		return "as soon as their gates are green"
	}
	return "by a person"
}

func pairs(values map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return strings.Join(list, ", ")
}

func resumedText(b *steps.Resumed) string {
	text := fmt.Sprintf("resumed by %s on %s, pid %d; releases approved %s", b.User, b.Host, b.PID,
		approverText(b.Approve))
	return text + also("; found: ", strings.Join(b.Found, ", "))
}

func stageText(b *steps.StageBody) string {
	if b.Skip != "" {
		return "stage passed: " + b.Skip
	}
	return "stage entered"
}

func stepText(b *steps.StepBody) string {
	switch {
	case b.NotDone():
		return "step over, NOT DONE: " + b.Outcome
	case b.State == steps.StepDone:
		return "step done" + also(": ", b.Outcome)
	case b.State == steps.StepDeferred:
		return "step waits for the declared modes" + also(": ", b.Outcome)
	}
	return "step entered" + also(": ", b.Why)
}

func plannedText(b *steps.Planned) string {
	text := fmt.Sprintf("plan %s: %s %s -> %s", short(b.Digest), b.Plan.Control, b.Before, b.After)
	if b.Plan.Direction == runbook.Neither {
		return text + ", nothing to do"
	}
	return text + ", " + string(b.Plan.Direction) + also("; owner ", b.Owner)
}

func (t *transcript) approvedText(b *steps.Approved) string {
	text := fmt.Sprintf("approved %s %s, %s", t.scopeOf(b), short(b.Digest), approvedBy(b))
	switch {
	case len(b.Covers) < 2:
		return text
	case t.brief: // the question listed them
		return text + ": " + countOf(len(b.Covers), "change")
	}
	return text + ": " + strings.Join(changeRows(t.doc, b.Covers), "; ")
}

// scopeOf names what an approval takes along as the word does with which it is given.
func (t *transcript) scopeOf(b *steps.Approved) string {
	if b.Scope == steps.ScopeLadder && t.doc != nil {
		if step := t.doc.Step(b.Step); step != nil && step.Restore != nil {
			return "rest of " + step.Name
		}
	}
	return string(b.Scope)
}

func approvedBy(b *steps.Approved) string {
	if b.How == string(steps.Auto) {
		return "as its gate is green"
	}
	return b.How + by(b.By) + from(b.Origin)
}

func intendedText(b *steps.Intended) string {
	text := fmt.Sprintf("intent %s: %s to %s, fence %d", short(b.Digest), b.Plan.Control, b.After, b.Fence)
	if b.Blind {
		text += ", blind: its gate could not be judged"
	}
	return text
}

func (t *transcript) settledText(b *steps.Settled) string {
	control, reason := b.Plan.Control, also(": ", b.Sentence)+also("; ", b.Hint)
	switch b.Result {
	case steps.ResultApplied:
		return fmt.Sprintf("flipped %s to %s%s, %s (plan %s, version %d)", control, b.After, t.cameFrom(b.Digest),
			b.Plan.Direction, short(b.Digest), b.Version)
	case steps.ResultNothing:
		return fmt.Sprintf("nothing to do: %s is %s already%s", control, b.After, reason)
	case steps.ResultRefused:
		return fmt.Sprintf("refused: %s was not flipped%s%s", control, also(" to ", b.After), reason)
	case steps.ResultUnreached:
		if b.Cause == string(actions.Interrupted) {
			return fmt.Sprintf("not flipped: %s%s%s", control, also(" to ", b.After), reason)
		}
		return fmt.Sprintf("not flipped yet: %s%s%s; it is tried again", control, also(" to ", b.After), reason)
	}
	return fmt.Sprintf("unknown whether %s was flipped to %s%s", control, b.After, reason)
}

func driftedText(b *steps.Drifted) string {
	switch b.Decision {
	case steps.DriftLapsed:
		return fmt.Sprintf("drift: this run did not renew %s in time, and services left its value %s; it is idled and gated again", b.Control, rawText(b.Found))
	case steps.DriftEnded:
		return fmt.Sprintf("drift ended: %s is %s again", b.Control, rawText(b.Found))
	}
	return fmt.Sprintf("drift: %s is %s, this run left %s (%s); %s", b.Control, rawText(b.Found), rawText(b.Expected),
		b.Direction, b.Decision)
}

// rawText shows a raw value as it stands in Redis.
func rawText(raw *string) string {
	if raw == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", *raw)
}

func (t *transcript) judgedText(b *steps.Judged) string {
	_, name := t.gateHome(b.Gate)
	met := b.Decision == steps.DecisionMet
	text := fmt.Sprintf("%s %s: %s", name, b.Verdict, b.Decision)
	if met && t.brief {
		return name + " met" + also(": ", findingsText(b.Findings, nil)) + also("; ", t.stillOwed())
	}
	if b.Verdict != probes.Pass.String() && len(b.Findings) > 0 { // what passed was said when it was observed
		text += "; " + findingsText(b.Findings, nil)
	}
	if met {
		text += also("; ", t.stillOwed())
	}
	return text
}

func guardedText(b *steps.Guarded) string {
	text := b.Guard + " is kept again"
	if b.Breached {
		text = b.Guard + " is breached: " + b.Action
	}
	if len(b.Findings) > 0 {
		text += "; " + findingsText(b.Findings, nil)
	}
	return text
}

func heldText(b *steps.Held) string {
	if b.Lifted {
		return "hold lifted" + heldFor(b) + ": " + b.Sentence
	}
	who := by(b.By)
	if strings.HasPrefix(b.Sentence, "held"+who) {
		who = ""
	}
	return "HOLD" + who + from(b.Origin) + ": " + b.Sentence
}

// heldFor says who lifts a hold, or, where it lifts itself, what it was for.
func heldFor(b *steps.Held) string {
	if b.By != "" {
		return by(b.By) + from(b.Origin)
	}
	return " (" + b.Cause + ")"
}

// heldRows says what a person can do about a hold, and what waiting costs.
func heldRows(can, costs string) []string {
	var rows []string
	if can != "" {
		rows = append(rows, "may:    "+can)
	}
	if costs != "" {
		rows = append(rows, "costs:  "+costs)
	}
	return rows
}

func skippedText(b *steps.Skipped) string {
	text := "skipped" + by(b.By) + from(b.Origin) + ": " + b.Reason
	if len(b.Findings) > 0 {
		text += "; " + findingsText(b.Findings, nil)
	}
	return text
}

func orderedText(b *steps.OrderedBody) string {
	if b.Moot != "" {
		return "the undo that " + b.By + " ordered is not made any more: " + b.Moot
	}
	text := "ordered " + string(b.Order) + also(" of ", b.Control)
	if b.Order == steps.OrderHandover {
		text += fmt.Sprintf(" to %s until %s UTC", b.To, b.Until.UTC().Format("2006-01-02 15:04"))
	}
	text += by(b.By) + from(b.Origin) + also(": ", b.Reason)
	return text + also("; refused: ", b.Refused)
}

func calledText(b *steps.Called) string {
	what := "call"
	switch {
	case b.Undo:
		what = "undoing call"
	case b.Instead:
		what = "call instead of the flip"
	}
	switch {
	case !b.Finished:
		return what + " started: " + strings.Join(b.Command, " ")
	case b.OK:
		return what + " done" + also(": ", b.Output)
	}
	return what + " failed: " + b.Error + also("; output: ", b.Output)
}

func confirmedText(b *steps.ConfirmedBody) string {
	switch {
	case !b.Answered:
		return "asks: " + b.Ask
	case b.By == "":
		return fmt.Sprintf("nobody answered, taken: %q", b.Answer)
	}
	return fmt.Sprintf("answered by %s%s: %q", b.By, from(b.Origin), b.Answer)
}

func recoveredText(b *steps.Recovered) string {
	text := "RECOVERED " + lasting(b.TookMS) + " after the run began"
	if b.IncidentMS > 0 {
		text += " and " + lasting(b.IncidentMS) + " after the run from which it was taken over"
	}
	switch {
	case b.Late:
		text += ", later than the " + lasting(b.WithinMS) + " of recover_within"
	case b.WithinMS > 0:
		text += ", within the " + lasting(b.WithinMS) + " of recover_within"
	}
	return text
}

// lasting writes milliseconds as a time for people, with the tenths by which a target is missed: 2m10.0s.
func lasting(ms int64) string {
	const minute = 60_000
	if ms < minute {
		return fmt.Sprintf("%.1fs", float64(ms)/1000)
	}
	return fmt.Sprintf("%dm%04.1fs", ms/minute, float64(ms%minute)/1000)
}

func (t *transcript) endedText(kind string, b *steps.Ended) string {
	text := kind + by(b.By) + also(": ", b.Reason)
	if !b.Recovered && !t.hand {
		text += "; the exit was not reached"
	}
	if len(b.Overrides) == 0 {
		text += "; every control that this run flipped is at its steady value"
	} else {
		var list []string
		for _, o := range b.Overrides {
			list = append(list, o.Control+" is "+o.Value+" (steady "+o.Steady+")")
		}
		text += "; not at its steady value: " + strings.Join(list, ", ")
	}
	return text + also("; calls not undone: ", strings.Join(b.Calls, ", ")) +
		also("; done by hand and not taken back: ", strings.Join(b.ByHand, "; ")) +
		also("; undos that waited and were not made: ", strings.Join(b.Undos, "; "))
}

// ago writes how long something has been so.
func ago(since, now time.Time) string {
	return steps.Lasts(now.Sub(since))
}

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// showQuestion says compactly what is asked, what it would do, what waiting costs and
// which words count. What an approval takes along is listed in full, or counted.
func (d *driver) showQuestion(full bool) {
	d.asked.shown = d.clock.Now()
	q := d.asked.question
	switch {
	case d.person != nil && d.person.shows():
	case d.asked.key == "":
		d.tell("nothing is asked; what counts now: " + strings.Join(d.words(), ", "))
	case q.Asks != "":
		sayBlock(d.say, "question: "+q.Step+": "+q.Asks, d.confirmRows(q)...)
	default:
		sayBlock(d.say, "approval: "+subjectOf(q)+": "+d.planText(q), d.approvalRows(q, full)...)
	}
}

// subjectOf names what an approval is for.
func subjectOf(q steps.Question) string {
	if q.Lift != nil {
		return "undo of " + q.Step + ", " + q.Lift.Ordered()
	}
	return q.Step
}

// planText is the plan that waits, or the call that does.
func (d *driver) planText(q steps.Question) string {
	if p := q.Planned; p != nil {
		return plannedText(p)
	}
	if len(q.Offers) > 0 {
		return strings.Join(changeRows(d.doc(), q.Offers[0].Covers), ", ")
	}
	return "it waits for a word"
}

func (d *driver) doc() *runbook.Document { return d.machine.State().Doc }

func (d *driver) approvalRows(q steps.Question, full bool) []string {
	longest := 0
	for _, offer := range q.Offers {
		longest = max(longest, len(offer.Word))
	}
	rows := append(readingRows(d.machine.State(), d.clock.Now()), costRows(d.machine.State(), d.clock.Now())...)
	rows = append(rows, personRows(d.machine.State().Begun.Run, q)...)
	for _, offer := range q.Offers {
		rows = append(rows, fmt.Sprintf("%-*s  %s", longest, offer.Word, offerText(q, offer, full)))
		if len(offer.Covers) > 1 && full {
			for _, row := range changeRows(d.doc(), offer.Covers) {
				rows = append(rows, strings.Repeat(" ", longest+4)+row)
			}
		}
	}
	return append(rows, otherWords(q))
}

// personRows says of an approval by two persons who is still needed, and what they type.
func personRows(run string, q steps.Question) []string {
	if !q.Two {
		return nil
	}
	row := "takes two persons"
	if len(q.Given) > 0 {
		row += "; approved by " + strings.Join(q.Given, ", ")
	}
	row += fmt.Sprintf("; elsewhere, under a redis user of their own: rewarm approve %s %s", run,
		short(q.Offers[0].Digest))
	return []string{row}
}

// otherWords are those that can be typed instead of what a question asks for.
func otherWords(q steps.Question) string {
	return "or " + strings.Join([]string{"hold", leaveWord(q), "abort", wordStatus, wordHelp}, ", ")
}

// leaveWord is what goes on without what is asked for.
func leaveWord(q steps.Question) string {
	if q.Lift != nil {
		return q.Lift.Drop()
	}
	return "skip " + q.Step + " REASON"
}

// offerText says what an approval is for. Of a list that was shown before, how much is
// left of it.
func offerText(q steps.Question, offer steps.Offer, full bool) string {
	text := "this plan"
	switch {
	case offer.Scope == steps.ScopeLadder:
		text = "this and all that is left of " + q.Step
	case offer.Scope == steps.ScopeStage:
		text = "all that is left of this stage"
	}
	text += " (" + short(offer.Digest) + ")"
	switch {
	case len(offer.Covers) < 2:
		return text
	case full:
		return text + ":"
	}
	return fmt.Sprintf("%s, %s; Enter lists them", text, countOf(len(offer.Covers), "change"))
}

func (d *driver) confirmRows(q steps.Question) []string {
	rows := costRows(d.machine.State(), d.clock.Now())
	typed := "type the answer on one line"
	if q.Modes {
		rows = append(append(modesAsked(q), choiceRows(d.doc())...), rows...)
		rows = append(rows, steps.BrakesGoOn)
		typed = "type numbers or names, as 1,2"
	}
	if !q.Until.IsZero() {
		rows = append(rows, fmt.Sprintf("%s left, then %q", d.left(q.Until), q.Else))
	}
	rows = append(rows, typed+"; "+otherWords(q))
	if q.Modes {
		rows = append(rows, answerStands)
	}
	return rows
}

// answerStands says what can be done about an answer that turns out wrong.
const answerStands = "an answer stands: take STEP puts on a brake that it left out, undo STEP lifts one"

// modesAsked lists the modes with what the signals say of them, as far as that is known.
func modesAsked(q steps.Question) []string {
	switch said := q.Diagnosed; {
	case said == nil:
		return modeRows()
	case len(said.Diagnosis.Signs) == 0:
		return append(modeRows(), said.Text)
	default:
		return append([]string{said.Text}, diagnosisRows(said.Diagnosis)...)
	}
}

// choiceRows say which steps an answer takes and which it leaves out.
func choiceRows(doc *runbook.Document) []string {
	if text := steps.ChoicesText(doc); text != "" {
		return []string{text}
	}
	return nil
}

// modeRows lists the modes with their numbers, two a row.
func modeRows() []string {
	half := (len(runbook.Modes) + 1) / 2
	rows := make([]string, half)
	for i, mode := range runbook.Modes {
		if i < half {
			rows[i] = fmt.Sprintf("%d %-22s", i+1, mode)
			continue
		}
		rows[i-half] += fmt.Sprintf("%d %s", i+1, mode)
	}
	return rows
}

// showStatus says where the walk stands.
func (d *driver) showStatus() {
	v := standing{state: d.machine.State(), now: d.clock.Now(), words: d.words()}
	if d.person != nil && d.person.opens(wordStatus+" as of "+v.now.UTC().Format("15:04:05Z"), v.text(0)) {
		return
	}
	fmt.Fprint(d.say, v.text(columnsOf(d.say)))
}

// left is how long a person has until a moment of the run: on a paced lab in the
// seconds of the person, not of the model.
func (d *driver) left(until time.Time) string {
	return fmt.Sprintf("%.0f s", max(d.felt(until.Sub(d.clock.Now())), 0).Seconds())
}

// felt is how long a time of the run is for a person.
func (d *driver) felt(run time.Duration) time.Duration {
	if paced, ok := d.clock.(*pacedClock); ok {
		return paced.asReal(run)
	}
	return run
}

// words are those that count at this moment.
func (d *driver) words() []string {
	return append(d.machine.State().May(d.asked.question), "note TEXT", wordStatus, wordHelp)
}

// notOnOffer answers an approval that nothing waits for, with what has to come first.
func (d *driver) notOnOffer(text string) {
	hold := d.firstHold()
	switch {
	case len(d.asked.question.Offers) > 0:
		d.tell(fmt.Sprintf("%q is not on offer; what counts now: %s", text, strings.Join(d.words(), ", ")))
	case hold == nil:
		d.tell("nothing waits for an approval now" + also(": ", d.blocking))
	case hold.By != "":
		d.tell(hold.Sentence + "; release first")
	default:
		d.tell("held: " + hold.Sentence)
		d.tellHint(hold.Can)
	}
}

// firstHold is the hold to begin with: one that a person set, else the oldest; nil when
// nothing is held.
func (d *driver) firstHold() *steps.HoldState {
	holds := d.machine.State().Holds()
	for _, hold := range holds {
		if hold.By != "" {
			return hold
		}
	}
	if len(holds) == 0 {
		return nil
	}
	return holds[0]
}

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// asked is the question that a person has been shown.
type asked struct {
	question steps.Question
	key      string
	after    uint64    // lines up to this one were typed before it appeared
	shown    time.Time // when it was shown last
}

// remind is how much run time may pass before a question that waits is shown again:
// what happens meanwhile pushes it off the screen.
const remind = time.Minute

// questionKey tells questions apart: the same words for another plan are another
// question.
func questionKey(q steps.Question) string {
	key := q.Step + "\x00" + q.Asks
	for _, offer := range q.Offers {
		key += "\x00" + offer.Word + "\x00" + offer.Digest
	}
	return strings.Trim(key, "\x00")
}

// ask shows a question when it is a new one. What was typed before it appeared is
// dropped and does not count.
func (d *driver) ask(q steps.Question) error {
	key := questionKey(q)
	if key == d.asked.key {
		if key != "" && d.clock.Now().Sub(d.asked.shown) >= remind {
			d.showQuestion()
		}
		return nil
	}
	d.asked = asked{question: q, key: key}
	if key == "" {
		return nil
	}
	d.asked.after = d.terminal.ask()
	d.showQuestion()
	return nil
}

func (d *driver) showQuestion() {
	d.asked.shown = d.clock.Now()
	q := d.asked.question
	switch {
	case d.asked.key == "":
		d.tell("nothing is asked; type " + wordHelp + " for what can be typed")
	case q.Asks != "":
		d.showConfirm(q)
	default:
		d.showApproval(q)
	}
}

func (d *driver) showConfirm(q steps.Question) {
	d.tell("question: " + q.Step + ": " + q.Asks)
	if q.Modes {
		for i, mode := range runbook.Modes {
			d.tell(fmt.Sprintf("  %d %s", i+1, mode))
		}
		d.tell("type numbers or names, as 1,2" + elseText(q.Else))
		return
	}
	d.tell("type the answer on one line" + elseText(q.Else))
}

func elseText(otherwise string) string {
	if otherwise == "" {
		return ""
	}
	return fmt.Sprintf("; without an answer it is %q", otherwise)
}

func (d *driver) showApproval(q steps.Question) {
	text := "approval: " + q.Step
	if p := q.Planned; p != nil {
		text += ": " + plannedText(p)
	}
	d.tell(text)
	for _, offer := range q.Offers {
		d.tell(fmt.Sprintf("type %q for %s", offer.Word, offerText(offer)))
	}
}

func offerText(offer steps.Offer) string {
	text := "this " + string(offer.Scope) + " (" + short(offer.Digest) + ")"
	if offer.Scope == steps.ScopeStage {
		text = "this stage's plans (" + short(offer.Digest) + ")"
	}
	return text + coversText(offer.Covers)
}

// typed takes one line of the person.
func (d *driver) typed(line typedLine) error {
	switch strings.ToLower(line.text) {
	case "":
		d.showQuestion()
		return nil
	case wordHelp, "?":
		fmt.Fprint(d.say, spokenHelp())
		d.showQuestion()
		return nil
	case wordStatus:
		fmt.Fprint(d.say, statusText(d.machine.State(), d.clock.Now()))
		return nil
	}
	if offer, ok := d.offered(line.text); ok {
		return d.approve(line, offer)
	}
	order, ok, err := parseSpoken(line.text)
	switch {
	case err != nil:
		d.tell("refused: " + err.Error())
		return nil
	case !ok:
		return d.reply(line)
	case line.burst && !isBrake(order.Kind):
		return d.notNow("several lines came at once")
	case order.Kind == steps.OrderAnswer:
		return d.answer(line, order.Text)
	}
	return d.order(order)
}

// offered finds the approval that a line gives, by its exact words.
func (d *driver) offered(text string) (steps.Offer, bool) {
	words := strings.Join(strings.Fields(text), " ")
	for _, offer := range d.asked.question.Offers {
		if strings.EqualFold(words, offer.Word) {
			return offer, true
		}
	}
	return steps.Offer{}, false
}

// approve gives an approval, unless the line cannot have been typed in answer to
// what is shown.
func (d *driver) approve(line typedLine, offer steps.Offer) error {
	if reason := d.notAnAnswer(line); reason != "" {
		return d.notNow(reason)
	}
	return d.order(steps.Order{Kind: steps.OrderApprove, Digest: offer.Digest, Step: d.asked.question.Step})
}

// notAnAnswer says why a line does not count as an answer, "" when it does.
func (d *driver) notAnAnswer(line typedLine) string {
	switch {
	case line.burst:
		return "several lines came at once"
	case line.number <= d.asked.after:
		return "it was typed before the question appeared"
	}
	return ""
}

func (d *driver) notNow(reason string) error {
	d.tell("that does not count: " + reason)
	d.showQuestion()
	return nil
}

// reply takes a line that is no order: an answer to the question, or a mistake.
func (d *driver) reply(line typedLine) error {
	if d.asked.question.Asks != "" {
		return d.answer(line, line.text)
	}
	d.tell(fmt.Sprintf("not understood: %q; type %s for what can be typed", line.text, wordHelp))
	if d.asked.key != "" {
		d.showQuestion()
	}
	return nil
}

// answer answers a confirm.
func (d *driver) answer(line typedLine, text string) error {
	q := d.asked.question
	if q.Asks == "" {
		d.tell("refused: nothing is asked that takes an answer")
		return nil
	}
	if reason := d.notAnAnswer(line); reason != "" {
		return d.notNow(reason)
	}
	if q.Modes {
		modes, err := parseModes(text)
		if err != nil {
			d.tell("refused: " + err.Error())
			d.showQuestion()
			return nil
		}
		text = modes
	}
	return d.order(steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: text})
}

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

// remind is how much of a person's time may pass before a question that waits is shown again:
// what happens meanwhile pushes it off the screen.
const remind = time.Minute

// ask shows a question when it is a new one. What was typed before it appeared is
// dropped and does not count.
func (d *driver) ask(q steps.Question) error {
	key := q.Key()
	if key == d.asked.key {
		if key != "" && d.felt(d.clock.Now().Sub(d.asked.shown)) >= remind {
			d.showQuestion(false)
		}
		return nil
	}
	d.asked = asked{question: q, key: key}
	if key == "" {
		return nil
	}
	d.asked.after = d.person.ask()
	d.showQuestion(d.listed != q.Step)
	d.listed = q.Step
	return nil
}

// typed takes one line of the person. A screen shows a question as soon as the records ask it, while the walk may still
// be at a poll: then it is asked from now on.
func (d *driver) typed(line typedLine) error {
	if line.screen {
		if q, waits := d.machine.State().Question(d.clock.Now()); waits {
			if err := d.ask(q); err != nil {
				return err
			}
		}
	}
	switch strings.ToLower(line.text) {
	case "":
		d.showQuestion(true)
		return nil
	case wordHelp, "?":
		fmt.Fprint(d.say, wrapRows(spokenHelp(), columnsOf(d.say)))
		d.showQuestion(false)
		return nil
	case wordStatus:
		d.showStatus()
		return nil
	}
	if approves(line.text) {
		return d.approve(line)
	}
	order, ok, err := parseSpoken(line.text, d.clock.Now())
	switch {
	case ok && d.mayBeAnswer(line, order, err):
		return d.notTaken(line)
	case err != nil:
		d.tell("refused: " + err.Error())
		if order.Kind == steps.OrderKeep {
			d.tellHint(d.undosThatWait())
		}
		return nil
	case !ok:
		return d.reply(line)
	case line.burst != "" && !isBrake(order.Kind):
		return d.notNow(line.burst)
	case order.Kind == steps.OrderAbort && line.burst != "":
		return d.holdInstead(line, order)
	case order.Kind == steps.OrderAnswer:
		return d.answer(line, order.Text)
	}
	return d.order(order)
}

// holdInstead is for an abort that no hand has typed, as far as can be told: it cannot be taken back, so it never
// counts, however often it comes. It holds at once, for that cannot be wrong, and asks for the word to be typed.
func (d *driver) holdInstead(line typedLine, order steps.Order) error {
	if hold := d.firstHold(); hold == nil || hold.By == "" {
		reason := strings.TrimSuffix("abort was given: "+order.Text, ": ")
		if err := d.order(steps.Order{Kind: steps.OrderHold, Text: reason}); err != nil {
			return err
		}
	}
	d.tell("held, not aborted: " + line.burst + "; type abort by hand to end the walk, or release to go on")
	return nil
}

// approves reports whether a line begins with the word of an approval. It is never an
// answer to a question.
func approves(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return strings.EqualFold(word, wordApprove)
}

// offered finds the approval that a line gives: by its exact words, or by the digest as
// it is shown, or more of it.
func (d *driver) offered(text string) (steps.Offer, bool) {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	digest := strings.TrimPrefix(words, wordApprove+" ")
	for _, offer := range d.asked.question.Offers {
		if words == offer.Word || len(digest) >= shortDigest && strings.HasPrefix(offer.Digest, digest) {
			return offer, true
		}
	}
	return steps.Offer{}, false
}

// readingNamed finds a reading by hand that a line confirms by its digest, or nil.
func (d *driver) readingNamed(text string) *steps.HandReading {
	_, digest, _ := strings.Cut(text, " ")
	return d.machine.State().ReadingNamed(strings.TrimSpace(digest), d.clock.Now())
}

// approve gives an approval, unless nothing waits for it or the line cannot have been
// typed in answer to what is shown.
func (d *driver) approve(line typedLine) error {
	offer, ok := d.offered(line.text)
	if reading := d.readingNamed(line.text); !ok && reading != nil {
		offer, ok = steps.Offer{Digest: reading.Digest}, true
	}
	if !ok {
		d.notOnOffer(line.text)
		if d.takesText() {
			d.tellHint(`an answer that begins with this word is typed as "answer ` + wordApprove + ` …"`)
		}
		return nil
	}
	if reason := d.notAnAnswer(line); reason != "" {
		return d.notNow(reason)
	}
	return d.order(steps.Order{Kind: steps.OrderApprove, Digest: offer.Digest, Step: d.asked.question.Step})
}

// notAnAnswer says why a line does not count as an answer, "" when it does.
func (d *driver) notAnAnswer(line typedLine) string {
	switch {
	case line.burst != "":
		return line.burst
	case d.begunBefore(line):
		return "it was begun before the question appeared"
	}
	return ""
}

// begunBefore reports whether a line was begun before what is asked now appeared.
func (d *driver) begunBefore(line typedLine) bool {
	if line.screen {
		return line.asked != d.asked.key
	}
	return line.number <= d.asked.after
}

func (d *driver) notNow(reason string) error {
	d.tell("that does not count: " + reason + "; type it")
	d.showQuestion(false)
	return nil
}

// undosThatWait names what keep can drop.
func (d *driver) undosThatWait() string {
	var drops []string
	for _, l := range d.machine.State().Lifts() {
		drops = append(drops, l.Drop())
	}
	if drops == nil {
		return "no undo waits"
	}
	return "what waits: " + strings.Join(drops, ", ")
}

// mayBeAnswer reports whether a line that begins with the word of an order may be meant to
// answer a question that takes any text. The word alone is the order, and so is one that
// names a step, a control or a probe of the runbook; a remark does no harm.
func (d *driver) mayBeAnswer(line typedLine, order steps.Order, refused error) bool {
	word, rest, _ := strings.Cut(line.text, " ")
	if !d.takesText() || d.begunBefore(line) || rest == "" || strings.HasSuffix(word, surely) {
		return false
	}
	switch order.Kind {
	case steps.OrderAnswer, steps.OrderNote:
		return false
	case steps.OrderHandover:
		return refused != nil
	}
	return !declares(d.doc(), order.Step)
}

// declares reports whether a runbook has a step, a control or a probe of that name.
func declares(doc *runbook.Document, name string) bool {
	return doc.Step(name) != nil || doc.Control(name) != nil || doc.Probe(name) != nil
}

// takesText reports whether a question is shown that any text answers.
func (d *driver) takesText() bool { return d.asked.question.Asks != "" && !d.asked.question.Modes }

// notTaken asks back what a line was meant to be.
func (d *driver) notTaken(line typedLine) error {
	word, _, _ := strings.Cut(strings.ToLower(line.text), " ")
	d.tell(fmt.Sprintf("not taken: it may be the answer or an order; type %q for the answer, %q for the order",
		"answer "+word+" …", word+surely+" …"))
	d.showQuestion(false)
	return nil
}

// reply takes a line that is no order: an answer to the question, or a mistake.
func (d *driver) reply(line typedLine) error {
	if d.asked.question.Asks != "" {
		return d.answer(line, line.text)
	}
	d.tell(fmt.Sprintf("not understood: %q; what counts now: %s", beginningOf(line.text), strings.Join(d.words(), ", ")))
	return nil
}

// unfinishedAnswer ends an answer that its person had not finished when its time was over.
const unfinishedAnswer = " … (not sent when the time for it was over)"

// timeIsUp takes what stands in the line of a person for the answer when the time of a question ends that takes any
// text: it is the last moment to keep it. A line that chooses something, or that may be an order, is not taken.
func (d *driver) timeIsUp() error {
	q := d.asked.question
	if d.person == nil || !d.takesText() || q.Until.IsZero() || q.Until.After(d.clock.Now()) {
		return nil
	}
	line := d.person.unsent()
	_, isOrder, _ := parseSpoken(line.text, d.clock.Now())
	if line.text == "" || isOrder || approves(line.text) || d.notAnAnswer(line) != "" {
		return nil
	}
	return d.order(steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: line.text + unfinishedAnswer})
}

// mostEchoed is how much is repeated of a line that was not understood, in characters: what counts has to
// stay in sight.
const mostEchoed = 20

// beginningOf is what is repeated of a line.
func beginningOf(line string) string {
	if letters := []rune(line); len(letters) > mostEchoed {
		return string(letters[:mostEchoed]) + "…"
	}
	return line
}

// answer answers a confirm.
func (d *driver) answer(line typedLine, text string) error {
	q := d.asked.question
	if q.Asks == "" {
		d.tell("refused: nothing is asked that takes an answer" + also("; ", d.modesStand()))
		return nil
	}
	if reason := d.notAnAnswer(line); reason != "" {
		return d.notNow(reason)
	}
	if q.Modes {
		modes, err := parseModes(text)
		if err != nil {
			d.tell("refused: " + err.Error())
			d.showQuestion(false)
			return nil
		}
		text = modes
	}
	if err := d.order(steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: text}); err != nil || !q.Modes {
		return err
	}
	d.confirms(d.modesStand())
	return nil
}

// confirms says what came of a word. It stays when what the word was about has gone, which it is no answer to.
func (d *driver) confirms(text string) {
	switch {
	case text == "":
	case d.person != nil && d.person.out() != nil:
		say(d.person.out(), "", text)
	default:
		d.tell(text)
	}
}

// modesStand says which modes were declared, and what is done where that turns out wrong: they are declared once. It is
// "" before, and where a runbook does not ask for them.
func (d *driver) modesStand() string {
	s := d.machine.State()
	declared := s.Declared()
	if declared == "" {
		return ""
	}
	text := declared + also(", which ", steps.ChoiceOf(s.Doc, s.Modes...).String()) + "; modes are declared once"
	if steps.ChoicesText(s.Doc) == "" {
		return text
	}
	return text + `: "take STEP" takes what they leave out, "undo STEP" or "skip STEP REASON" what they take`
}

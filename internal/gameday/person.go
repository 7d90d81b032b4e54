package gameday

import (
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// person is who answers the questions of the walk.
type person struct {
	approve string
	word    time.Duration
	modes   []runbook.Mode
	ignores bool // clears every hold away
	cleared time.Time
}

func newPerson(day *Day, o Options) person {
	return person{approve: o.Approve, word: day.Operator.Word, modes: day.Operator.Modes}
}

// typing is a word under way.
type typing struct {
	about string // what it answers
	done  time.Time
}

func (t typing) due() (time.Time, bool) { return t.done, t.about != "" }

// speaks says what there is to say to a run; true when it did.
func (p *person) speaks(r *walker, now time.Time) bool {
	if p.ignores && now.Sub(p.cleared) >= second && p.clears(r) {
		p.cleared = now
		return true
	}
	if p.approve != runbook.ApprovePerson {
		return false
	}
	order, about := p.answer(r.question)
	if about == "" {
		r.typing = typing{}
		return false
	}
	if r.typing.about != about {
		r.typing = typing{about, now.Add(p.word)}
	}
	if now.Before(r.typing.done) {
		return false
	}
	r.typing = typing{}
	outcome, detail := r.order(order)
	if outcome != "done" {
		r.w.tell(Event{Event: string(order.Kind), Outcome: outcome, Detail: detail})
	}
	return outcome == "done"
}

// answer is what a question is answered with, and by what it is known again; "" for a
// question that is none or answers itself well.
func (p *person) answer(q steps.Question) (steps.Order, string) {
	switch {
	case len(q.Offers) > 0:
		offer := q.Offers[len(q.Offers)-1]
		return steps.Order{Kind: steps.OrderApprove, Digest: offer.Digest, Step: q.Step}, offer.Digest
	case q.Asks == "":
		return steps.Order{}, ""
	case q.Modes && len(p.modes) == 0:
		return steps.Order{}, ""
	case q.Modes:
		return steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: joinModes(p.modes)}, q.Step
	}
	return steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: "nothing"}, q.Step
}

func joinModes(modes []runbook.Mode) string {
	words := make([]string, len(modes))
	for i, m := range modes {
		words[i] = string(m)
	}
	return strings.Join(words, ", ")
}

// clears gets one hold out of the way as somebody does who does not read it; true when an
// order was followed.
func (p *person) clears(r *walker) bool {
	for _, hold := range r.machine.State().Holds() {
		o := steps.Order{Kind: steps.OrderRelease, Text: "cleared away"}
		word, name, _ := strings.Cut(hold.Cause, " ")
		switch {
		case strings.HasPrefix(hold.Cause, "drift of "):
			o.Kind, o.Step = steps.OrderAdopt, strings.TrimPrefix(hold.Cause, "drift of ")
		case word == "when" || word == "expect" || word == "undone":
			o.Kind, o.Step = steps.OrderSkip, name
		}
		if outcome, _ := r.order(o); outcome == "done" {
			r.w.tell(Event{Event: string(o.Kind), Outcome: "done", Detail: "against the hold: " + hold.Sentence})
			return true
		}
	}
	return false
}

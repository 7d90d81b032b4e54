package simulation

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

// thinks is how long a person takes to answer a question.
const thinks = 2 * time.Second

// pendingCall is a call under way.
type pendingCall struct {
	request steps.CallRequest
	ends    time.Time
	ok      bool
}

// Start takes a call. What a fault says of it counts for this one alone.
func (p *process) Start(r steps.CallRequest) {
	c := pendingCall{request: r, ends: p.w.now.Add(time.Second), ok: true}
	switch p.w.callFault {
	case "fails":
		c.ok = false
	case "slow":
		c.ends = c.ends.Add(20 * time.Second)
	case "hangs":
		c.ends, c.ok = c.ends.Add(r.Timeout), false
	}
	p.w.callFault = ""
	p.calls = append(p.calls, c)
}

// hear hands in what calls and persons have to say by now.
func (p *process) hear() {
	for i := 0; i < len(p.calls); i++ {
		c := p.calls[i]
		if c.ends.After(p.w.now) {
			continue
		}
		p.calls = append(p.calls[:i:i], p.calls[i+1:]...)
		i--
		done := steps.CallDone{Step: c.request.Step, Undo: c.request.Undo, Instead: c.request.Instead, OK: c.ok}
		if !c.ok {
			done.Error = "exit status 1"
		}
		p.said(p.machine.Called(done))
	}
	for _, f := range p.unasked {
		p.speak(f)
	}
	p.unasked = nil
	p.open()
	if p.w.warp.mute {
		return
	}
	p.answer()
	if p.w.isQuiet() {
		p.help()
	}
}

// said lets a refusal pass; any other error ends the process at its next move.
func (p *process) said(err error) (followed bool) {
	var refused *steps.RefusedOrder
	if err != nil && !errors.As(err, &refused) {
		p.w.checker.left(err)
	}
	return err == nil
}

// order gives an order, and lets the checker know what persons have decided.
func (p *process) order(o steps.Order) {
	p.agrees(o)
	if p.said(p.machine.Order(o)) {
		p.followed(o)
	}
}

func (p *process) agrees(o steps.Order) {
	if o.Kind == steps.OrderAdopt {
		p.w.checker.agreed[o.Step] = true
	}
}

func (p *process) followed(o steps.Order) {
	switch o.Kind {
	case steps.OrderHold:
		p.w.checker.heldByHand = true
	case steps.OrderRelease:
		p.w.checker.heldByHand = false
	}
}

// speak gives an order that nobody asked for, where the walk is or from elsewhere.
func (p *process) speak(f Fault) {
	if f.What == "blind" {
		p.readAll(f)
		return
	}
	word, which, _ := strings.Cut(f.Value, " ")
	o := steps.Order{Kind: steps.OrderKind(word), Step: f.Name, By: "ben", Text: "because"}
	switch o.Kind {
	case steps.OrderApprove:
		o.Step, o.Text, o.Digest = "", "", p.digest(which)
	case steps.OrderAdopt, steps.OrderPutBack:
		o.Step = p.drifted()
	case steps.OrderUndo:
		if which == "control" {
			o.Step = p.w.doc.Controls[f.At%len(p.w.doc.Controls)].Name
		}
	case steps.OrderAnswer:
		if o.Step == "declare" {
			o.Text = "cell-loss"
		}
	}
	p.give(f, o)
	if which == "twice" {
		p.give(f, o)
	}
}

// give says an order or sends it; the same one sent twice is one.
func (p *process) give(f Fault, o steps.Order) {
	w := p.w
	last := len(w.letters) - 1
	switch {
	case f.What != "letter":
		p.order(o)
	case last >= 0 && w.letters[last].sent.Equal(w.now) && w.letters[last].order.Kind == o.Kind:
		w.letters = append(w.letters, w.letters[last])
	default:
		w.send(o, senders[f.At%len(senders)], f.For)
	}
}

// digest is what an approval names: what is on offer, or what was at another time.
func (p *process) digest(which string) string {
	offers := p.machine.Question().Offers
	if len(offers) > 0 && which != "old" {
		p.w.oldDigest = offers[0].Digest
		if which == "last" {
			p.w.oldDigest = offers[len(offers)-1].Digest
		}
	}
	return p.w.oldDigest
}

// drifted names a control whose drift holds.
func (p *process) drifted() string {
	for _, h := range p.machine.State().Holds() {
		if name, ok := strings.CutPrefix(h.Cause, "drift of "); ok {
			return name
		}
	}
	return "admission"
}

// think lets the person begin to think about a question.
func (p *process) think(q steps.Question) {
	key := q.Step + q.Asks
	if len(q.Offers) > 0 {
		key += q.Offers[0].Digest
	}
	if key != p.asked {
		p.asked, p.answers = key, p.w.now.Add(thinks)
	}
}

// answer answers what the person has thought about.
func (p *process) answer() {
	if p.asked == "" || p.answers.After(p.w.now) {
		return
	}
	p.asked = ""
	q := p.machine.Question()
	switch {
	case q.Asks != "":
		text := "nothing"
		if q.Modes {
			text = "cell-loss"
		}
		p.said(p.machine.Order(steps.Order{Kind: steps.OrderAnswer, Step: q.Step, Text: text, By: "ana"}))
	case len(q.Offers) > 0:
		o := steps.Order{Kind: steps.OrderApprove, Digest: q.Offers[len(q.Offers)-1].Digest, By: "ana"}
		if !q.Two || !slices.Contains(q.Given, "ana") {
			p.said(p.machine.Order(o))
		} else {
			p.w.send(o, senders[0], 0) // the second person
		}
	}
}

// help does what the holds say that a person may do.
func (p *process) help() {
	holds := slices.Clone(p.machine.State().Holds())
	if i := slices.IndexFunc(holds, func(h *steps.HoldState) bool { return h.Cause == "log" }); i > 0 {
		holds[0], holds[i] = holds[i], holds[0] // a walk without its log comes first
	}
	for _, h := range holds {
		o := steps.Order{By: "ana", Text: "it has been looked at"}
		word, name, _ := strings.Cut(h.Cause, " ")
		switch {
		case h.Cause == "person" || word == "call" || word == "failing" || word == "by":
			o.Kind = steps.OrderRelease
		case strings.HasPrefix(h.Cause, "drift of "):
			o.Kind, o.Step = steps.OrderPutBack, strings.TrimPrefix(h.Cause, "drift of ")
			if o.Step == "admission" {
				o.Kind = steps.OrderAdopt
			}
		case h.Cause == "log":
			o.Kind = steps.OrderInterrupt
		case (word == "when" || word == "undone" || word == "expect") && p.clock().Now().Sub(h.Since) > time.Minute:
			o.Kind, o.Step = steps.OrderSkip, name
		default:
			continue
		}
		p.order(o)
		return
	}
}

// rival is another run that commands the service when it can.
type rival struct {
	lease actions.Lease
	until time.Time
	next  time.Time
}

const rivalRun = "20261129T100900Z-rival-0001"

// startRival begins another run. It must be told who commands, unless nobody does; then
// it flips one control, keeps the command for a while and is gone.
func (w *world) startRival(f Fault) {
	holder := actions.Holder{Run: rivalRun, Actor: "cleo", Host: "ops-9"}
	lease, other := w.redis.take(holder, w.redis.now())
	if other != nil {
		return
	}
	w.rival = rival{lease: lease, until: w.now.Add(f.For)}
	c := w.doc.Control(f.Name)
	if value, err := actions.Decode(c, f.Value); err == nil {
		plan := actions.NewPlan(rivalRun, "their-step", c, w.redis.live(c, w.redis.now()), &value)
		w.redis.store.apply(lease, plan, actions.Stamp{Actor: "cleo", Protects: c.Protects}, w.redis.now())
	}
	w.edited()
}

// live renews the rival's lease, and ends with it.
func (r *rival) live(w *world) {
	switch {
	case r.lease.Fence == 0:
	case w.now.After(r.until):
		w.redis.store.drop(r.lease)
		r.lease = actions.Lease{}
	case !w.now.Before(r.next):
		_, _ = w.redis.store.renew(r.lease, nil, w.redis.now())
		r.next = w.now.Add(actions.RenewEvery)
	}
}

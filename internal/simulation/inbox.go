package simulation

import (
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

// letter is an order that lies in the inbox of the run.
type letter struct {
	order   steps.Order
	sent    time.Time
	arrives time.Time // when a process can read it
}

// mostLate is how long an order may have waited before only holds and notes are followed.
const mostLate = 15 * time.Second

// senders are who sends orders from elsewhere: somebody whom Redis proves, somebody whom it
// does not, and whoever walks the run under another roof.
var senders = []steps.Order{
	{By: "bob", Origin: &steps.Origin{Proof: actions.ProofACL}},
	{By: "mallory", Origin: &steps.Origin{}},
	{By: "ana", Origin: &steps.Origin{Proof: actions.ProofACL}},
}

// send puts an order into the inbox, where it can be read after a while.
func (w *world) send(o steps.Order, from steps.Order, takes time.Duration) {
	w.sent++
	origin := *from.Origin
	origin.ID, origin.Host, origin.Sent = "letter-"+strconv.Itoa(w.sent), "ops-9", w.redis.now().UTC()
	o.By, o.Origin = from.By, &origin
	w.letters = append(w.letters, letter{order: o, sent: w.now, arrives: w.now.Add(takes)})
}

// open takes what lies in the inbox, as far as Redis answers.
func (p *process) open() {
	w := p.w
	if len(w.letters) == 0 || w.redis.trouble(false) != nil {
		return
	}
	waiting := w.letters
	w.letters = nil
	for _, l := range waiting {
		if l.arrives.After(w.now) {
			w.letters = append(w.letters, l)
			continue
		}
		p.receive(l)
	}
}

// receive hands one order from elsewhere to the walk. It is one record, however often it comes.
func (p *process) receive(l letter) {
	o, origin := l.order, *l.order.Origin
	id := origin.ID
	waited := p.w.now.Sub(l.sent)
	origin.WaitedMS = waited.Milliseconds()
	if p.w.warp.renamed {
		p.w.sent++
		origin.ID += "-" + strconv.Itoa(p.w.sent)
	}
	o.Origin = &origin
	p.agrees(o)
	receipt, err := p.machine.Receive(o)
	if !p.said(err) {
		return
	}
	if receipt.Refused == "" && !receipt.Again {
		p.followed(o)
		if waited > mostLate && o.Kind != steps.OrderHold && o.Kind != steps.OrderNote {
			p.w.checker.broken(orderOnce, "%s of %s was followed %s late", o.Kind, o.By, waited)
		}
	}
	if n := recordsOf(p.log.disk, id); n > 1 {
		p.w.checker.broken(orderOnce, "%s of %s became %d records", o.Kind, o.By, n)
	}
}

func recordsOf(d *disk, id string) int {
	n := 0
	for _, l := range d.lines {
		if origin := originOf(l.body); origin != nil && (origin.ID == id || strings.HasPrefix(origin.ID, id+"-")) {
			n++
		}
	}
	return n
}

// originOf is where the order came from that a record follows from, nil for none.
func originOf(body any) *steps.Origin {
	switch b := body.(type) {
	case *steps.Approved:
		return b.Origin
	case *steps.ConfirmedBody:
		return b.Origin
	case *steps.Drifted:
		return b.Origin
	case *steps.Held:
		return b.Origin
	case *steps.ManualBody:
		return b.Origin
	case *steps.Noted:
		return b.Origin
	case *steps.OrderedBody:
		return b.Origin
	case *steps.Skipped:
		return b.Origin
	}
	return nil
}

// takeover lets somebody else take the command from the run, whose process sleeps through
// it, and walk the same runbook on in a run of their own.
func (w *world) takeover(f Fault) {
	p := w.process
	if p == nil || w.sleeper != nil || p.replaced || len(w.disk.lines) == 0 {
		return
	}
	w.sleeper, w.wakesAt, p.replaced = p, w.now.Add(f.For), true
	w.over = p.machine.State().Overtake("ana does not answer")
	w.run = strings.TrimSuffix(w.run, "a") + "b"
	w.disk, w.process, w.startAt = &disk{emergency: true}, nil, w.now.Add(time.Second)
	w.letters = nil // what was sent to the other run
	w.host = "ops-" + strconv.Itoa(whole(w.host[4:])+1)
	w.checker = newChecker(w)
	panic(asleep{})
}

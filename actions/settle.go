package actions

import (
	"context"
	"fmt"

	"github.com/rewarm/rewarm/runbook"
)

// Settle finds out what became of a plan whose Apply ended Unknown: Applied, or
// Refused with NotApplied, and then surely: the run gets a new fencing number in
// the same moment, so that a copy of the write that is still on its way is
// refused. Go on with Outcome.Lease then; applying the plan again is safe. The
// value is not written here.
func (s *Store) Settle(ctx context.Context, l Lease, p Plan) Outcome {
	keys := []string{s.keys.Controls, s.keys.Meta, s.keys.Commander, s.keys.Fence}
	words, err := s.write(ctx, settleScript, keys, p.Control, p.Run, l.Fence, p.Digest(), LeaseTime.Milliseconds(), l.Process)
	if err != nil {
		return s.settleByReading(ctx, p, err)
	}
	a := &answer{words: words}
	switch a.text(0) {
	case "applied":
		return s.readBack(ctx, p, a)
	case "commanded":
		return outcomeCommanded(commanded(words))
	case "absent":
		return notApplied(l, p, a)
	}
	a.fault(0)
	return outcomeOf(a.err)
}

// settleByReading serves where Redis can be read and not written: a digest that
// is there is proof, one that is not there proves nothing.
func (s *Store) settleByReading(ctx context.Context, p Plan, err error) Outcome {
	o := outcomeOf(err)
	o.Result = Unknown
	lives, readErr := s.Read(ctx, []*runbook.Control{{Name: p.Control}})
	if readErr != nil {
		return o
	}
	live := lives[p.Control]
	o.Found, o.Seen = live.Raw, true
	if m := live.Meta; m != nil && m.Digest == p.Digest() {
		return describeApplied(p, Outcome{Result: Applied, Version: m.Version, Found: live.Raw, Seen: true})
	}
	return o
}

func notApplied(l Lease, p Plan, a *answer) Outcome {
	o := Outcome{Result: Refused, Cause: NotApplied, Found: a.optional(1), Seen: true, Version: p.Version}
	l.Fence, l.Since, l.Until = a.number(3), a.time(4), a.time(5)
	if a.err != nil {
		return outcomeOf(a.err)
	}
	o.Lease = &l
	o.Sentence = fmt.Sprintf("%s was not flipped and will not be: it holds %s", p.Control, p.shown(o.Found))
	o.Hint = "the plan can be applied again"
	if !same(o.Found, p.Before) {
		o.Hint = "somebody has changed it since the plan was made; plan again from what it holds"
	}
	return o
}

package steps

import (
	"errors"
	"fmt"
	"time"
)

// Receipt is what became of an order from elsewhere.
type Receipt struct {
	Seq     uint64 // of its one record; 0 when the run has ended and its log takes no more
	Refused string // why it was not followed, "" when it was
	Hint    string
	Again   bool // it had been received before, and this is what became of it then
	// Blocking is what blocks the next release now, as State.Blocking says it.
	Blocking string
}

// lateAfter is how long an order may have waited before what it meant may be over. A
// hold and a remark are followed however late they are.
const lateAfter = 15 * time.Second

// Receive follows an order from elsewhere, or refuses it. Either way it becomes one record,
// which is on disk when this returns. The same order twice is one.
func (m *Machine) Receive(o Order) (Receipt, error) {
	receipt, err := m.receive(o)
	if err == nil {
		receipt.Blocking = m.state.Blocking(m.c.Clock.Now())
	}
	return receipt, err
}

func (m *Machine) receive(o Order) (Receipt, error) {
	if known, ok := m.state.received[o.Origin.ID]; ok {
		known.Again = true
		return known, nil
	}
	err := m.late(o)
	if err == nil {
		err = m.Order(o)
	}
	var refused *RefusedOrder
	switch {
	case err == nil:
		return Receipt{Seq: m.state.Seq}, nil
	case !errors.As(err, &refused):
		return Receipt{}, err
	case m.state.Ending != "":
		return Receipt{Refused: refused.Sentence, Hint: refused.Hint}, nil
	}
	body := &OrderedBody{Order: o.Kind, Step: o.Step, To: o.To, Until: o.Until, By: o.By, Reason: o.Text,
		Refused: refused.Sentence}
	if o.Kind == OrderApprove {
		body.Step = o.Digest
	}
	if err := m.by(o, KindOrdered, body); err != nil {
		return Receipt{}, err
	}
	return Receipt{Seq: m.state.Seq, Refused: refused.Sentence, Hint: refused.Hint}, nil
}

func (m *Machine) late(o Order) error {
	waited := time.Duration(o.Origin.WaitedMS) * time.Millisecond
	if waited <= lateAfter || o.Kind == OrderHold || o.Kind == OrderNote || m.state.Ending != "" {
		return nil
	}
	return &RefusedOrder{Sentence: fmt.Sprintf("it has waited %s until it was read", Lasts(waited)),
		Hint: "give it again, if it still is what you want"}
}

// receive remembers what became of an order from elsewhere.
func (s *State) receive(body any) {
	origin := originOf(body)
	if *origin == nil {
		return
	}
	receipt := Receipt{Seq: s.Seq}
	if b, ok := body.(*OrderedBody); ok {
		receipt.Refused = b.Refused
	}
	s.received[(*origin).ID] = receipt
}

// originOf gives where a body keeps the origin of the order that it follows from.
func originOf(body any) **Origin {
	switch b := body.(type) {
	case *Approved:
		return &b.Origin
	case *ConfirmedBody:
		return &b.Origin
	case *Drifted:
		return &b.Origin
	case *Held:
		return &b.Origin
	case *ManualBody:
		return &b.Origin
	case *Noted:
		return &b.Origin
	case *OrderedBody:
		return &b.Origin
	case *Skipped:
		return &b.Origin
	}
	return new(*Origin)
}

func setOrigin(body any, origin *Origin) { *originOf(body) = origin }

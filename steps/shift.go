package steps

import (
	"fmt"
	"time"
)

// Shift is who has the watch over a run, since it was handed over.
type Shift struct {
	To     string
	Until  time.Time
	By     string // who handed it over
	Since  time.Time
	Reason string
}

// String says who has the watch, until when and why.
func (s *Shift) String() string {
	return fmt.Sprintf("%s has the watch until %s UTC, by %s: %s", s.To, s.Until.UTC().Format("2006-01-02 15:04"),
		s.By, s.Reason)
}

// handOver writes down who has the watch from now on, until when and why.
func (m *Machine) handOver(o Order) error {
	switch {
	case o.To == "":
		return &RefusedOrder{Sentence: "a handover names who has the watch from now on", Hint: "handover WHO UNTIL REASON"}
	case o.Text == "":
		return &RefusedOrder{Sentence: "a handover needs a reason", Hint: "handover WHO UNTIL REASON"}
	case !o.Until.After(m.c.Clock.Now()):
		return &RefusedOrder{Sentence: fmt.Sprintf("the watch would end at %s UTC, which has passed",
			o.Until.UTC().Format("2006-01-02 15:04")), Hint: "handover WHO UNTIL REASON"}
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: OrderHandover, To: o.To, Until: o.Until.UTC(), By: o.By,
		Reason: o.Text})
}

// shiftEnds asks again when a watch is over: nothing is released that nobody watches.
func (n *next) shiftEnds() Move {
	shift := n.s.Shift
	switch {
	case shift == nil || n.s.hold(causeShift) != nil:
		return nil
	case shift.Until.After(n.now):
		n.wake(shift.Until)
		return nil
	}
	return n.heldBy(causeShift, fmt.Sprintf("the watch of %s ended at %s UTC: who has it now", shift.To,
		shift.Until.UTC().Format("15:04")),
		"a release goes on without a watch", "handover WHO UNTIL REASON", releaseWord)
}

// relieved reports whether somebody has the watch again.
func (s *State) relieved(now time.Time) (string, bool) {
	if s.Shift == nil {
		return "nobody has the watch", true
	}
	return s.Shift.To + " has the watch", s.Shift.Until.After(now)
}

package steps

import (
	"strings"
	"time"

	"github.com/rewarm/rewarm/actions"
)

// OrderKind is what a person can tell a run.
type OrderKind string

// The orders. Answer answers a confirm; Take takes a protecting step that was
// skipped as not needed; Interrupt idles what adds load and stops the walk so that
// it can be resumed.
const (
	OrderApprove   OrderKind = "approve"
	OrderHold      OrderKind = "hold"
	OrderRelease   OrderKind = "release"
	OrderAbort     OrderKind = "abort"
	OrderSkip      OrderKind = "skip"
	OrderTake      OrderKind = "take"
	OrderAnswer    OrderKind = "answer"
	OrderNote      OrderKind = "note"
	OrderDone      OrderKind = "done"     // a protecting step that cannot be flipped was done by hand
	OrderReading   OrderKind = "reading"  // give a value that cannot be measured
	OrderAdopt     OrderKind = "adopt"    // take a drifted value as it is
	OrderPutBack   OrderKind = "put-back" // write a drifted value back
	OrderUndo      OrderKind = "undo"     // put back what a step has flipped
	OrderKeep      OrderKind = "keep"     // leave in force what an undo wanted put back and what still waits
	OrderHandover  OrderKind = "handover" // somebody else has the watch from now on
	OrderInterrupt OrderKind = "interrupt"
)

// Order is one thing that a person tells a run.
type Order struct {
	Kind   OrderKind
	Digest string    // approve: the digest of the plan, ladder or stage, or its first 8 hex digits or more
	Step   string    // skip, take, done, answer, undo, keep; the control for adopt, put-back, undo and keep; the probe for reading
	Text   string    // the answer, the note or the reason; of a reading "VALUE until TIME from SOURCE"
	To     string    // handover: who has the watch from now on
	Until  time.Time // handover: until when
	By     string
	// Diagnosis is what a note says of the modes; nil for any other.
	Diagnosis *Diagnosis
	Origin    *Origin // nil for what was typed where the walk runs
}

// Origin is where an order came from that was not typed where the walk runs.
type Origin struct {
	ID       string    `json:"id"` // of the order, made by who sent it: the same one twice is one order
	Host     string    `json:"host,omitempty"`
	Sent     time.Time `json:"sent"`                // by the clock of Redis
	WaitedMS int64     `json:"waited_ms,omitempty"` // from then until it was read
	// Proof is how it is known who gave an approval: it was found where only this user may
	// write. It is empty for what only lay in the inbox, where a name is what somebody said.
	Proof actions.Proof `json:"proof,omitempty"`
}

// RefusedOrder says why an order cannot be followed now.
type RefusedOrder struct{ Sentence, Hint string }

func (e *RefusedOrder) Error() string { return e.Sentence }

// Question is what the walk waits for a person to say. The zero Question asks nothing.
type Question struct {
	Step    string
	Asks    string    // the question of a confirm, or "" for an approval
	Modes   bool      // a confirm that takes modes
	Else    string    // the answer that is taken when nobody answers
	Until   time.Time // when Else is taken; zero when the question waits for its answer
	Offers  []Offer   // the approvals that can be given now, narrowest first
	Two     bool      // an approval that takes two persons
	Given   []string  // the persons who have approved the plan already
	Planned *Planned  // the plan that waits, for an approval
	Lift    *Lift     // the undo that an approval is for; nil for any other
	// Diagnosed is the latest remark on what the signals say of the modes, for a confirm that takes them; nil before it.
	Diagnosed *Noted
}

// Key tells questions apart: the same words for another plan, or with one person more who has approved it, are another
// question. It is "" for the zero Question.
func (q Question) Key() string {
	key := q.Step + "\x00" + q.Asks + strings.Join(q.Given, "\x00")
	for _, offer := range q.Offers {
		key += "\x00" + offer.Word + "\x00" + offer.Digest
	}
	return strings.Trim(key, "\x00")
}

// Offer is one approval that a person can give now.
type Offer struct {
	Scope  Scope
	Digest string
	Word   string // what a person types to give it
	Covers []Change
}

// Short is as much of the digest as names the approval where a person types it.
func (o Offer) Short() string { return shortOf(o.Digest) }

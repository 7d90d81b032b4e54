package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// Kind is what an event is about. A receiver may be told only of some.
type Kind string

// The kinds of events.
const (
	Began     Kind = "began"
	Resumed   Kind = "resumed"
	Stage     Kind = "stage"
	Flip      Kind = "flip" // also one that was refused, or of which nobody knows whether it was made
	Hold      Kind = "hold"
	Lifted    Kind = "lifted" // the end of a hold
	Asked     Kind = "asked"  // a question to a person
	Recovered Kind = "recovered"
	Aborted   Kind = "aborted"
	Closed    Kind = "closed"
)

// Kinds are all kinds, in the order of a run.
var Kinds = []Kind{Began, Resumed, Stage, Flip, Hold, Lifted, Asked, Recovered, Aborted, Closed}

// Event is what others are told of one record.
type Event struct {
	ID      string    `json:"id"`   // RUN/SEQ: the same one twice is one event
	Seq     uint64    `json:"seq"`  // number of the record
	Head    string    `json:"head"` // the record's position in the log: number/first 12 hex digits of its hash
	At      time.Time `json:"at"`
	T       int64     `json:"t"` // milliseconds of run time
	Kind    Kind      `json:"kind"`
	Where   string    `json:"where"` // the stage, or stage/step
	Text    string    `json:"text"`
	Details []string  `json:"details,omitempty"`
	Flip    *Change   `json:"flip,omitempty"`
}

// Change is what a flip was to do, and what became of it. Values are as they stand in Redis, nil for a missing field.
type Change struct {
	Control   string       `json:"control"`
	Before    *string      `json:"before"`
	After     *string      `json:"after"`
	Direction string       `json:"direction"`
	Result    steps.Result `json:"result"`
	Version   int64        `json:"version,omitempty"`
}

// Said is a record in words, printable: where in the run, what happened, and rows that belong to it.
type Said struct {
	Where, Text string
	Rows        []string
}

// Tell makes an event of a record that others are told of; ok is false for all others.
func Tell(run string, record audit.Record, body any, said Said) (event Event, ok bool) {
	kind, ok := kindOf(record.Kind, body)
	if !ok {
		return Event{}, false
	}
	event = Event{
		ID: fmt.Sprintf("%s/%d", run, record.Seq), Seq: record.Seq, Head: position(record), At: record.At.UTC(), T: record.T,
		Kind: kind, Where: said.Where, Text: said.Text, Details: said.Rows,
	}
	if settled, is := body.(*steps.Settled); is {
		plan := settled.Plan
		event.Flip = &Change{Control: plan.Control, Before: plan.Before, After: plan.After, Direction: string(plan.Direction),
			Result: settled.Result, Version: settled.Version}
	}
	return event, true
}

// position is the head of a log that ends with this record.
func position(record audit.Record) string {
	sum := sha256.Sum256(record.Line())
	return audit.Head{Seq: record.Seq, Hash: hex.EncodeToString(sum[:])}.String()
}

func kindOf(kind steps.Kind, body any) (Kind, bool) {
	switch b := body.(type) {
	case *steps.Begun:
		return Began, true
	case *steps.Resumed:
		return Resumed, true
	case *steps.StageBody:
		return Stage, true
	case *steps.Settled:
		return Flip, b.Result == steps.ResultApplied || b.Result == steps.ResultRefused || b.Result == steps.ResultUnknown
	case *steps.Held:
		if b.Lifted {
			return Lifted, true
		}
		return Hold, true
	case *steps.ConfirmedBody:
		return Asked, !b.Answered
	case *steps.Recovered:
		return Recovered, true
	case *steps.Ended:
		if kind == steps.KindAborted {
			return Aborted, true
		}
		return Closed, true
	}
	return "", false
}

// Message is what a receiver gets at once: one event or several, in the order of the log.
type Message struct {
	Format     string  `json:"format"` // FormatV1
	Run        string  `json:"run"`
	Service    string  `json:"service"`
	Lab        bool    `json:"lab,omitempty"`      // every figure is a model's
	LeftOut    int     `json:"left_out,omitempty"` // events before these that this receiver will not get
	Events     []Event `json:"events"`
	SignedHead string  `json:"signed_head,omitempty"` // the newest signed head, a signed note
}

// last is the number of the record that a message goes up to.
func (m Message) last() uint64 { return m.Events[len(m.Events)-1].Seq }

// FormatV1 is the format of a Message.
const FormatV1 = "rewarm notify v1"

package steps

import (
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Move is the one next thing to do. It is one of the types of this file.
type Move interface{ move() }

// Write appends one record that follows from the state alone: a decision.
type Write struct {
	Kind    Kind
	Body    any
	Durable bool // the record waits for the disk
}

// Poll asks the probes that the watching gates need, and reads the controls.
type Poll struct {
	Asks    []probes.Ask
	Version int64 // whose propagation is looked for, 0 for none
}

// MakePlan reads a control and plans a flip of it.
type MakePlan struct {
	Target Target
	To     *runbook.Value // nil deletes the field
}

// ApplyFlip writes the intent, applies exactly this plan, reads back and settles.
type ApplyFlip struct {
	Planned *Planned
	Blind   bool
}

// SettleIntent finds out how an open intent ended.
type SettleIntent struct{ Intended *Intended }

// StartCall starts a call; its outcome comes later, through Machine.Called.
type StartCall struct {
	Step    string
	Undo    bool
	Instead bool
	Call    *runbook.Call
}

// Wait has nothing to do before Until, unless an order or a call's outcome comes.
type Wait struct {
	Until    time.Time
	Blocking string // one line: what blocks the next release; "" when nothing does
	Question Question
}

// Stop ends the walk.
type Stop struct{ Ending Ending }

func (Write) move()        {}
func (Poll) move()         {}
func (MakePlan) move()     {}
func (ApplyFlip) move()    {}
func (SettleIntent) move() {}
func (StartCall) move()    {}
func (Wait) move()         {}
func (Stop) move()         {}

// Ending is how a walk ended.
type Ending string

// The endings of a walk; the empty Ending is none yet.
const (
	EndedClosed      Ending = "closed"
	EndedAborted     Ending = "aborted"
	EndedInterrupted Ending = "interrupted"
)

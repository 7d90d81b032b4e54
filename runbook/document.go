package runbook

import "time"

// Position is a place in the runbook's file, counted from 1.
type Position struct{ Line, Column int }

// Document is a parsed runbook: every name resolved, every value typed, every
// default filled in, in the order of the file. It is never changed after Parse.
type Document struct {
	File          string // as it was named when it was parsed, for messages
	Source        []byte // the exact bytes of the file
	Name          string
	Service       string
	RecoverWithin time.Duration // 0 when the file gives none
	Figures       []Figure
	Parameters    []Parameter
	Defaults      Timing
	Controls      []Control
	Probes        []Probe
	Exit          Exit
	Guards        []Guard
	Stages        [StageCount]StagePlan // Stages[s-1] is stage s
	Waive         []Waiver              // hold for the whole document

	recoverWithinAt Position
	twoPersons      []Problem
}

// Figure is a measured number of this service.
type Figure struct {
	Pos      Position
	Name     string
	Value    float64
	Unit     string
	Measured string // the date as written, YYYY-MM-DD
}

// Parameter is an input of the runbook with the value it has in this parse.
type Parameter struct {
	Pos    Position
	Name   string
	Kind   string  // string, number or duration
	Value  string  // the default, or what --set gave
	Number float64 // number, or duration in seconds
}

// Timing is how a gate is judged and who approves; every step carries its own,
// filled from the defaults.
type Timing struct {
	Every      time.Duration // distance of observations
	Passes     int           // observations in a row
	Timeout    time.Duration
	StaleAfter time.Duration
	Protect    Approval // who approves a protecting plan
	Release    Approval // who approves a releasing plan
}

// Approval says how many persons must approve.
type Approval string

// The approvals. Two is parsed, and refused by walks until second persons exist.
const (
	ApprovalNone Approval = "none"
	ApprovalOne  Approval = "one"
	ApprovalTwo  Approval = "two"
)

// Control is a named, typed, bounded value in Redis that the service obeys.
type Control struct {
	Pos       Position
	Name      string // with parameters replaced
	Kind      Kind
	Unit      string
	Min       float64
	Max       float64 // +Inf when none is given
	Steady    Value
	Absent    Value  // what the service does when the field is missing
	Protects  string // lower, higher, on or off
	Scope     string // service or process
	Choices   []string
	Temporary bool
	Review    time.Duration // 0 when none is given
	Back      []Value
	DeadMan   *Value // nil when it has none
	Shared    bool   // writer: shared
	Waive     []Waiver
}

// Probe is a named PromQL query with a unit.
type Probe struct {
	Pos       Position
	Name      string
	Query     string // figures and parameters replaced; ${from} and ${to} stay for Expand
	Unit      string
	Absent    *Absent
	EmptyPass bool   // empty: pass
	Baseline  bool   // baseline: start
	Sources   int    // sources.at_least, 0 when not given
	Alive     string // query, "" when none
	Memory    time.Duration
	Second    string // URL
	Waive     []Waiver
}

// Absent says what a probe without data counts as while its witness has data.
type Absent struct {
	As      float64
	Witness string
}

// Op is the comparison of a bound.
type Op string

// The comparisons, spelled as in the file.
const (
	Above   Op = "above"
	AtLeast Op = "at_least"
	Below   Op = "below"
	AtMost  Op = "at_most"
	Equals  Op = "equals"
	Between Op = "between" // Operand to High, both included
	Falling Op = "falling"
	Rising  Op = "rising"
)

// Bound is one comparison on one probe.
type Bound struct {
	Pos     Position
	Probe   string
	Op      Op
	Operand Operand // not used by Falling and Rising
	High    Operand // only used by Between
	Any     bool    // of: any; else each series must hold
	Series  int     // expected number of series, 0 when not given
}

// Operand is what a bound compares with, in the unit of the bound's probe.
// Exactly one of a number, Probe and Control is meant.
type Operand struct {
	Pos     Position
	Number  float64 // a literal or a figure, converted to the probe's unit
	Probe   string  // another probe's latest value
	Control string  // a control's live value
	Text    string  // as a person would write it: "250ms", "3200", "figure limit", "control origin.admission"
}

// Group is a set of bounds of which one must hold; a plain bound is a group of one.
type Group []Bound

// Gate is a set of groups that must all hold. An empty gate is no gate.
type Gate []Group

// Exit is the gate that says "recovered".
type Exit struct {
	Pos       Position
	When      Gate
	Intervals int
	Interval  time.Duration
	Waive     []Waiver
}

// Guard is a bound that is watched from one stage to another, both included.
type Guard struct {
	Pos       Position
	Name      string // "guard N PROBE", unique: N counts from 1
	Bound     Bound
	From, To  Stage
	Passes    int
	Otherwise Otherwise
	Flip      *Flip // when Otherwise is FlipBrake
	Waive     []Waiver
}

// Otherwise is what happens when an expectation or a guard fails.
type Otherwise string

// What a step or a guard can do when its bound is broken.
const (
	Hold      Otherwise = "hold"
	Undo      Otherwise = "undo"
	Continue  Otherwise = "continue"
	StepDown  Otherwise = "step-down" // guards only
	FlipBrake Otherwise = "flip"      // guards only
	Unset     Otherwise = ""          // undo for a release, hold for a protection
)

// StagePlan is one stage with its steps, or the reason why it has none.
type StagePlan struct {
	Pos   Position
	Stage Stage
	Skip  string
	Steps []Step
}

// Step is one gate, at most one action, and one expectation.
type Step struct {
	Pos       Position
	Name      string // unique in the document
	Stage     Stage
	Why       string
	Modes     []Mode
	When      Gate
	Flip      *Flip
	Call      *Call
	Confirm   *Confirm
	Restore   *RestoreOrder
	Expect    Gate
	Otherwise Otherwise
	UndoIf    Gate
	Timing    Timing
	Settle    time.Duration
	IfUnmet   *IfUnmet
	Else      *Else
	Optional  bool
	Waive     []Waiver
}

// Flip sets one control to one value, or takes it through rungs.
type Flip struct {
	Pos     Position
	Control string
	To      Value
	Through []Value // a ladder when not empty; To is then its last rung
}

// Call runs a command or asks an HTTP service.
type Call struct {
	Pos     Position
	Do      *Invocation
	Undo    *Invocation // nil when it cannot be undone
	Check   *Invocation // nil when there is nothing to check
	Timeout time.Duration
}

// Invocation is an argument vector or an HTTP request, never both.
type Invocation struct {
	Args     []string
	Method   string
	URL      string
	BodyFile string
}

// Confirm asks a person.
type Confirm struct {
	Pos   Position
	Ask   string
	Modes bool          // choose: modes; else the answer is free text
	After time.Duration // when Else is taken; 0 never
	Else  string
}

// RestoreOrder names the controls to lift first, in this order.
type RestoreOrder struct {
	Pos   Position
	Order []string
}

// IfUnmet is a harder brake, taken when the expectation still fails so long after the mark.
type IfUnmet struct {
	Pos   Position
	To    Value
	After time.Duration
}

// Else is what to do instead of a protecting flip when Redis cannot be reached.
type Else struct {
	Pos  Position
	Call *Call
}

// Waiver accepts one lint finding, with a reason.
type Waiver struct {
	Pos    Position
	Rule   string
	Reason string
}

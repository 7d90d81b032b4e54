package steps

import (
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// State is a fold over the records of one run: everything that the walk knows.
// Only the fold changes it. The walk, the terminal UI, the printers and the
// reports all read the same one.
type State struct {
	Doc       *runbook.Document
	Begun     Begun
	BegunAt   time.Time
	LastAt    time.Time // of the latest record, on our clock
	Seq       uint64
	Approve   ApproveMode // of the process that walks now
	Stage     runbook.Stage
	Modes     []runbook.Mode
	Undecided bool // a confirm that chooses modes is still to be answered
	Recovered *Recovered
	Ending    Ending
	End       *Ended // what its last record says, nil before it
	Broken    bool   // the log goes on somewhere else than on its disk
	Shift     *Shift
	RedisDown string

	steps      map[string]*StepState
	controls   map[string]*ControlState
	plans      map[Target]*Planned
	open       []*Intended // without an outcome, oldest first
	flips      []*FlipState
	approvals  []*ApprovalState
	holds      []*HoldState
	guards     map[string]bool // breached
	guardGates map[string]runbook.Gate
	confirms   map[string]*ConfirmState
	diagnosed  *Noted // the latest with a diagnosis, nil before one
	calls      []*CallState
	baselines  map[string]float64
	readings   map[probes.Ask]*HandReading // by hand, also those whose time is over
	aborting   *OrderedBody
	toIdle     []string // controls that add load and go to their dead man's value before anything is released
	carried    bool     // a hold of the run that was taken over from goes on here
	stopping   bool     // after idling the walk stops, to be resumed
	drifts     map[string]*Drifted
	putBack    map[string]bool
	expires    time.Duration      // time to live of the hash of the controls at the latest poll, 0 for none
	warned     bool               // a person was told of that
	walkers    []string           // names of who started and resumed the run, here and in Redis
	received   map[string]Receipt // what became of the orders from elsewhere, by their ids
	lost       []string           // controls of this run that Redis had lost at the latest poll
	returned   map[string]int64   // those that had an earlier flip of this run again, and its version
	inherited  Left               // what earlier runs had left first, zero for nothing
	fence      int64              // the highest that this run has flipped with, or begun with
	retries    map[Target]retry
	away       retry // Redis could not be reached, or did not answer; the zero retry when it did
	refusing   retry // Redis refused to write anything; the zero retry once it has written
	refusal    *Settled

	polls     []*poll // the latest, oldest first
	pollBase  int     // how many polls came before polls[0]
	partial   *poll   // a poll whose records are not complete yet
	lastPoll  time.Time
	offset    time.Duration
	measured  bool               // the offset, by this process
	early     []*FlipState       // marked before it was
	renewed   time.Time          // when Redis was last seen to answer, and what has a dead man could be renewed
	shown     time.Time          // the latest moment that the clock of Prometheus has shown
	setBack   time.Time          // that moment, while the clock is behind it
	latest    time.Time          // the newest sample that was seen, by the clock of Prometheus
	reports   bool               // the service has reported which version it obeys
	clearAt   time.Time          // when the last owed expectation ended
	clearPoll int                // the poll that ended it, counted over the whole run
	doneAt    time.Time          // when the last step ended
	resumedAt time.Time          // of the latest resume; no time to wait counts from before it
	tracks    map[string]*track  // by the watch's id
	compared  map[string]float64 // live numbers of the controls, nil when they have changed since
	exit      exitTrack
}

// StepPhase is how far a step has come.
type StepPhase string

// The phases of a step; the empty phase is not reached yet.
const (
	StepEntered  StepPhase = "entered"
	StepDeferred StepPhase = "deferred" // waits for the declared modes; nothing waits for it but releases
	StepDone     StepPhase = "done"
)

// StepState is what the records say about one step.
type StepState struct {
	Phase     StepPhase
	Outcome   string
	EnteredAt time.Time
	Judged    bool // its when was judged once: go, or go blind
	Blind     bool
	Skipped   bool // not needed by its gate; a person may still take it
	Tighter   bool // skipped as somebody else had set what is tighter: once that is gone, the step is taken
	Rung      int  // rungs of the ladder that are behind
	Failed    *string
	Owed      bool
	Awaiting  *FlipState // a release whose expectation is not judged yet
	Unmet     bool       // if_unmet was decided
	Harder    bool       // if_unmet was taken
	TargetAt  time.Time  // when the present rung or lift became the next one
	Undoing   *FlipState // has to be put back
	Failures  int        // of its releases, since a person last looked
	UndoneFor string     // why it has to be put back, or was
	Undone    bool       // was put back, and the hold that follows is not written yet
	Ordered   *UndoWord  // of the person who wants it put back; nil when nobody does
	NotMade   *NotMade   // what a person wanted put back last, when that is not made any more
	Instead   bool       // its else was started because Redis could not be reached
	Acted     *FlipState // stands for a call that ended well, or what was done by hand: its expectation is judged from then
	ByHand    *HandDone  // a person did it because its flip could not be made
	Taken     bool       // a person took it although it was skipped
	UndoCall  bool       // its call has to be taken back
}

// ControlState is one control as the run knows it.
type ControlState struct {
	Known     bool
	Raw       *string   // as last seen in Redis; nil when the field is missing
	SeenAt    time.Time // when it was seen to be that for the first time
	Expected  *string   // what the run's last flip left there
	Version   int64     // of that flip; 0 when another has written since, or Redis has lost it
	Reverted  bool      // Redis has lost a release, and the tighter value that was found is agreed on
	Lapsed    bool      // readers were seen to have left Raw for the dead man's value
	Ours      bool      // the run has flipped it
	Original  *string   // before the run's first flip
	Since     time.Time
	By        string // the run that flipped it last, or byHand
	ReviewAt  time.Time
	Order     int       // of its first flip
	Unread    bool      // Raw is from an answer to a flip, which does not say who wrote it
	Failed    *string   // to what its last lift failed
	DriftedAt time.Time // when somebody else's value that holds releases was found
}

// FlipState is one settled flip.
type FlipState struct {
	Target   Target
	Plan     actions.Plan
	Digest   string
	Version  int64
	At       time.Time // on our clock
	ServerAt time.Time // on the clock of Prometheus, after the read-back
	Mark     time.Time // from when the service obeyed; zero until known
	polls    int       // how many polls the run had seen by then
	stood    stood     // Mark and polls before Redis had lost the flip; zero when it has not
	Settle   time.Duration
	Nothing  bool
	Undone   bool
	Idled    bool
}

// stood is from when a flip was in force at first. What is lost is proved anew from a later mark, but the harm that it
// has done meanwhile is no other's.
type stood struct {
	mark  time.Time
	polls int
}

// ApprovalState is one approval and whether it still stands.
type ApprovalState struct {
	Approved
	At    time.Time
	Void  bool
	polls int // how many polls the run had seen by then
}

// HoldState is one hold that is on.
type HoldState struct {
	Held
	Since time.Time
}

// ConfirmState is a question that was asked.
type ConfirmState struct {
	AskedAt  time.Time
	Answered bool
	Answer   string
	By       string
}

// CallState is a call that was started.
type CallState struct {
	Called
	StartedAt time.Time
	ByHand    bool // it failed, and a person did it instead
}

type retry struct {
	at          time.Time
	tries       int
	unreachable bool // Redis could not be reached
}

// poll is one observation, with what its bounds compare with at that moment.
type poll struct {
	index       int       // counted over the whole run
	at          time.Time // evaluation time
	seenAt      time.Time // of the record, on our clock
	latest      time.Time // the newest sample that was seen by then
	answers     []probes.Answer
	numbers     map[string]float64 // live values of the controls
	baselines   map[string]float64 // fixed start values
	propagation *probes.Propagation
}

// Step gives the state of a step; never nil.
func (s *State) Step(name string) *StepState {
	st := s.steps[name]
	if st == nil {
		st = &StepState{}
		s.steps[name] = st
	}
	return st
}

// Control gives the state of a control; never nil.
func (s *State) Control(name string) *ControlState {
	c := s.controls[name]
	if c == nil {
		c = &ControlState{}
		s.controls[name] = c
	}
	return c
}

// Holds gives the holds that are on, oldest first.
func (s *State) Holds() []*HoldState { return s.holds }

// TakenBy is the run that has taken the command from this one for good, "" while none has.
func (s *State) TakenBy() string {
	if hold := s.hold(causeCommander); hold != nil {
		return hold.TakenBy
	}
	return ""
}

// Since is when the recovery began: with this run or, where it has taken over, with the first of those before it.
func (s *State) Since() time.Time {
	if over := s.Begun.Over; over != nil && !over.Began.IsZero() && over.Began.Before(s.BegunAt) {
		return over.Began
	}
	return s.BegunAt
}

// FoundLeft says what earlier runs had left away from its steady value first, and how long before this run began; false
// when they had left nothing. The incident is older than the run then, and recover_within counts from the run.
func (s *State) FoundLeft() (l Left, before time.Duration, left bool) {
	before = s.BegunAt.Sub(s.inherited.Since)
	return s.inherited, before, s.inherited.Run != "" && before > 0
}

// Flips gives every settled flip, in order.
func (s *State) Flips() []*FlipState { return s.flips }

// Breached reports whether a guard is breached now.
func (s *State) Breached(guard string) bool { return s.guards[guard] }

// Owed gives the steps whose expectation has not passed yet, in walk order.
func (s *State) Owed() []string {
	var owed []string
	for step := range s.Doc.Steps() {
		if st := s.steps[step.Name]; st != nil && st.Owed {
			owed = append(owed, step.Name)
		}
	}
	return owed
}

// Latest gives the newest answer to a question, nil when it was never asked.
func (s *State) Latest(ask probes.Ask) *probes.Answer {
	for i := len(s.polls) - 1; i >= 0; i-- {
		if a := s.polls[i].answer(ask); a != nil {
			return a
		}
	}
	return nil
}

// latestFlip gives the run's last flip that changed something, nil before the first.
func (s *State) latestFlip() *FlipState {
	for i := len(s.flips) - 1; i >= 0; i-- {
		if !s.flips[i].Nothing {
			return s.flips[i]
		}
	}
	return nil
}

// openIntent gives the latest flip of a control whose outcome is not known, or nil.
func (s *State) openIntent(control string) *Intended {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].Plan.Control == control {
			return s.open[i]
		}
	}
	return nil
}

func (s *State) hold(cause string) *HoldState {
	for _, h := range s.holds {
		if h.Cause == cause {
			return h
		}
	}
	return nil
}

// unmarked gives the highest version of which it is not known yet since when the
// service obeys it, 0 when there is none.
func (s *State) unmarked() int64 {
	var version int64
	for _, f := range s.flips {
		if f.Mark.IsZero() && f.Version > version {
			version = f.Version
		}
	}
	return version
}

// live gives the value of a control as last seen.
func (s *State) live(c *runbook.Control) (runbook.Value, bool) {
	state := s.Control(c.Name)
	if !state.Known {
		return runbook.Value{}, false
	}
	value, err := decode(c, state.Raw)
	return value, err == nil
}

// decode reads a raw value; a missing field is what the service does without it.
func decode(c *runbook.Control, raw *string) (runbook.Value, error) {
	if raw == nil {
		return c.Absent, nil
	}
	return actions.Decode(c, *raw)
}

func equalRaw(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// byHand stands in Override.By for a value that no run wrote.
const byHand = "by hand"

// Overrides gives every control that this run has flipped and that is not at its steady
// value, or of which that is not known, in the order of the runbook. By and Since are of
// whoever wrote the value that is there now.
func (s *State) Overrides() []Override {
	var list []Override
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		state := s.Control(c.Name)
		value, ok := s.live(c)
		open := s.openIntent(c.Name)
		if open == nil && (!state.Ours || ok && value.Equal(c.Steady)) {
			continue
		}
		shown := "unreadable"
		switch {
		case open != nil:
			shown = open.Before + " or " + open.After + ", the outcome is not known"
		case ok:
			shown = c.Format(value)
		}
		o := Override{Control: c.Name, Value: shown, Steady: c.Format(c.Steady), Since: state.Since, By: state.By,
			ReviewAt: state.ReviewAt}
		switch {
		case open != nil:
		case s.drifts[c.Name] != nil:
			o.Since, o.By = state.DriftedAt, byHand
		case !equalRaw(state.Raw, state.Expected) && !s.hasLost(c.Name): // nobody has judged it yet
			o.Since, o.By = state.SeenAt, byHand
		}
		list = append(list, o)
	}
	return list
}

package steps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Kind names a kind of record. docs/audit-log.md gives the fields of every body.
type Kind = string

// The kinds of records that a walk writes.
const (
	KindBegun     Kind = "begun"
	KindResumed   Kind = "resumed"
	KindStage     Kind = "stage"
	KindStep      Kind = "step"
	KindObserved  Kind = "observed"
	KindPlanned   Kind = "planned"
	KindApproved  Kind = "approved"
	KindIntended  Kind = "intended"
	KindSettled   Kind = "settled"
	KindJudged    Kind = "judged"
	KindOwed      Kind = "owed"
	KindGuarded   Kind = "guarded"
	KindDrifted   Kind = "drifted"
	KindHeld      Kind = "held"
	KindSkipped   Kind = "skipped"
	KindNoted     Kind = "noted"
	KindManual    Kind = "manual"
	KindOrdered   Kind = "ordered"
	KindCalled    Kind = "called"
	KindConfirmed Kind = "confirmed"
	KindRecovered Kind = "recovered"
	KindTorn      Kind = "torn"
	KindAborted   Kind = "aborted"
	KindClosed    Kind = "closed"
)

// Kinds are all of them, in the order in which docs/audit-log.md has them.
func Kinds() []Kind {
	return []Kind{KindBegun, KindResumed, KindStage, KindStep, KindObserved, KindPlanned, KindApproved, KindIntended,
		KindSettled, KindJudged, KindOwed, KindGuarded, KindDrifted, KindHeld, KindSkipped, KindNoted, KindManual,
		KindOrdered, KindCalled,
		KindConfirmed, KindRecovered, KindTorn, KindAborted, KindClosed}
}

// Begun is the body of the first record: everything that a fold needs to start.
type Begun struct {
	Format     string            `json:"format"` // FormatV1
	Run        string            `json:"run"`
	Service    string            `json:"service"`
	File       string            `json:"file"`
	Runbook    []byte            `json:"runbook"` // base64 in JSON: the exact bytes
	SHA256     string            `json:"sha256"`  // of Runbook
	Parameters map[string]string `json:"parameters,omitempty"`
	Prometheus string            `json:"prometheus"` // without secrets
	Redis      string            `json:"redis"`      // without secrets
	Approve    ApproveMode       `json:"approve"`
	Through    string            `json:"through,omitempty"`
	Version    string            `json:"version"`
	Host       string            `json:"host"`
	PID        int               `json:"pid"`
	User       string            `json:"user"`
	Lab        bool              `json:"lab,omitempty"`   // every figure is a model's, unless Past
	Past       bool              `json:"past,omitempty"`  // on the lab, the metrics are those of an incident that was, which no flip changes
	Again      string            `json:"again,omitempty"` // the command that begins another such walk on the lab; "" for rewarm demo
	Hand       *Hand             `json:"hand,omitempty"`  // the log is of one flip by hand, and not of a walk
	Fence      int64             `json:"fence"`
	RedisUser  string            `json:"redis_user,omitempty"` // whose rights the run has there
	Over       *Over             `json:"over,omitempty"`       // from which run the command was taken over
	Scenario   *Scenario         `json:"scenario,omitempty"`   // what the lab plays; nil for a walk on real servers, and for a past
}

// Anew is the command that begins another walk like one on the lab, which ended with the process of that.
func (b *Begun) Anew() string { return cmp.Or(b.Again, "rewarm demo") }

// Scenario is what a lab plays: with the same seed it goes the same way again.
type Scenario struct {
	Name string `json:"name"`
	Seed uint64 `json:"seed"`
}

// Over is a run whose command was taken over while its lease may have been alive.
type Over struct {
	Run    string    `json:"run"`
	Reason string    `json:"reason"`
	Began  time.Time `json:"began,omitzero"`  // when it or, where it had taken over itself, the first of them began
	Held   *Held     `json:"held,omitempty"`  // by a person; it goes on in this run
	Found  []string  `json:"found,omitempty"` // what else of that run a person has to know, in plain words
}

// Hand is what a person wants to flip outside a walk.
type Hand struct {
	Control  string `json:"control"`
	To       string `json:"to"` // raw
	Reason   string `json:"reason"`
	ReviewMS int64  `json:"review_ms,omitempty"` // 0 for the review of the runbook
}

// FormatV1 is the format of the records in this package.
const FormatV1 = "rewarm audit v1"

// ApproveMode says who approves releases.
type ApproveMode string

// Manual asks a person; Auto approves as soon as the gate is green, and never
// stands for a second person.
const (
	Manual ApproveMode = "manual"
	Auto   ApproveMode = "auto"
)

// Resumed says that another process goes on with the run.
type Resumed struct {
	Version string      `json:"version"`
	Host    string      `json:"host"`
	PID     int         `json:"pid"`
	User    string      `json:"user"`
	Fence   int64       `json:"fence"`
	Approve ApproveMode `json:"approve"`
	Found   []string    `json:"found,omitempty"` // in plain words
	// RedisUser is whose rights this process has in Redis.
	RedisUser string `json:"redis_user,omitempty"`
}

// StageBody says that the walk entered a stage, or passed one that has nothing to do.
type StageBody struct {
	Stage string `json:"stage"`
	Skip  string `json:"skip,omitempty"`
}

// StepBody says that the walk entered a step, put it off, or is done with it.
type StepBody struct {
	Step    string    `json:"step"`
	Stage   string    `json:"stage"`
	State   StepPhase `json:"state"`
	Why     string    `json:"why,omitempty"`
	Outcome string    `json:"outcome,omitempty"`
}

// Observed is one poll: its answers, and the verdict of each gate that watched.
// A poll that does not fit in one record is continued in the next: More is true.
type Observed struct {
	At          time.Time           `json:"at"` // evaluation time, on the clock of Prometheus
	OffsetMS    int64               `json:"offset_ms"`
	Answers     []probes.Answer     `json:"answers,omitempty"`
	Gates       []GateSeen          `json:"gates,omitempty"`
	Propagation *probes.Propagation `json:"propagation,omitempty"`
	Controls    map[string]*string  `json:"controls,omitempty"` // raw values that changed since the last poll
	// ControlsBase64 has those of them that are not UTF-8.
	ControlsBase64 map[string][]byte `json:"controls_base64,omitempty"`
	Lost           []string          `json:"lost,omitempty"`       // controls of this run of which Redis has lost the last flip
	LostAt         time.Time         `json:"lost_at,omitzero"`     // when that was seen, on the clock of Prometheus
	Returned       map[string]int64  `json:"returned,omitempty"`   // what had lost one and has a flip of this run again, with its version
	Left           []Left            `json:"left,omitempty"`       // controls that other runs have left, taken over now
	Lapsed         []string          `json:"lapsed,omitempty"`     // controls that readers have left for their dead man's value
	ExpiresMS      int64             `json:"expires_ms,omitempty"` // time to live of the hash of the controls, which is to have none
	Redis          string            `json:"redis,omitempty"`      // why Redis could not be read
	More           bool              `json:"more,omitempty"`
}

// Left is a control that another run, or a process of this one whose records are lost, has
// left away from its steady value. This run takes it over: it is named as out of place, and
// restored with the others.
type Left struct {
	Control  string    `json:"control"`
	Run      string    `json:"run"`
	Since    time.Time `json:"since"` // by the clock of Redis
	ReviewAt time.Time `json:"review_at,omitzero"`
	Edited   bool      `json:"edited,omitempty"` // a hand has changed it since that run's last flip
	Wrote    *string   `json:"wrote,omitempty"`  // what that flip wrote, where Edited; missing for no field
}

// GateSeen is the verdict of one gate on one poll.
type GateSeen struct {
	Gate     string           `json:"gate"`
	Verdict  string           `json:"verdict"`
	Passes   int              `json:"passes"` // in a row, this one included
	Of       int              `json:"of"`
	Findings []probes.Finding `json:"findings"`
}

// Planned is what a flip would do.
type Planned struct {
	Target Target       `json:"target"`
	Plan   actions.Plan `json:"plan"`
	Digest string       `json:"digest"`
	Before string       `json:"before"` // for people
	After  string       `json:"after"`
	Owner  string       `json:"owner,omitempty"`
}

// Short is as much of the digest as names the plan where a person types it.
func (p *Planned) Short() string { return shortOf(p.Digest) }

// Approved covers one plan, a whole ladder or a stage's plans.
type Approved struct {
	Scope  Scope    `json:"scope"`
	Digest string   `json:"digest"`
	Step   string   `json:"step"`
	By     string   `json:"by"`
	How    string   `json:"how"` // typed, sent, auto
	Covers []Change `json:"covers"`
	Origin *Origin  `json:"origin,omitempty"`
}

// How an approval was given.
const (
	HowTyped = "typed"
	HowSent  = "sent"
	HowAuto  = "auto"
)

// Scope is how much one approval covers.
type Scope string

// The scopes of an approval.
const (
	ScopePlan   Scope = "plan"
	ScopeLadder Scope = "ladder"
	ScopeStage  Scope = "stage"
)

// Change is one member of an approval: a control and the value that it gets.
type Change struct {
	Control string  `json:"control"`
	After   *string `json:"after"`
	Unit    string  `json:"unit"`
}

// Intended is written, and on disk, before anything is written to Redis.
type Intended struct {
	Target Target       `json:"target"`
	Plan   actions.Plan `json:"plan"`
	Digest string       `json:"digest"`
	Fence  int64        `json:"fence"`
	Blind  bool         `json:"blind,omitempty"`
	Before string       `json:"before"`
	After  string       `json:"after"`
}

// Settled is the outcome of an intent, or of a plan with nothing to do.
type Settled struct {
	Target   Target       `json:"target"`
	Plan     actions.Plan `json:"plan"`
	Digest   string       `json:"digest"`
	Result   Result       `json:"result"`
	Version  int64        `json:"version"`
	Found    *string      `json:"found,omitempty"`
	Seen     bool         `json:"seen,omitempty"`  // Found was read
	Cause    string       `json:"cause,omitempty"` // why it was not applied
	ServerAt time.Time    `json:"server_at"`       // on the clock of Prometheus, after the read-back
	Sentence string       `json:"sentence,omitempty"`
	Hint     string       `json:"hint,omitempty"`
	After    string       `json:"after"`
}

// Result is how a flip ended.
type Result string

// The results of a flip. Only ResultUnknown leaves the intent open.
const (
	ResultApplied   Result = "applied"
	ResultNothing   Result = "nothing"   // the value was there already
	ResultRefused   Result = "refused"   // nothing was written
	ResultUnknown   Result = "unknown"   // it may or may not have been written
	ResultUnreached Result = "unreached" // Redis could not be reached; nothing was sent
)

// Judged is a decision that followed from a gate.
type Judged struct {
	Gate     string           `json:"gate"`
	Step     string           `json:"step"`
	Target   Target           `json:"target,omitzero"`
	Verdict  string           `json:"verdict"`
	Decision Decision         `json:"decision"`
	Findings []probes.Finding `json:"findings,omitempty"`
}

// Decision is what a verdict leads to.
type Decision string

// The decisions.
const (
	DecisionGo       Decision = "go"
	DecisionBlind    Decision = "go blind"
	DecisionMet      Decision = "met"
	DecisionUndo     Decision = "undo"
	DecisionContinue Decision = "continue"
	DecisionHarder   Decision = "harder brake"
)

// OwedBody says that a protecting step's expectation has not passed yet.
type OwedBody struct {
	Step string `json:"step"`
	Gate string `json:"gate"`
}

// Guarded says that a guard was breached, or that its breach ended.
type Guarded struct {
	Guard    string           `json:"guard"`
	Breached bool             `json:"breached"`
	Action   string           `json:"action"`
	Findings []probes.Finding `json:"findings,omitempty"`
}

// Drifted says that a control was changed by something else than this run.
type Drifted struct {
	Control   string            `json:"control"`
	Expected  *string           `json:"expected"`
	Found     *string           `json:"found"`
	Direction runbook.Direction `json:"direction"`
	Decision  DriftDecision     `json:"decision"`
	Origin    *Origin           `json:"origin,omitempty"`
}

// DriftDecision is what becomes of a value that somebody else wrote.
type DriftDecision string

// A value that tightens is adopted; one that loosens holds releases until a person
// adopts it or has it put back; a shared control may move.
const (
	DriftAdopted DriftDecision = "adopted"
	DriftShared  DriftDecision = "shared"
	DriftHolds   DriftDecision = "holds releases"
	DriftPutBack DriftDecision = "put back"
	// DriftEnded is a value that somebody else has put back.
	DriftEnded DriftDecision = "ended"
	// DriftLost is a brake that Redis lost, with its data or in a failover: nobody decided
	// that, so it is put back at once.
	DriftLost DriftDecision = "lost by redis, put back"
	// DriftReverted is a release that Redis lost in a failover: the tighter value stays, and
	// what loosens it again is gated again.
	DriftReverted DriftDecision = "lost by redis, the tighter value stays"
	// DriftReturned is a flip of this run that Redis seemed to have lost: in a failover one node
	// can answer that never had it, and the next one has it.
	DriftReturned DriftDecision = "not lost, it is this run's own flip"
	// DriftDeadMan leaves a control that cannot be idled to its dead man's value.
	DriftDeadMan DriftDecision = "left to its dead man's value"
	// DriftLapsed is a dead man's value that took over while this run could not renew.
	DriftLapsed DriftDecision = "lapsed"
)

// Held starts or lifts one hold. Releases wait while any hold is on.
type Held struct {
	Cause    string   `json:"cause"`
	Also     []string `json:"also,omitempty"` // further causes that one word of a person lifts
	Lifted   bool     `json:"lifted,omitempty"`
	By       string   `json:"by,omitempty"`
	Sentence string   `json:"sentence"`
	Can      string   `json:"can,omitempty"`   // what a person may do now
	Words    []string `json:"words,omitempty"` // what of that can be typed, besides abort
	Costs    string   `json:"costs,omitempty"`
	TakenBy  string   `json:"taken_by,omitempty"` // the run that has taken the command over
	From     string   `json:"from,omitempty"`     // the run in which a person said it, where this one has taken over from that
	Origin   *Origin  `json:"origin,omitempty"`
}

// Skipped says why a step's action was not taken.
type Skipped struct {
	Step     string           `json:"step"`
	Reason   string           `json:"reason"`
	By       string           `json:"by,omitempty"`      // a person; empty when the gate or the mode decided
	Tighter  bool             `json:"tighter,omitempty"` // of a brake: what somebody else had set is tighter
	Findings []probes.Finding `json:"findings,omitempty"`
	Origin   *Origin          `json:"origin,omitempty"`
}

// Noted is a remark, of a person or of the machine.
type Noted struct {
	By     string  `json:"by,omitempty"`
	About  string  `json:"about,omitempty"` // of a remark of the machine: what it is about
	Text   string  `json:"text"`
	Origin *Origin `json:"origin,omitempty"`
	Fence  int64   `json:"fence,omitempty"` // with AboutCommand: the number that the run commands with now
	// Diagnosis is what the signals said of the modes while a person was asked after them. It decides nothing.
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`
}

// Diagnosis is what the signals say of the modes at a moment.
type Diagnosis struct {
	At    time.Time  `json:"at"`              // the evaluation time of every reading, on the clock of Prometheus
	First []WayOut   `json:"first,omitempty"` // what comes before any mode
	Signs []ModeSign `json:"signs,omitempty"` // the strongest first; none when nothing could be asked
}

// WayOut is a cheaper way out than the walk of any mode.
type WayOut struct {
	Question string `json:"question"`         // to be answered before anything is warmed
	Answer   string `json:"answer,omitempty"` // what the signals say to it, in words
	Then     string `json:"then"`             // what to do where it is so
}

// String is the way out in one line.
func (w WayOut) String() string {
	text := "first: " + w.Question
	if w.Answer != "" {
		text += " " + w.Answer
	}
	return text + "; if so, " + w.Then
}

// ModeSign is what they say of one mode.
type ModeSign struct {
	Mode    runbook.Mode `json:"mode"`
	Verdict string       `json:"verdict"`          // likely, possible, unlikely, unknown
	Reason  string       `json:"reason,omitempty"` // the evidence that counted most, in one line
}

// AboutCommand is the remark that the command was lost and taken again. Its number must be
// known to whoever goes on with the run, also when Redis forgets it once more.
const AboutCommand = "command"

// ManualBody is a reading that a person gives for a probe that cannot be measured, or the
// word of a second person for one.
type ManualBody struct {
	Ask      probes.Ask `json:"ask"`
	Value    string     `json:"value"` // in Unit, as in an answer
	Unit     string     `json:"unit"`  // of the probe
	Source   string     `json:"source"`
	Until    time.Time  `json:"until"`
	By       string     `json:"by"`
	Digest   string     `json:"digest,omitempty"`   // of the reading, by which it is confirmed
	Confirms string     `json:"confirms,omitempty"` // whose reading this confirms
	Origin   *Origin    `json:"origin,omitempty"`
}

// AboutExpiry is the remark that the hash of the controls has a time to live.
const AboutExpiry = "expiry"

// OrderedBody is what a person told the run to do. An order that came from elsewhere and
// was refused is told by it too: nothing followed from that. So is the end of an undo that
// waited and that the walk does not make any more.
type OrderedBody struct {
	Order   OrderKind `json:"order"`
	Step    string    `json:"step,omitempty"`
	Control string    `json:"control,omitempty"` // of an undo that named a control: of which flip of the step it is
	By      string    `json:"by"`
	To      string    `json:"to,omitempty"`   // of a handover: who has the watch
	Until   time.Time `json:"until,omitzero"` // of a handover
	Reason  string    `json:"reason,omitempty"`
	Refused string    `json:"refused,omitempty"`
	Moot    string    `json:"moot,omitempty"` // of an undo that By has ordered and that waited: why it is not made any more
	Origin  *Origin   `json:"origin,omitempty"`
}

// Follows reports whether the walk follows a person's order by it.
func (b *OrderedBody) Follows() bool { return b.Refused == "" && b.Moot == "" }

// Called says that a call was started, or how it ended.
type Called struct {
	Step     string   `json:"step"`
	Undo     bool     `json:"undo,omitempty"`
	Instead  bool     `json:"instead,omitempty"` // the step's else, because Redis could not be reached
	Finished bool     `json:"finished"`
	OK       bool     `json:"ok,omitempty"`
	Command  []string `json:"command,omitempty"`
	Output   string   `json:"output,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// ConfirmedBody is a question to a person, or its answer.
type ConfirmedBody struct {
	Step     string         `json:"step"`
	Answered bool           `json:"answered"`
	Ask      string         `json:"ask,omitempty"`
	Answer   string         `json:"answer,omitempty"`
	Modes    []runbook.Mode `json:"modes,omitempty"`
	By       string         `json:"by,omitempty"` // empty when the default was taken
	Origin   *Origin        `json:"origin,omitempty"`
}

// Recovered says that the exit held for its intervals.
type Recovered struct {
	RecoveredAt time.Time `json:"recovered_at"` // on the clock of Prometheus
	TookMS      int64     `json:"took_ms"`      // from begun
	// IncidentMS is from when the first of the runs began that were taken over one from another; 0 where none was.
	IncidentMS int64            `json:"incident_ms,omitempty"`
	WithinMS   int64            `json:"within_ms,omitempty"`
	Late       bool             `json:"late,omitempty"`
	Gate       []probes.Finding `json:"gate,omitempty"`
}

// Ended is the body of aborted and closed: what is still out of place.
type Ended struct {
	Reason    string     `json:"reason,omitempty"`
	By        string     `json:"by,omitempty"`
	Recovered bool       `json:"recovered"`
	Overrides []Override `json:"overrides"`
	Calls     []string   `json:"calls,omitempty"`   // calls that were not undone
	ByHand    []string   `json:"by_hand,omitempty"` // what people did by hand and have not taken back
	Undos     []string   `json:"undos,omitempty"`   // undos that waited and were not made
}

// Override is a control that is not at its steady value.
type Override struct {
	Control  string    `json:"control"`
	Value    string    `json:"value"`          // for people
	Steady   string    `json:"steady"`         // for people
	Since    time.Time `json:"since,omitzero"` // missing where it is not known
	By       string    `json:"by"`             // a run, or "by hand"
	ReviewAt time.Time `json:"review_at,omitzero"`
	Owner    string    `json:"owner,omitempty"`
	Obeyed   string    `json:"obeyed,omitempty"` // what readers obey, for people, where Value has lapsed; never in a record
}

// newBody gives an empty body of a kind, nil for a kind this package does not know.
func newBody(kind Kind) any {
	switch kind {
	case KindBegun:
		return new(Begun)
	case KindResumed:
		return new(Resumed)
	case KindStage:
		return new(StageBody)
	case KindStep:
		return new(StepBody)
	case KindObserved:
		return new(Observed)
	case KindPlanned:
		return new(Planned)
	case KindApproved:
		return new(Approved)
	case KindIntended:
		return new(Intended)
	case KindSettled:
		return new(Settled)
	case KindJudged:
		return new(Judged)
	case KindOwed:
		return new(OwedBody)
	case KindGuarded:
		return new(Guarded)
	case KindDrifted:
		return new(Drifted)
	case KindHeld:
		return new(Held)
	case KindSkipped:
		return new(Skipped)
	case KindNoted:
		return new(Noted)
	case KindManual:
		return new(ManualBody)
	case KindOrdered:
		return new(OrderedBody)
	case KindCalled:
		return new(Called)
	case KindConfirmed:
		return new(ConfirmedBody)
	case KindRecovered:
		return new(Recovered)
	case KindAborted, KindClosed:
		return new(Ended)
	}
	return nil
}

// DecodeBody gives the typed body of a record: a pointer to one of the types of
// this package, or nil for torn, which carries nothing a walk needs.
func DecodeBody(kind Kind, raw json.RawMessage) (any, error) {
	body := newBody(kind)
	if body == nil {
		if kind == KindTorn {
			return nil, nil
		}
		return nil, fmt.Errorf("unknown kind of record %q", kind)
	}
	if err := jsonv2.Unmarshal(raw, body); err != nil {
		return nil, fmt.Errorf("record of kind %s: %w", kind, err)
	}
	return body, nil
}

package evidence

import (
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// FiguresFormat is the format of figures.json.
const FiguresFormat = "rewarm figures v1"

// Figures are what follows from the records of a run, and from nothing else. Times are UTC, durations
// milliseconds of run time.
type Figures struct {
	Format     string            `json:"format"`
	Run        string            `json:"run"`
	Service    string            `json:"service"`
	Runbook    string            `json:"runbook"`
	SHA256     string            `json:"runbook_sha256"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Lab        bool              `json:"lab,omitempty"`  // every figure is a model's, unless Past
	Past       bool              `json:"past,omitempty"` // the metrics are those of an incident that was
	Prometheus string            `json:"prometheus"`
	Redis      string            `json:"redis"`
	Records    uint64            `json:"records"`
	References []Reference       `json:"references,omitempty"` // figures of the runbook

	Began       time.Time      `json:"began"`
	LastAt      time.Time      `json:"last_at"` // of the last record
	State       string         `json:"state"`   // closed, aborted or open
	Reason      string         `json:"reason,omitempty"`
	Modes       []runbook.Mode `json:"modes,omitempty"` // declared
	RecoveredAt time.Time      `json:"recovered_at,omitzero"`
	TookMS      int64          `json:"took_ms,omitempty"`      // until recovered
	IncidentMS  int64          `json:"incident_ms,omitempty"`  // the same from the first of the runs that were taken over
	RecoveredIn *Moment        `json:"recovered_in,omitempty"` // the record that says so
	WithinMS    int64          `json:"recover_within_ms,omitempty"`
	Late        bool           `json:"late,omitempty"`
	TotalMS     int64          `json:"total_ms"`
	ProtectedMS int64          `json:"protected_ms,omitempty"` // until the protecting stages were done
	Ledger      []StageTime    `json:"ledger"`
	Stages      []Moment       `json:"stages,omitempty"`     // entered or passed over
	Steady      []Steady       `json:"steady,omitempty"`     // what each control goes back to
	Worst       []Worst        `json:"worst,omitempty"`      // of what the exit asks
	Afterwards  []Moment       `json:"afterwards,omitempty"` // questions of reconcile with their answers
	Flips       []FlipFigure   `json:"flips"`
	Decisions   []Decision     `json:"decisions"`
	Holds       []Hold         `json:"holds"`
	Drifts      []Moment       `json:"drifts,omitempty"`
	Guards      []Moment       `json:"guards,omitempty"`
	Said        []Moment       `json:"said,omitempty"`     // notes, orders and answers of people
	Readings    []Moment       `json:"readings,omitempty"` // given by hand, and confirmed
	Skips       []Moment       `json:"skips,omitempty"`
	Calls       []Moment       `json:"calls,omitempty"`
	Blind       []string       `json:"blind,omitempty"`   // steps that went without their gate being measured
	ByHand      []string       `json:"by_hand,omitempty"` // steps that a person did instead, and has not taken back
	NeverLifted []Left         `json:"never_lifted"`
	Probes      []ProbeFigure  `json:"probes"`
	Processes   []Process      `json:"processes"` // that walked the run
}

// Reference is a figure of the runbook: what a measured value is held against.
type Reference struct {
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Measured string  `json:"measured"`
}

// StageTime is how the time of one stage was spent.
type StageTime struct {
	Stage    string `json:"stage"`
	TotalMS  int64  `json:"total_ms"`
	ActionMS int64  `json:"action_ms"` // writing, and reading back
	PersonMS int64  `json:"person_ms"` // a question waited for its answer
	HeldMS   int64  `json:"held_ms"`   // something held the releases
	GateMS   int64  `json:"gate_ms"`   // the rest: gates, and what was owed
}

// FlipFigure is one flip.
type FlipFigure struct {
	Seq       uint64    `json:"seq"` // of its outcome
	At        time.Time `json:"at"`
	T         int64     `json:"t_ms"`
	Stage     string    `json:"stage"`
	Step      string    `json:"step"`
	Control   string    `json:"control"`
	Before    string    `json:"before"`
	After     string    `json:"after"`
	Direction string    `json:"direction"`
	Purpose   string    `json:"purpose"`
	Result    string    `json:"result"`
	Version   int64     `json:"version,omitempty"`
	Digest    string    `json:"digest"`
	Approved  string    `json:"approved,omitempty"` // by whom
	Blind     bool      `json:"blind,omitempty"`
	TookMS    int64     `json:"took_ms"` // from the intent
}

// Decision is a verdict that led to something, with its readings.
type Decision struct {
	Seq      uint64    `json:"seq"`
	At       time.Time `json:"at"`
	T        int64     `json:"t_ms"`
	Step     string    `json:"step"`
	Gate     string    `json:"gate"`
	Verdict  string    `json:"verdict"`
	Decision string    `json:"decision"`
	Readings []string  `json:"readings,omitempty"`
}

// Hold is one hold from its beginning to its end.
type Hold struct {
	Seq      uint64    `json:"seq"`
	At       time.Time `json:"at"`
	T        int64     `json:"t_ms"`
	Cause    string    `json:"cause"`
	Sentence string    `json:"sentence"`
	By       string    `json:"by,omitempty"`
	LastedMS int64     `json:"lasted_ms"`
	Lifted   bool      `json:"lifted"`
	LiftedIn *Moment   `json:"lifted_in,omitempty"` // the record that lifted it
}

// Steady is what a control is when nothing is wrong.
type Steady struct {
	Control string `json:"control"`
	Value   string `json:"value"`
}

// Moment is something that happened, in words.
type Moment struct {
	Seq  uint64    `json:"seq"`
	At   time.Time `json:"at"`
	T    int64     `json:"t_ms"`
	Who  string    `json:"who,omitempty"`
	Text string    `json:"text"`
}

// Left is a control that is not at its steady value at the end.
type Left struct {
	Control string    `json:"control"`
	Value   string    `json:"value"`
	Steady  string    `json:"steady"`
	Since   time.Time `json:"since,omitzero"`
	By      string    `json:"by,omitempty"`
}

// Process is one process that walked the run.
type Process struct {
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	T       int64     `json:"t_ms"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	User    string    `json:"user"`
	Version string    `json:"version"`
	Over    string    `json:"over,omitempty"` // the run that the command was taken over from
}

// ProbeFigure is what was observed of a probe, as the walk judged it: the extremes of its series at each poll.
type ProbeFigure struct {
	Probe   string `json:"probe"`
	Unit    string `json:"unit"`
	Query   string `json:"query"`
	Unknown int    `json:"unknown"` // polls that brought no usable answer
	// Points are the polls in their order. Of a long run one stands for several that follow each other: for their
	// lowest and their highest.
	Points []Sample `json:"points"`
}

// Sample is one poll of a probe.
type Sample struct {
	At  time.Time `json:"at"` // evaluation time
	Min string    `json:"min"`
	Max string    `json:"max"`
	// ByHand is who gave the value where nothing was measured, "" for what was.
	ByHand string `json:"by_hand,omitempty"`
	Source string `json:"source,omitempty"` // the second source that gave it, "" for the first
}

// FiguresOf works the figures out of a log.
func FiguresOf(segments []Source) (*Figures, error) {
	t := newTally()
	if err := walkLog(segments, t.take); err != nil {
		return nil, err
	}
	return t.done(), nil
}

func stageName(s *steps.State) string {
	if s.Stage == 0 {
		return ""
	}
	return s.Stage.String()
}

package probes

import "time"

// Ask is one question of a poll: a probe, with the numbers of the rung that its
// query's ${from} and ${to} stand for ("" when it has none).
type Ask struct {
	Probe string `json:"probe"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
}

// Reading is one series of an answer.
type Reading struct {
	Series string  `json:"series"` // its labels, printable, sorted by name; "{}" when it has none
	Value  float64 `json:"-"`
	Raw    string  `json:"value"` // as Prometheus wrote it: "3200", "NaN", "+Inf"
}

// Answer is what a poll learned for one Ask. It keeps the worst of many series at
// both ends, so that any bound can be judged on it later.
type Answer struct {
	Ask      Ask       `json:"ask"`
	Query    string    `json:"query,omitempty"`    // expanded, as it was sent
	At       time.Time `json:"at"`                 // the explicit evaluation time
	Readings []Reading `json:"readings,omitempty"` // sorted by value, at most 20: the lowest ten and the highest ten when there are more
	Count    int       `json:"count,omitempty"`    // series in the answer, kept or not
	Min      Reading   `json:"-"`                  // only when Count > 0 and every value is a finite number
	Max      Reading   `json:"-"`                  // likewise

	// WindowStart is the earliest moment that a range selector of the query looks at
	// (exclusive); zero when the query has none.
	WindowStart time.Time `json:"window_start,omitzero"`
	// Oldest is the oldest sample behind any selector's newest value, counted for
	// the instant selectors; zero when there are none.
	Oldest time.Time `json:"oldest,omitzero"`
	// Stalest is the newest sample of the series that is furthest behind, over all
	// selectors, with their offsets added: At less Stalest is the age that counts. Zero
	// when no selector has a sample.
	Stalest time.Time `json:"stalest,omitzero"`
	// Newest gives, selector by selector, its newest sample: all must move for a new
	// observation. Zero for a selector without samples.
	Newest []time.Time `json:"newest,omitempty"`

	Reason   Reason   `json:"reason,omitempty"`   // why the answer cannot be judged; "" when it can
	Detail   string   `json:"detail,omitempty"`   // Reason as a sentence with the particulars, printable
	Assumed  bool     `json:"assumed,omitempty"`  // the value is the probe's `absent: as`, not a measurement
	Manual   *Manual  `json:"manual,omitempty"`   // who gave the value where no source did; nil for what was measured
	Source   string   `json:"source,omitempty"`   // the second source that gave it, without secrets; "" for the first
	Instead  string   `json:"instead,omitempty"`  // why what was measured could not be used, printable
	Warnings []string `json:"warnings,omitempty"` // printable
	Infos    []string `json:"infos,omitempty"`    // printable
}

// Reason says why something is unknown. The zero Reason is none.
type Reason string

// The reasons for an unknown verdict; each has its own sentence.
const (
	NotAsked     Reason = "not-asked"     // no observation yet
	NoData       Reason = "no-data"       // the query matched no series
	NotANumber   Reason = "not-a-number"  // NaN
	Infinite     Reason = "infinite"      // +Inf or -Inf
	Stale        Reason = "stale"         // the newest sample of some series is older than stale_after
	SeriesCount  Reason = "series-count"  // an unexpected number of series
	SourceCount  Reason = "source-count"  // fewer series behind the answer than sources.at_least
	Histogram    Reason = "histogram"     // a native histogram where a number was expected
	WrongType    Reason = "wrong-type"    // a matrix or a string, or no result at all
	Malformed    Reason = "malformed"     // an answer that is not what the API promises: HTML, no value, time zero
	Partial      Reason = "partial"       // a warning says that the answer is partial or truncated
	Warned       Reason = "warned"        // any other warning
	Transport    Reason = "transport"     // no answer: refused, timed out, unauthorized
	Rejected     Reason = "rejected"      // the server refused the query
	NotAlive     Reason = "not-alive"     // the probe's alive query or witness has no data
	BeforeMark   Reason = "before-mark"   // the answer still looks at what was before the flip
	Unconfirmed  Reason = "unconfirmed"   // a reading by hand that lifts something and that one person alone has given
	Unresolved   Reason = "unresolved"    // a recorded series whose window is not known
	NoPrevious   Reason = "no-previous"   // falling or rising without an earlier observation after the mark
	SameSamples  Reason = "same-samples"  // the same samples as in the observation before
	NoComparison Reason = "no-comparison" // the probe or control to compare with is not known
)

// Observation is one poll: every answer of it at one evaluation time.
type Observation struct {
	At          time.Time     `json:"at"`                    // the evaluation time, on the server's clock
	Offset      time.Duration `json:"offset,omitempty"`      // the server's clock less ours, as measured, in nanoseconds
	Reason      Reason        `json:"reason,omitempty"`      // why nothing at all could be asked; "" when it could
	Detail      string        `json:"detail,omitempty"`      // Reason as a sentence, printable
	Answers     []Answer      `json:"answers,omitempty"`     // one for each Ask, in order
	Propagation *Propagation  `json:"propagation,omitempty"` // nil when it was not asked for
}

// Propagation tells how far the service obeys a version of its controls.
type Propagation struct {
	Version   int64     `json:"version"`         // the version that was asked about
	Reported  bool      `json:"reported"`        // the service exports rewarm_controls_version
	Processes int       `json:"processes"`       // series seen
	Obeying   int       `json:"obeying"`         // series at or above Version
	Oldest    time.Time `json:"oldest,omitzero"` // oldest sample among the obeying series; zero when there are none
	Reason    Reason    `json:"reason,omitempty"`
	Detail    string    `json:"detail,omitempty"`
}

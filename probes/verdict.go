package probes

import "fmt"

// Verdict is what a bound or a gate says. The zero Verdict is Unknown: what was
// not measured cannot pass.
type Verdict uint8

// The three verdicts.
const (
	Unknown Verdict = iota
	Pass
	Fail
)

// String gives the verdict in one lower-case word.
func (v Verdict) String() string {
	switch v {
	case Pass:
		return "pass"
	case Fail:
		return "fail"
	default:
		return "unknown"
	}
}

// MarshalText writes the verdict as its word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads one of the three words; any other is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, known := range []Verdict{Unknown, Pass, Fail} {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("verdict %q is none of unknown, pass and fail", text)
}

// Finding is the verdict on one bound, with what it was judged by.
type Finding struct {
	Bound    string   `json:"bound"` // as a person would write it: "queue-age at most 500ms"
	Probe    string   `json:"probe"`
	Verdict  Verdict  `json:"verdict"`
	Reason   Reason   `json:"reason,omitempty"`  // when Verdict is Unknown
	Value    string   `json:"value,omitempty"`   // the worst value with its unit, "" when there is none
	Series   string   `json:"series,omitempty"`  // the labels of the worst series
	Sentence string   `json:"sentence"`          // one sentence: the numbers, or why it is unknown; printable, lower case, no full stop
	ByHand   string   `json:"by_hand,omitempty"` // who gave the value, from where and until when; "" for what was measured
	Source   string   `json:"source,omitempty"`  // the second source that gave a value; "" for the first
	Notes    []string `json:"notes,omitempty"`   // warnings and infos, printable
}

// Judgement is the verdict on a gate: of one observation.
type Judgement struct {
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings,omitempty"` // every bound, in order; a group passes when one of its bounds does
}

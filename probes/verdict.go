package probes

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

// Finding is the verdict on one bound, with what it was judged by.
type Finding struct {
	Bound    string // as a person would write it: "queue-age at most 500ms"
	Probe    string
	Verdict  Verdict
	Reason   Reason   // when Verdict is Unknown
	Value    string   // the worst value with its unit, "" when there is none
	Series   string   // the labels of the worst series
	Sentence string   // one sentence: the numbers, or why it is unknown; printable, lower case, no full stop
	Notes    []string // warnings and infos, printable
}

// Judgement is the verdict on a gate: of one observation.
type Judgement struct {
	Verdict  Verdict
	Findings []Finding // every bound, in order; a group passes when one of its bounds does
}

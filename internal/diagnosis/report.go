package diagnosis

import (
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Verdict is what the evidence says of a mode or a picture. The zero Verdict is none.
type Verdict string

// The verdicts, from the strongest to none at all.
const (
	Likely   Verdict = "likely"
	Possible Verdict = "possible"
	Unlikely Verdict = "unlikely"
	Unknown  Verdict = "unknown"
)

// Report is a diagnosis. Its texts are printable, lower case, without full stops.
type Report struct {
	At        time.Time  `json:"at"`                // the evaluation time of every reading
	Trouble   []string   `json:"trouble,omitempty"` // why nothing could be asked
	Questions []Question `json:"questions,omitempty"`
	Modes     []Mode     `json:"modes"`
	Pictures  []Picture  `json:"pictures,omitempty"`
}

// Mode is what the signals say of one mode.
type Mode struct {
	Mode    runbook.Mode `json:"mode"`
	About   string       `json:"about,omitempty"`
	Verdict Verdict      `json:"verdict"`
	Evidence
	Checks  []string `json:"next_checks,omitempty"` // what tells it from the others
	Runbook string   `json:"runbook"`
}

// Reason is the evidence that counted most for the verdict, in one line.
func (m Mode) Reason() string {
	missing := ""
	if len(m.Missing) > 0 {
		missing = "not measured: " + m.Missing[0].Says
	}
	switch {
	case m.Verdict == Unlikely && len(m.Against) > 0:
		return m.Against[0].Says
	case m.Verdict == Likely && len(m.For) > 0:
		return m.For[0].Says
	case m.Verdict == Possible && len(m.For) > 0:
		return m.For[0].Says + "; " + missing
	}
	return missing
}

// Picture is what they say of a combination of signals.
type Picture struct {
	Picture string  `json:"picture"`
	About   string  `json:"about,omitempty"`
	Verdict Verdict `json:"verdict"`
	Evidence
	Advice string   `json:"advice"`
	Avoid  []Avoid  `json:"avoid,omitempty"`
	Checks []string `json:"next_checks,omitempty"`
}

// Avoid is a measure that the picture tempts to, and the harm that it would do.
type Avoid struct {
	Do  string `json:"do"`
	Why string `json:"why"`
}

// Evidence sorts signs by what they tell. A need that fails stands under Against.
type Evidence struct {
	For     []Sign `json:"for,omitempty"`
	Against []Sign `json:"against,omitempty"`
	Missing []Sign `json:"missing,omitempty"` // could not be judged
}

// Sign is one sign with the readings behind it.
type Sign struct {
	Says     string   `json:"says"`
	Readings []string `json:"readings"` // the sentence of each bound
}

// Answer is what is known about a question.
type Answer string

// The answers. Ask means that a person has to find out.
const (
	Yes        Answer = "yes"
	No         Answer = "no"
	Ask        Answer = "ask"
	NotArising Answer = "does-not-arise"
)

// Question is asked before anything else.
type Question struct {
	Question string   `json:"question"`
	Why      string   `json:"why,omitempty"`
	Answer   Answer   `json:"answer"`
	Readings []string `json:"readings,omitempty"`
	Then     string   `json:"if_yes"`
}

// Likely lists the modes that the signals speak for.
func (r *Report) Likely() []Mode { return r.with(Likely) }

// Possible lists the modes that something speaks for while a need is unknown.
func (r *Report) Possible() []Mode { return r.with(Possible) }

// Unknown lists the modes of which nothing can be told.
func (r *Report) Unknown() []Mode { return r.with(Unknown) }

func (r *Report) with(v Verdict) []Mode {
	var list []Mode
	for _, m := range r.Modes {
		if m.Verdict == v {
			list = append(list, m)
		}
	}
	return list
}

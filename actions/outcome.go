package actions

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// Result is what became of a flip. The zero Result is Unknown.
type Result int

// The results of a flip.
const (
	Unknown Result = iota // it may have been done, or may still be: settle it
	Applied               // Redis holds it, under the plan's digest
	Refused               // it was not done and will not be
	NotSent               // nothing has left this machine
)

var resultNames = [...]string{"unknown", "applied", "refused", "not-sent"}

// String gives the result's name as it stands in the log.
func (r Result) String() string {
	if r < 0 || int(r) >= len(resultNames) {
		return fmt.Sprintf("result(%d)", int(r))
	}
	return resultNames[r]
}

// MarshalText gives the result's name.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a result's name.
func (r *Result) UnmarshalText(text []byte) error {
	for i, name := range resultNames {
		if name == string(text) {
			*r = Result(i)
			return nil
		}
	}
	return fmt.Errorf("result %s is unknown", printable(string(text)))
}

// Outcome is what became of a flip, and what a person should know about it.
type Outcome struct {
	Result    Result
	Cause     Cause         // why it is not Applied; "" when it is
	Version   int64         // of the control at its last flip, as far as it was seen: of this one when Applied
	Found     *string       // raw value in Redis as it was seen last; nil when the field is missing
	Seen      bool          // whether Found was seen at all
	Commander *Commanded    // who commands instead, with CommandLost
	Lease     *Lease        // by Settle: the lease to go on with, which has a new fencing number
	Sentence  string        // for people, without secrets and raw bytes
	Hint      string        // the way out, "" when none is needed
	Retry     time.Duration // when trying again makes sense without a person; 0 when it does not
}

// outcomeOf turns an error of sending into an outcome.
func outcomeOf(err error) Outcome {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Cause: NoAnswer, Sentence: err.Error()}
	}
	o := Outcome{Result: Refused, Cause: f.Cause, Sentence: f.Sentence, Hint: f.Hint, Retry: f.Retry}
	switch f.Cause {
	case NoAnswer, NotKnown:
		o.Result = Unknown
	case Unreachable, Interrupted, NotRedis:
		o.Result = NotSent
	}
	return o
}

func outcomeCommanded(c *Commanded) Outcome {
	o := Outcome{
		Result: Refused, Cause: CommandLost, Commander: c,
		Sentence: "nothing was changed, this run does not command: " + c.Error(),
		Hint:     "whoever commands decides; take the command again when that run is gone",
	}
	if c.Run == "" {
		o.Hint = "redis has lost the lease, as after a restart without its data; take the command again"
	}
	return o
}

// plainWord is what a value of a switch or a choice looks like.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`) })

// shown is a raw value as people read it, in the unit of the plan: "300ms" for
// 0.3 in s, "off", "no value". What no flip could have written is in quotes.
func (p Plan) shown(raw *string) string {
	if raw == nil {
		return "no value"
	}
	if number, err := controls.ParseNumber(*raw); err == nil {
		return runbook.FormatQuantity(number, p.Unit)
	}
	if plainWord().MatchString(*raw) {
		return *raw
	}
	return printable(*raw)
}

package actions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/runbook"
)

// Plan is what one flip will do. The plan that is shown is the plan that is
// approved, intended, applied and named by the outcome.
type Plan struct {
	Run       string            `json:"run"`
	Step      string            `json:"step"`
	Control   string            `json:"control"`
	Before    *string           `json:"before"` // the raw value in Redis; nil when the field is missing
	After     *string           `json:"after"`  // nil deletes the field
	Direction runbook.Direction `json:"direction"`
	Version   int64             `json:"version"` // of this control at its last flip, 0 when it has none
	Unit      string            `json:"unit"`
}

// Live is one control as Redis holds it.
type Live struct {
	Control string
	Raw     *string       // nil when the field is missing
	Value   runbook.Value // what readers obey: Raw decoded, the absent value when it is missing, the dead man's value when Lapsed
	Invalid string        // why Raw cannot be decoded; then Value is not to be used and the direction is unknown
	Meta    *Meta         // nil when nobody flipped it through rewarm
	Lapsed  bool          // its run no longer renews it, so readers obey the dead man's value and not Raw
	Edited  bool          // Raw is not what the last flip wrote: somebody changed it by hand
	Expires time.Duration // when Redis will forget all controls of the service; 0 never. A flip removes this
}

// NewPlan plans to bring a control from where it is to a value; nil deletes the
// field, so that the service does what it does without it.
func NewPlan(run, step string, c *runbook.Control, live Live, to *runbook.Value) Plan {
	p := Plan{Run: run, Step: step, Control: c.Name, Before: live.Raw, Unit: c.Unit}
	if live.Meta != nil {
		p.Version = live.Meta.Version
	}
	after := c.Absent
	if to != nil && !to.Unlimited {
		after = *to
		raw := Encode(after)
		p.After = &raw
	}
	p.Direction = direction(c, live, after)
	return p
}

// direction tells what readers will notice. A lapsed value that is still in
// Redis is taken away by a write even when readers have left it already.
func direction(c *runbook.Control, live Live, after runbook.Value) runbook.Direction {
	if live.Invalid != "" {
		return runbook.Releasing
	}
	d := c.Direction(live.Value, after)
	if d != runbook.Neither || !live.Lapsed {
		return d
	}
	if held, err := Decode(c, *live.Raw); err == nil {
		return c.Direction(held, after)
	}
	return runbook.Releasing
}

// Nothing reports whether the service would obey after the flip what it obeys
// now, so that nothing needs to be written or approved.
func (p Plan) Nothing() bool { return p.Direction == runbook.Neither }

// Digest names the plan: the hex SHA-256 of its JSON.
func (p Plan) Digest() string { return digest(p) }

// GroupDigest names a stage's or a ladder's plans, which are approved together:
// the hex SHA-256 of the list of control, after and unit.
func GroupDigest(plans []Plan) string {
	type member struct {
		Control string  `json:"control"`
		After   *string `json:"after"`
		Unit    string  `json:"unit"`
	}
	members := make([]member, len(plans))
	for i, p := range plans {
		members[i] = member{p.Control, p.After, p.Unit}
	}
	return digest(members)
}

func digest(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // plans hold nothing that JSON cannot write
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// planFields is Plan without its methods. A value that is not UTF-8 goes into
// the sibling field, because JSON would change its bytes.
type planFields Plan

type planJSON struct {
	planFields
	BeforeBase64 []byte `json:"before_base64,omitempty"`
}

// MarshalJSON writes the plan with its fields in their order; a before that is
// not UTF-8 is null there and stands in before_base64.
func (p Plan) MarshalJSON() ([]byte, error) {
	out := planJSON{planFields: planFields(p)}
	if p.Before != nil && !utf8.ValidString(*p.Before) {
		out.Before, out.BeforeBase64 = nil, []byte(*p.Before)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Plan) UnmarshalJSON(b []byte) error {
	var in planJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*p = Plan(in.planFields)
	if in.BeforeBase64 != nil {
		before := string(in.BeforeBase64)
		p.Before = &before
	}
	return nil
}

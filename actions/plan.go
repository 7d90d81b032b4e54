package actions

import (
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
	Value   runbook.Value // Raw decoded; the control's absent value when it is missing
	Invalid string        // why Raw cannot be decoded; then Value is not to be used and the direction is unknown
	Meta    *Meta         // nil when nobody flipped it through rewarm
}

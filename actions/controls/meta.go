package controls

import (
	"encoding/json"
	"fmt"
	"time"
)

// Meta is what Redis keeps beside a control's value about its last flip through
// rewarm. A hand edit of the value does not change it.
type Meta struct {
	Version int64   `json:"version"` // of the service's controls, at this flip
	Digest  string  `json:"digest"`  // of the plan that was applied
	Run     string  `json:"run"`
	Fence   int64   `json:"fence"`
	Step    string  `json:"step"`
	Actor   string  `json:"actor"`
	At      int64   `json:"at"`     // server time, milliseconds
	Before  *string `json:"before"` // raw value before the flip; nil when the field was missing
	After   *string `json:"after"`  // raw value that the flip wrote; nil when it deleted the field
	Steady  *string `json:"steady"` // raw value to come back to
	// Absent is what readers do without the field: a raw value or Unlimited; "" when the flip did not say.
	Absent   string `json:"absent,omitempty"`
	Protects string `json:"protects"`
	ReviewAt int64  `json:"review_at,omitempty"` // server time, milliseconds; 0 when it has no review
	Owner    string `json:"owner"`
	Reason   string `json:"reason,omitempty"` // of a flip by hand
	Until    int64  `json:"until,omitempty"`  // server time, milliseconds; only for a control with a dead man's value
	Since    int64  `json:"since,omitempty"`  // server time, milliseconds, at which it left its steady value; 0 while it is there

	// BeforeBase64 is Before when that is not UTF-8; Before is nil then.
	BeforeBase64 []byte `json:"before_base64,omitempty"`
}

// ParseMeta reads one field of the meta hash.
func ParseMeta(raw string) (Meta, error) {
	var m Meta
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return Meta{}, fmt.Errorf("meta %s is not the JSON that rewarm writes", quote(raw))
	}
	return m, nil
}

// Away reports whether readers obey another value than the steady one. A missing field, nil, is what
// the service does without it; where the last flip did not say what that is, it counts as another. A
// control without a steady value is never away.
func (m Meta) Away(raw *string) bool {
	obeyed := m.Absent
	if raw != nil {
		obeyed = *raw
	}
	return m.Steady != nil && obeyed != *m.Steady
}

// Lapsed reports whether the run that flipped the control no longer renews it,
// so that its dead man's value counts. A value that is not the one the flip
// wrote was set by hand and counts as it is.
func (m Meta) Lapsed(raw *string, server time.Time) bool {
	if m.Until == 0 || server.UnixMilli() <= m.Until {
		return false
	}
	return raw != nil && m.After != nil && *raw == *m.After
}

package actions

import (
	"fmt"
	"math"

	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// Encode gives the raw value that Redis holds. Unlimited has none: it is what a
// missing field may mean.
func Encode(v runbook.Value) string {
	switch {
	case v.Kind.Numeric():
		return controls.FormatNumber(v.Number)
	case v.Kind == runbook.List:
		return controls.FormatList(v.List)
	}
	return v.Text
}

// EncodeAbsent gives what readers do without the field of a control: a raw value, or
// controls.Unlimited.
func EncodeAbsent(c *runbook.Control) string {
	if c.Absent.Unlimited {
		return controls.Unlimited
	}
	return Encode(c.Absent)
}

// Decode reads a raw value of a control. It does not ask for the control's
// bounds: a value beyond them is one that somebody has set by hand, and counts.
func Decode(c *runbook.Control, raw string) (runbook.Value, error) {
	v := runbook.Value{Kind: c.Kind}
	var err error
	switch {
	case c.Kind.Numeric():
		if v.Number, err = controls.ParseNumber(raw); err == nil && c.Kind == runbook.Count && v.Number != math.Trunc(v.Number) {
			err = fmt.Errorf("%s is not a whole number", printable(raw))
		}
	case c.Kind == runbook.Switch:
		_, err = controls.ParseSwitch(raw)
		v.Text = raw
	case c.Kind == runbook.Choice:
		v.Text, err = controls.ParseChoice(raw, c.Choices)
	case c.Kind == runbook.List:
		v.List, err = controls.ParseList(raw)
	default:
		err = fmt.Errorf("kind %s is unknown", printable(string(c.Kind)))
	}
	if err != nil {
		return runbook.Value{}, err
	}
	return v, nil
}

package runbook

import (
	"errors"
	"fmt"
)

// ParseValue reads a value of a probe as a person types it: "400ms", "1800 attempts/s", "97%".
// The unit may be left out where nothing else can be meant: a bare 400 for a probe in seconds
// is refused. The number is in the unit of the probe.
func (p *Probe) ParseValue(text string) (float64, error) {
	q, wrong := parseQuantity(text)
	if wrong != nil {
		return 0, errors.New(wrong.Error())
	}
	if family := scales[p.Unit].family; family != "" && q.unit == "" {
		return 0, fmt.Errorf("%s has no unit, and %s is in %s: write it with its unit", quote(text), p.Name, p.Unit)
	}
	number, fits := convert(q.number, q.unit, p.Unit)
	if !fits {
		return 0, fmt.Errorf("unit %s does not fit probe %s, which is in %s", quote(q.unit), p.Name, quote(p.Unit))
	}
	return number, nil
}

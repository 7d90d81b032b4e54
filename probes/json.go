package probes

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A Reading's value is written as a string, because NaN and the infinities are not
// numbers in JSON. Min and Max of an Answer are not written: its readings give them.

// UnmarshalJSON reads a reading and its value.
func (r *Reading) UnmarshalJSON(b []byte) error {
	type plain Reading
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	v, err := strconv.ParseFloat(r.Raw, 64)
	if err != nil {
		return fmt.Errorf("reading %q is not a number", r.Raw)
	}
	r.Value = v
	return nil
}

// UnmarshalJSON reads an answer and finds its extremes again.
func (a *Answer) UnmarshalJSON(b []byte) error {
	type plain Answer
	if err := json.Unmarshal(b, (*plain)(a)); err != nil {
		return err
	}
	a.setExtremes()
	return nil
}

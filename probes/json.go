package probes

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// nanoseconds is how a log has durations.
var nanoseconds = jsonv1.FormatDurationAsNano(true)

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
func (a *Answer) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, a) }

// UnmarshalJSONFrom does so in the pass that reads what the answer stands in, and its readings are read in it, too:
// a log has millions of them.
func (a *Answer) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Answer
	read := struct {
		*plain
		Readings []struct {
			Series string `json:"series"`
			Raw    string `json:"value"`
		} `json:"readings"`
	}{plain: (*plain)(a)}
	if err := json.UnmarshalDecode(from, &read, nanoseconds); err != nil {
		return err
	}
	var readings []Reading
	if len(read.Readings) > 0 {
		readings = make([]Reading, len(read.Readings))
	}
	for i, r := range read.Readings {
		v, err := strconv.ParseFloat(r.Raw, 64)
		if err != nil {
			return fmt.Errorf("reading %q is not a number", r.Raw)
		}
		readings[i] = Reading{Series: r.Series, Value: v, Raw: r.Raw}
	}
	a.SetStored(readings)
	return nil
}

// SetStored takes readings as a log has them, in the order that SetReadings gave them, and finds their extremes.
func (a *Answer) SetStored(readings []Reading) {
	a.Readings = readings
	a.setExtremes()
}

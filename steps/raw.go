package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// rawValues are values as they stand in Redis, by control; nil for a missing field.
type rawValues map[string]*string

// split separates what JSON can carry from what it would change.
func (r rawValues) split() (text map[string]*string, odd map[string][]byte) {
	for name, raw := range r {
		if raw != nil && !utf8.ValidString(*raw) {
			if odd == nil {
				odd = map[string][]byte{}
			}
			odd[name] = []byte(*raw)
			continue
		}
		if text == nil {
			text = map[string]*string{}
		}
		text[name] = raw
	}
	return text, odd
}

// longestRaw is the longest raw value that is taken into a record, in bytes. No control
// has values nearly as long; what is longer was written by a hand or another program.
const longestRaw = 2048

// kept gives a raw value as the state keeps it: one that is too long for a record is
// only told by its length. It still differs from every value that the run writes.
func kept(raw *string) *string {
	if raw == nil || len(*raw) <= longestRaw {
		return raw
	}
	text := fmt.Sprintf("(a value of %d bytes)", len(*raw))
	return &text
}

// rawBytes gives the bytes of a raw value that JSON would change.
func rawBytes(raw **string) []byte {
	if *raw == nil || utf8.ValidString(**raw) {
		return nil
	}
	odd := []byte(**raw)
	*raw = nil
	return odd
}

func rawText(raw **string, odd []byte) {
	if odd != nil {
		text := string(odd)
		*raw = &text
	}
}

// marshalPlain is JSON without HTML escapes, so that sentences stay readable.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

type settledFields Settled

type settledJSON struct {
	settledFields
	FoundBase64 []byte `json:"found_base64,omitempty"`
}

// MarshalJSON writes a value that is not UTF-8 to found_base64.
func (s Settled) MarshalJSON() ([]byte, error) {
	out := settledJSON{settledFields: settledFields(s)}
	out.FoundBase64 = rawBytes(&out.Found)
	return marshalPlain(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Settled) UnmarshalJSON(b []byte) error {
	var in settledJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*s = Settled(in.settledFields)
	rawText(&s.Found, in.FoundBase64)
	return nil
}

type driftedFields Drifted

type driftedJSON struct {
	driftedFields
	ExpectedBase64 []byte `json:"expected_base64,omitempty"`
	FoundBase64    []byte `json:"found_base64,omitempty"`
}

// MarshalJSON writes values that are not UTF-8 to expected_base64 and found_base64.
func (d Drifted) MarshalJSON() ([]byte, error) {
	out := driftedJSON{driftedFields: driftedFields(d)}
	out.ExpectedBase64, out.FoundBase64 = rawBytes(&out.Expected), rawBytes(&out.Found)
	return marshalPlain(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Drifted) UnmarshalJSON(b []byte) error {
	var in driftedJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*d = Drifted(in.driftedFields)
	rawText(&d.Expected, in.ExpectedBase64)
	rawText(&d.Found, in.FoundBase64)
	return nil
}

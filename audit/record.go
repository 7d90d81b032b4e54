package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Record is one entry of the log.
type Record struct {
	Seq   uint64          `json:"seq"`  // from 1
	Prev  string          `json:"prev"` // hex SHA-256 of the previous line without its newline
	At    time.Time       `json:"at"`   // UTC, as the wall clock had it, even when it stepped back
	T     int64           `json:"t"`    // milliseconds of run time, never decreasing, sleeps excluded
	Actor string          `json:"actor"`
	Kind  string          `json:"kind"`
	Body  json.RawMessage `json:"body"` // a JSON object

	// Emergency is true for a record that was written to the emergency sink
	// because the log is broken. It is not part of the line.
	Emergency bool `json:"-"`
}

// atLayout is RFC 3339 with nine decimals, always: every line has the same shape.
const atLayout = "2006-01-02T15:04:05.000000000Z"

// Line is the record as it stands in the log, without the newline: keys in
// their fixed order, the body byte for byte.
func (r Record) Line() []byte {
	line := make([]byte, 0, len(r.Body)+256)
	line = append(line, `{"seq":`...)
	line = strconv.AppendUint(line, r.Seq, 10)
	line = append(line, `,"prev":"`...)
	line = append(line, r.Prev...)
	line = append(line, `","at":"`...)
	line = r.At.UTC().AppendFormat(line, atLayout)
	line = append(line, `","t":`...)
	line = strconv.AppendInt(line, r.T, 10)
	line = append(line, `,"actor":`...)
	line = append(line, quote(r.Actor)...)
	line = append(line, `,"kind":"`...)
	line = append(line, r.Kind...)
	line = append(line, `","body":`...)
	line = append(line, r.Body...)
	return append(line, '}')
}

// MarshalJSON gives [Record.Line]. An encoder that escapes HTML changes the
// bytes of the body, and with them the hash: set SetEscapeHTML(false), or write
// Line itself.
func (r Record) MarshalJSON() ([]byte, error) {
	return r.Line(), nil
}

// ParseRecord reads one line of a log, given without its newline. It refuses
// what [Record.Line] would not print back identically, so a line has one
// reading and one hash. It does not check the chain.
func ParseRecord(line []byte) (Record, error) {
	e, err := parseEnvelope(line)
	if err != nil {
		return Record{}, err
	}
	return e.record()
}

// SplitRecord is [ParseRecord] for who decodes the body and finds out by that whether it is JSON: nobody has looked
// into it, and it is a part of the line.
func SplitRecord(line []byte) (Record, error) {
	e, err := parseEnvelope(line)
	if err != nil {
		return Record{}, err
	}
	return e.split()
}

// record decodes what the chain check leaves alone. The result shares no memory
// with the line.
func (e envelope) record() (Record, error) {
	r, err := e.split()
	if err != nil {
		return Record{}, err
	}
	if !json.Valid(r.Body) {
		return Record{}, errors.New("the body is not valid JSON")
	}
	r.Body = bytes.Clone(r.Body)
	return r, nil
}

// split decodes everything but the body.
func (e envelope) split() (Record, error) {
	at, err := parseAt(e.at)
	if err != nil {
		return Record{}, err
	}
	actor, ok := plainQuoted(e.actor)
	if !ok && (json.Unmarshal(e.actor, &actor) != nil || !bytes.Equal(quote(actor), e.actor)) {
		return Record{}, fmt.Errorf("actor %q is not written as the log writes it", Cut(string(e.actor), longestShown))
	}
	return Record{Seq: e.seq, Prev: e.prev.String(), At: at, T: e.t, Actor: actor, Kind: string(e.kind),
		Body: json.RawMessage(e.body)}, nil
}

// plainQuoted gives a JSON string of which every character stands for itself.
func plainQuoted(quoted []byte) (string, bool) {
	text := quoted[1 : len(quoted)-1]
	return string(text), all(text, func(c byte) bool { return c >= ' ' && c <= '~' && c != '"' && c != '\\' })
}

func parseAt(at []byte) (time.Time, error) {
	t, err := time.Parse(atLayout, string(at))
	if err != nil {
		return time.Time{}, fmt.Errorf("at %q is no time", Cut(string(at), longestShown))
	}
	return t, nil
}

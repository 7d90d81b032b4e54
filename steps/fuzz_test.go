package steps

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// FuzzDecodeBody: whatever stands in a log, decoding it is an answer or an error; and
// what decodes is written as the same body again.
func FuzzDecodeBody(f *testing.F) {
	for i, r := range walkedRecords(f) {
		if i%7 == 0 {
			f.Add(r.Kind, []byte(r.Body))
		}
	}
	f.Add("settled", []byte(`{"found_base64":"/w==","plan":{"before_base64":"/w=="}}`))
	f.Add("unheard", []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		body, err := DecodeBody(kind, raw)
		if err != nil || body == nil {
			return
		}
		first, err := json.Marshal(body)
		if err != nil {
			return // a time out of range cannot be written
		}
		again, err := DecodeBody(kind, first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("written twice it differs (%v):\n%s\n%s", err, first, second)
		}
	})
}

// FuzzFold: a log of records that decode but make no sense folds or is refused; nothing
// panics, and neither does deciding what comes next. The bytes choose which records of a
// real walk stand in it, in which order, and one of them is replaced.
func FuzzFold(f *testing.F) {
	records := walkedRecords(f)
	f.Add([]byte{0, 1, 2, 3, 4, 5}, "step", []byte(`{"step":"nobody","state":"done"}`))
	f.Add([]byte{0, 9, 9, 200}, "settled", []byte(`{"result":"applied","target":{"step":"lift","purpose":"restore","control":"nothing"}}`))
	f.Add([]byte{0}, "judged", []byte(`{"step":"admission","decision":"undo","target":{"step":"admission"}}`))
	f.Add([]byte{0, 7}, "drifted", []byte(`{"control":"unknown","decision":"put back"}`))
	f.Add([]byte{0, 7}, "observed", []byte(`{"answers":[{"ask":{"probe":"queue"}}],"propagation":{"version":-1}}`))
	f.Add([]byte{0, 7}, "called", []byte(`{"step":"freeze","undo":true,"finished":true,"ok":true}`))
	f.Fuzz(func(t *testing.T, order []byte, kind string, raw []byte) {
		j := &memoryJournal{}
		for i, pick := range order {
			r := records[int(pick)%len(records)]
			if i == 0 {
				r = records[0]
			}
			r.Seq = uint64(i + 1)
			j.records = append(j.records, r)
		}
		j.records = append(j.records, audit.Record{Seq: uint64(len(order) + 1), At: start, Kind: kind, Body: raw})
		s, err := Fold(j.all())
		if err != nil {
			return
		}
		for _, later := range []time.Duration{0, time.Second, time.Minute} {
			Next(s, start.Add(later))
			questionOf(s, start.Add(later))
		}
		s.Overrides()
	})
}

func walkedRecords(f testing.TB) []audit.Record {
	w := incidentWalker(f)
	if err := w.begin(""); err != nil {
		f.Fatal(err)
	}
	w.mustClose(f)
	return w.journal.records
}

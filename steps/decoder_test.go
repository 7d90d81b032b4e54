package steps

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestDecoder reads the observations of walks one after another: each as DecodeBody does, and none has to be left to it.
func TestDecoder(t *testing.T) {
	d := NewDecoder()
	observed := 0
	for _, r := range walkedRecords(t) {
		if r.Kind != KindObserved {
			continue
		}
		body, ok := d.observed(r.Body)
		if ok == strings.Contains(string(r.Body), `"controls":`) {
			t.Fatalf("read by itself: %v, of %s", ok, r.Body)
		}
		if ok {
			observed++
			sameBody(t, body, r.Body)
		}
	}
	if observed < 10 {
		t.Errorf("only %d observations", observed)
	}
}

func sameBody(t *testing.T, body *Observed, raw []byte) {
	t.Helper()
	want, err := DecodeBody(KindObserved, raw)
	if err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if diff := cmp.Diff(want, any(body), cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("%s\n%s", diff, raw)
	}
}

// oddObservations are written in ways of which some are this package's own.
var oddObservations = []string{
	`{"at":"2026-11-29T10:08:00.5Z","offset_ms":-12,"answers":[{"ask":{"probe":"a","from":"10","to":"25"},"query":"sum(x{y=\"z\"})","at":"2026-11-29T10:08:00.5Z","readings":[{"series":"{a=\"\\\\\"}","value":"NaN"},{"series":"{}","value":"+Inf"}],"count":2,"newest":["2026-11-29T10:08:00Z","0001-01-01T00:00:00Z"],"reason":"not-a-number","detail":"é\u202e","assumed":true,"source":"s","instead":"i","warnings":["w","v"],"infos":["i"]}],"gates":[{"gate":"g","verdict":"unknown","passes":0,"of":2,"findings":[{"bound":"b","probe":"p","verdict":"unknown","reason":"stale","sentence":"","by_hand":"h","source":"s","notes":["n"]}]},{"gate":"h","verdict":"pass","passes":1,"of":1,"findings":null}],"propagation":{"version":3,"reported":true,"processes":240,"obeying":239,"oldest":"2026-11-29T10:08:00Z"},"more":true}`,
	`{"at":"2026-11-29T10:08:00+01:00","offset_ms":0,"answers":[{"ask":{"probe":"a"},"at":"2026-11-29T10:08:00Z","manual":{"by":"ana","source":"s","given":"2026-11-29T10:08:00Z","until":"2026-11-29T10:08:00Z","digest":"d"}}],"redis":"down"}`,
	`{"at":"2026-11-29T10:08:00Z","offset_ms":01}`, `{"at":"2026-11-29T10:08:00Z","offset_ms":-0}`, `{"at":"2026-11-29T10:08:00Z","offset_ms":1e2}`,
	`{"at":"2026-11-29T10:08:00Z","offset_ms":0,"answers":[]}`, `{"at":"2026-11-29T10:08:00Z","offset_ms":0,"answers":[{"ask":{"probe":"\xff"},"at":"2026-11-29T10:08:00Z"}]}`,
	`{"at":"2026-11-29T10:08:00Z","offset_ms":0,"answers":[{"ask":{"probe":"a"},"at":"2026-11-29T10:08:00Z","readings":[{"series":"{}","value":"x"}]}]}`,
	`{"at":"yesterday","offset_ms":0}`, `{"at":"","offset_ms":0}`, `{"at":"2026-11-29T10:08:00Z","offset_ms":99999999999999999999}`,
	`{"at":"2026-11-29T10:08:00Z","offset_ms":0,"more":false}`, `{"at":"2026-11-29T10:08:00Z","offset_ms":0}}`, `{"at":"2026-11-29T10:08:00Z`, `{}`,
}

// TestDecoderOfTheOdd takes the first of them by itself, and says of none what DecodeBody does not.
func TestDecoderOfTheOdd(t *testing.T) {
	d := NewDecoder()
	for i, raw := range oddObservations {
		for range 2 { // what it has seen changes nothing
			body, ok := d.observed([]byte(raw))
			if ok {
				sameBody(t, body, []byte(raw))
			}
			if i == 0 && !ok {
				t.Error("it was left to DecodeBody")
			}
		}
	}
}

// FuzzDecoder: what a decoder reads by itself is what DecodeBody reads, whatever it has seen before.
func FuzzDecoder(f *testing.F) {
	records := walkedRecords(f)
	for i, r := range records {
		if r.Kind == KindObserved && i%7 == 0 {
			f.Add([]byte(r.Body))
		}
	}
	for _, raw := range oddObservations {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := NewDecoder()
		d.observed([]byte(oddObservations[0]))
		if body, ok := d.observed(raw); ok {
			sameBody(t, body, raw)
		}
	})
}

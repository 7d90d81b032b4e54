package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/audit"
)

// TestAWatchCanGoBack: the records of a run can be had once more, from its log or from its mirror.
func TestAWatchCanGoBack(t *testing.T) {
	for name, from := range map[string]func(*mirrorSeat, ...audit.Record){"log": (*mirrorSeat).keeps, "mirror": (*mirrorSeat).mirrors} {
		t.Run(name, func(t *testing.T) {
			seat := newMirrorSeat(t)
			records := seat.records("ops-1", 1, 6)
			from(seat, records...)
			p := newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, madeUp(nil))
			p.settings.stateDir = seat.dir
			if name == "mirror" {
				p.settings.redis = seat.url
			}
			_, source, err := p.watched(t.Context(), "last", "")
			if err != nil {
				t.Fatal(err)
			}
			var seen []audit.Record
			for len(seen) < len(records) {
				more, err := source.next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, more...)
			}
			var again []audit.Record
			for record, err := range source.again(2, 5) {
				if err != nil {
					t.Fatal(err)
				}
				record.Body = bytes.Clone(record.Body)
				again = append(again, record)
			}
			if diff := cmp.Diff(records[2:5], again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package evidence

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

const otherID = "20261129T100803Z-small-0001"

// otherRun took the command over from the small one. Its head is signed by a key, when one is given.
func otherRun(t testing.TB, key *audit.Key) Material {
	t.Helper()
	records := smallRecords(t, true)
	begun := records[0].body.(*steps.Begun)
	begun.Run, begun.User, begun.Over = otherID, "bea", &steps.Over{Run: smallID, Reason: "it hangs"}
	m, own := signedRun(t, otherID, records)
	if key == nil {
		return m
	}
	head, err := audit.OpenHead(m.Head, own.Verifier)
	if err != nil {
		t.Fatal(err)
	}
	if m.Head, err = audit.SignHead(head, key.Signer); err != nil {
		t.Fatal(err)
	}
	m.Key = []byte(key.Public + "\n")
	return m
}

// incidentOf is a bundle of several runs, signed by a key when there is one.
func incidentOf(t testing.TB, key *audit.Key, runs ...Material) []byte {
	t.Helper()
	var signer note.Signer
	if key != nil {
		signer = key.Signer
	}
	var b bytes.Buffer
	if err := BuildIncident(&b, runs, "v1", signer); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestIncident: several runs make one bundle, in whatever order they are given; each verifies, and the timeline
// tells who commanded when.
func TestIncident(t *testing.T) {
	m, key := captured(t)
	other := otherRun(t, key)
	bundle := incidentOf(t, key, m, other)
	if !bytes.Equal(incidentOf(t, key, other, m), bundle) {
		t.Error("the order in which the runs are given matters")
	}
	v, err := verified(bundle, Check{Version: "v1"})
	if err != nil || len(v.Each) != 2 || v.Each[0].Run != smallID || v.Each[1].Run != otherID {
		t.Fatalf("%+v, %v", v, err)
	}
	rows := string(texts(t, bundle)[timelineCSV])
	for _, want := range []string{smallID + ",1,", otherID + ",1,", "bea on desk walks, process 7, rewarm v1, having taken the command over from run " + smallID} {
		if !strings.Contains(rows, want) {
			t.Errorf("the timeline does not say %q:\n%s", want, rows)
		}
	}
	kept, err := audit.OpenHead(other.Head, keyOf(t, other.Key))
	if err != nil {
		t.Fatal(err)
	}
	v, err = verified(bundle, Check{Version: "v1", Head: &audit.Head{Seq: kept.Seq, Hash: kept.Hash}})
	if err != nil || !slices.ContainsFunc(v.Sentences, func(s string) bool { return strings.Contains(s, "kept elsewhere is in the log of "+otherID) }) {
		t.Errorf("a head of one of the runs: %v, %q", err, v.Sentences)
	}
	if _, err := verified(bundle, Check{Version: "v1", Head: &audit.Head{Seq: 3, Hash: "000000000000"}}); !IsBroken(err) {
		t.Errorf("a head of none of the runs: %v", err)
	}
}

// TestARunLeftOutOfAnIncident is told by the manifest, a changed one by its own parts.
func TestARunLeftOutOfAnIncident(t *testing.T) {
	m, key := captured(t)
	all := texts(t, incidentOf(t, key, m, otherRun(t, key)))
	for name := range all {
		if strings.HasPrefix(name, otherID+"/") {
			delete(all, name)
		}
	}
	if _, err := verified(packedOf(t, all), Check{Version: "v1"}); err == nil || !strings.Contains(err.Error(), otherID+"/") {
		t.Errorf("a run was left out, and that was found: %v", err)
	}
}

// TestInterleaved: rows stand in the order of the clocks, those of one run in that of its records.
func TestInterleaved(t *testing.T) {
	m, _ := captured(t)
	var all []*Figures
	for _, run := range []Material{m, otherRun(t, nil)} {
		figures, err := FiguresOf(run.Segments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, figures)
	}
	all[1].Stages[0].At = all[1].Began.Add(-1e9) // its clock was set back
	last := map[string]uint64{}
	switches := 0
	rows := interleaved(all)
	for i, row := range rows {
		if row.Seq < last[row.Run] {
			t.Errorf("row %d of run %s stands behind row %d", row.Seq, row.Run, last[row.Run])
		}
		last[row.Run] = row.Seq
		if i > 0 && rows[i-1].Run != row.Run {
			switches++
		}
	}
	if switches < 3 {
		t.Errorf("the runs are not interleaved: %d switches in %d rows", switches, len(rows))
	}
}

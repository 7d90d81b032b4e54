package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// writtenLines gives the lines of a log of n records, each told from those of other writers,
// behind the records of other segments if there are any.
func writtenLines(t *testing.T, path, writer string, n int, earlier ...string) (lines [][]byte) {
	t.Helper()
	log, err := Create(path, newClock(), Options{Run: "r", Earlier: earlier})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for range n {
		r, err := log.Append(writer, "noted", nil)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, r.Line())
	}
	return lines
}

func linesOf(records []Record) (lines [][]byte) {
	for _, r := range records {
		lines = append(lines, r.Line())
	}
	return lines
}

// TestGatherAnyOrder: lines that come in any order and any number of times make the log that
// was written, as far as no record is missing; where one is, it is named.
func TestGatherAnyOrder(t *testing.T) {
	lines := writtenLines(t, filepath.Join(t.TempDir(), "log"), "ana", 40)
	rapid.Check(t, func(t *rapid.T) {
		came := rapid.SliceOfN(rapid.SampledFrom(lines), 0, 200).Draw(t, "lines")
		var g Gathering
		for _, line := range came {
			if _, err := g.Add(line); err != nil {
				t.Fatal(err)
			}
		}
		want, last := 0, 0
		for i, line := range lines {
			if slices.ContainsFunc(came, func(c []byte) bool { return bytes.Equal(c, line) }) {
				last = i + 1
				if want == i {
					want++
				}
			}
		}
		got := g.Gathered()
		if !slices.EqualFunc(linesOf(got.Records), lines[:want], bytes.Equal) || len(got.Forks) > 0 {
			t.Fatalf("%d records, %d forks, want the first %d", len(got.Records), len(got.Forks), want)
		}
		var gap *GapError
		if err := got.Lost("mirror"); errors.As(err, &gap) != (last > want) || gap != nil && gap.First != uint64(want+1) {
			t.Fatalf("the first %d of %d: %v", want, last, err)
		}
	})
}

// TestGatherFork: the branch with the highest rank is the log, whichever came last; between
// equals it is the one that came last.
func TestGatherFork(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	common := writtenLines(t, first, "ana", 5)
	old := writtenLines(t, filepath.Join(dir, "old"), "old", 7, first)
	young := writtenLines(t, filepath.Join(dir, "young"), "young", 3, first)
	byActor := func(r Record) int64 { return map[string]int64{"young": 2, "old": 1}[r.Actor] }
	for _, test := range []struct {
		name string
		rank func(Record) int64
		came [][]byte
		want string
		fork Branch
	}{
		{"the young ranks higher", byActor, slices.Concat(common, young, old), "young", Branch{6, 12}},
		{"also when it comes last", byActor, slices.Concat(old, common, young), "young", Branch{6, 12}},
		{"equals, the old last", nil, slices.Concat(common, young, old), "old", Branch{6, 8}},
	} {
		g := Gathering{Rank: test.rank}
		for _, line := range test.came {
			if _, err := g.Add(line); err != nil {
				t.Fatal(err)
			}
		}
		got := g.Gathered()
		if last := got.Records[len(got.Records)-1]; last.Actor != test.want || !slices.Equal(got.Forks, []Branch{test.fork}) || got.Lost("m") != nil {
			t.Errorf("%s: it ends with %s, forks %v, lost %v", test.name, last.Line(), got.Forks, got.Lost("m"))
		}
	}
}

// TestGatherDamage: a record that was changed is named, unless a good copy came too.
func TestGatherDamage(t *testing.T) {
	lines := writtenLines(t, filepath.Join(t.TempDir(), "log"), "ana", 5)
	changed := bytes.Replace(lines[2], []byte(`"ana"`), []byte(`"bob"`), 1)
	var g Gathering
	for _, line := range [][]byte{lines[0], lines[1], changed, lines[3], lines[4]} {
		if _, err := g.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.Gathered(); len(got.Records) != 3 || got.Lost("the mirror") == nil {
		t.Errorf("%d records, %v", len(got.Records), got.Lost("the mirror"))
	}
	if _, err := g.Add(lines[2]); err != nil {
		t.Fatal(err)
	}
	if got := g.Gathered(); len(got.Records) != 5 || got.Lost("the mirror") != nil || len(got.Forks) != 1 {
		t.Errorf("%d records, %v, %v", len(got.Records), got.Forks, got.Lost("the mirror"))
	}
	if _, err := g.Add([]byte("{")); err == nil {
		t.Error("half a record is taken")
	}
}

// TestGatheredHas: a head from outside tells records that are missing or others.
func TestGatheredHas(t *testing.T) {
	var g Gathering
	for _, line := range writtenLines(t, filepath.Join(t.TempDir(), "log"), "ana", 5) {
		if _, err := g.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	got := g.Gathered()
	head := got.Head()
	before := Head{Seq: 3, Hash: got.Records[3].Prev}
	var truncated *TruncatedError
	var rewritten *RewrittenError
	if err := errors.Join(got.Has(head), got.Has(before)); err != nil {
		t.Error(err)
	}
	if err := got.Has(Head{Seq: 6, Hash: head.Hash}); !errors.As(err, &truncated) {
		t.Error(err)
	}
	if err := got.Has(Head{Seq: 4, Hash: head.Hash}); !errors.As(err, &rewritten) {
		t.Error(err)
	}
}

// TestLogThatIsOlder: a copy of the log from before it went on elsewhere verifies beside it,
// and one that went on by itself is a fork, whichever comes first.
func TestLogThatIsOlder(t *testing.T) {
	dir := t.TempDir()
	first, next := filepath.Join(dir, "first"), filepath.Join(dir, "next")
	writtenLines(t, first, "ana", 5)
	content, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	copied, woken := filepath.Join(dir, "copied"), filepath.Join(dir, "woken")
	for _, path := range []string{copied, woken} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writtenLines(t, next, "ben", 3, first)
	if r, err := Verify([]string{first, next, copied}, VerifyOptions{}); err != nil || r.Head.Seq != 8 {
		t.Errorf("head %s: %v", r.Head, err)
	}
	log, err := Open(woken, newClock(), Options{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append("ana", "noted", nil); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]string{{first, next, woken}, {woken, first, next}, {first, woken, next}} {
		var fork *ForkError
		if _, err := Verify(order, VerifyOptions{}); !errors.As(err, &fork) || fork.Seq != 6 {
			t.Errorf("%v: %v", order, err)
		}
	}
}

// TestOpenNextSegment: a segment whose writer was stopped before its first record, or in the
// middle of it, is gone on with; a log without any record is not.
func TestOpenNextSegment(t *testing.T) {
	for _, left := range []string{"", `{"seq":6,"prev":"`} {
		dir := t.TempDir()
		first, next := filepath.Join(dir, "first"), filepath.Join(dir, "next")
		writtenLines(t, first, "ana", 5)
		if err := os.WriteFile(next, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
		if Holds(next) {
			t.Errorf("%q holds a record", left)
		}
		if _, err := Open(next, newClock(), Options{Run: "r"}); !errors.Is(err, ErrEmpty) {
			t.Errorf("%q alone: %v", left, err)
		}
		log, err := Open(next, newClock(), Options{Run: "r", Earlier: []string{first}})
		if err != nil {
			t.Fatalf("%q: %v", left, err)
		}
		records := 0
		for _, err := range log.Records() {
			if records++; err != nil {
				t.Error(err)
			}
		}
		if torn := len(left); records != 5+min(torn, 1) {
			t.Errorf("%q: %d records", left, records)
		}
		if _, err := log.Commit("ben", "resumed", nil); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify([]string{first, next}, VerifyOptions{}); err != nil {
			t.Errorf("%q: %v", left, err)
		}
	}
}

// TestPlace: records that came from elsewhere are the log that they were; nothing is replaced.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	writtenLines(t, first, "ana", 5)
	var records []Record
	for r, err := range Records(first) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	placed := filepath.Join(dir, "elsewhere", "log")
	if err := Place(placed, records); err != nil {
		t.Fatal(err)
	}
	want, _ := os.ReadFile(first)
	if got, err := os.ReadFile(placed); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other bytes", err)
	}
	if err := Place(placed, records); !errors.Is(err, os.ErrExist) {
		t.Errorf("placed over another: %v", err)
	}
}

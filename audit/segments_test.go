package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// split writes parts of one log as files and gives their paths: each part is a
// first and a last record.
func split(t *testing.T, content []byte, parts ...[2]int) []string {
	t.Helper()
	lines := slices.Collect(bytes.Lines(content))
	dir := t.TempDir()
	var paths []string
	for i, part := range parts {
		path := filepath.Join(dir, string(rune('a'+i)))
		writeFile(t, path, bytes.Join(lines[part[0]-1:part[1]], nil))
		paths = append(paths, path)
	}
	return paths
}

func TestSegments(t *testing.T) {
	_, content := writeLog(t, 12)
	for name, c := range map[string]struct {
		parts [][2]int
		want  string // of the error; empty: they are one log
	}{
		"one after the other":       {[][2]int{{1, 4}, {5, 9}, {10, 12}}, ""},
		"overlapping":               {[][2]int{{1, 7}, {5, 12}}, ""},
		"one inside the other":      {[][2]int{{1, 12}, {5, 7}}, ""},
		"behind one that is inside": {[][2]int{{1, 9}, {3, 4}, {10, 12}}, ""},
		"overlap, then inside":      {[][2]int{{1, 9}, {3, 4}, {8, 12}}, ""},
		"a copy":                    {[][2]int{{1, 12}, {1, 12}}, ""},
		"swapped":                   {[][2]int{{5, 12}, {1, 4}}, "a begins at record 5: an earlier segment is missing, or the segments are in the wrong order"},
		"first one missing":         {[][2]int{{5, 12}}, "a begins at record 5"},
		"middle one missing":        {[][2]int{{1, 4}, {9, 12}}, "b does not follow the segment before it: records 5 to 8 are missing"},
		"later ones swapped":        {[][2]int{{1, 4}, {9, 12}, {5, 8}}, "records 5 to 8 are missing"},
	} {
		paths := split(t, content, c.parts...)
		r, err := verify(paths...)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil || r.Head.Seq != 12 || r.Ended != "closed" {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		if n := len(allRecords(t, paths...)); n != 12 {
			t.Errorf("%s: %d records, want each once", name, n)
		}
	}
}

func TestForkIsNamed(t *testing.T) {
	path, content := writeLog(t, 8)
	cut := split(t, content, [2]int{1, 5})[0]
	l := mustOpen(t, cut, Options{})
	mustCommit(t, l, "resumed", nil)
	mustCommit(t, l, "closed", nil)
	mustClose(t, l)
	other := readFile(t, cut)
	for name, c := range map[string][]string{
		"whole":        {path, cut},
		"overlapping":  {path, split(t, other, [2]int{4, 7})[0]},
		"at the fork":  {path, split(t, other, [2]int{6, 7})[0]},
		"next to it":   {split(t, content, [2]int{1, 6})[0], split(t, other, [2]int{6, 7})[0]},
		"behind it":    {split(t, content, [2]int{1, 6})[0], split(t, other, [2]int{7, 7})[0]},
		"third part":   {split(t, content, [2]int{1, 3})[0], split(t, content, [2]int{4, 8})[0], split(t, other, [2]int{5, 7})[0]},
		"no beginning": {split(t, content, [2]int{1, 6})[0], split(t, other, [2]int{3, 7})[0]},
	} {
		want := uint64(6)
		if name == "behind it" {
			want = 7 // record 6 of the other side is not there to compare
		}
		var fork *ForkError
		if _, err := verify(c...); !errors.As(err, &fork) || fork.Seq != want {
			t.Errorf("%s: got %v, want a fork at %d", name, err, want)
		}
	}
}

func TestNextSegmentOnAnotherMachine(t *testing.T) {
	first, content := writeLog(t, 4)
	writeFile(t, first, content[:len(content)-20]) // torn there, and left as it is
	clock := newClock()
	second := logPath(t)
	l, err := Create(second, clock, Options{Earlier: []string{first}})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(250 * time.Millisecond)
	r := mustCommit(t, l, "resumed", nil)
	if r.Seq != 4 || r.T != 1000 {
		t.Errorf("goes on at %d, %d ms", r.Seq, r.T)
	}
	var long *TooLongError
	if _, err := l.Commit("ana", "noted", remark{strings.Repeat("x", MaxBody)}); !errors.As(err, &long) {
		t.Errorf("only record 1 may be longer, got %v", err)
	}
	mustCommit(t, l, "closed", nil)
	if diff := cmp.Diff(allRecords(t, first, second), collect(t, l)); diff != "" {
		t.Error(diff)
	}
	mustClose(t, l)
	l = mustOpen(t, second, Options{Earlier: []string{first}})
	mustCommit(t, l, "noted", nil)
	mustClose(t, l)
	report := mustVerify(t, first, second)
	if report.Head.Seq != 6 || report.Segments[0].Tail == nil || report.Segments[1].First != 4 {
		t.Errorf("report is %+v", report)
	}
	if _, err := Open(first, newClock(), Options{Earlier: []string{second}}); err == nil {
		t.Error("took the segments in the wrong order")
	}
	if _, err := Open(second, newClock(), Options{}); err == nil {
		t.Error("went on with a segment that has no beginning")
	}
}

func TestOpenGoesOnWithTheLastSegmentOnly(t *testing.T) {
	_, content := writeLog(t, 8)
	paths := split(t, content, [2]int{1, 8}, [2]int{3, 5})
	if _, err := Open(paths[1], newClock(), Options{Earlier: paths[:1]}); err == nil || !strings.Contains(err.Error(), "goes on to 8") {
		t.Errorf("got %v", err)
	}
	if _, err := Create(filepath.Join(t.TempDir(), "x"), newClock(), Options{Earlier: []string{"none"}}); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
}

// sink keeps what the emergency sink is given, and fails when told.
type sink struct {
	lines []string
	err   error
}

func (s *sink) put(line []byte) error {
	if s.err != nil {
		return s.err
	}
	s.lines = append(s.lines, string(line))
	return nil
}

func TestEmergencySinkTakesWhatTheDiskMayLose(t *testing.T) {
	path := logPath(t)
	var s sink
	l := mustCreate(t, path, Options{Emergency: s.put})
	mustCommit(t, l, "begun", nil)
	for range 3 {
		if _, err := l.Append("ana", "observed", nil); err != nil {
			t.Fatal(err)
		}
	}
	failing(l).failSyncs = 1
	r, err := l.Commit("ana", "intended", nil)
	if err != nil || !r.Emergency || r.Seq != 5 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if l.Broken() == nil {
		t.Error("the log is not broken")
	}
	if r, err := l.Append("ana", "observed", nil); err != nil || !r.Emergency {
		t.Errorf("got %+v, %v", r, err)
	}
	head, _ := l.Head()
	mustClose(t, l)

	emergency := filepath.Join(t.TempDir(), "emergency")
	writeFile(t, emergency, []byte(strings.Join(s.lines, "\n")+"\n"))
	lost := split(t, readFile(t, path), [2]int{1, 1})[0] // all that was on disk
	for _, main := range []string{path, lost} {
		report, err := Verify([]string{main, emergency}, VerifyOptions{Head: &head})
		if err != nil || report.Head.Seq != 6 || report.Segments[1].First != 2 {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

// A sink that fails is given the same lines again, in order, until it takes them.
func TestEmergencySinkThatFailsIsTriedAgain(t *testing.T) {
	var s sink
	l := mustCreate(t, logPath(t), Options{Emergency: s.put})
	mustCommit(t, l, "begun", nil)
	f := failing(l)
	f.limited = true
	s.err = errors.New("redis is gone")
	if _, err := l.Commit("ana", "intended", nil); !errors.Is(err, ErrBroken) || !errors.Is(err, s.err) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v", err)
	}
	if head, _ := l.headAt(l.durable.link); head.Seq != 1 {
		t.Errorf("claims %s to be safe", head)
	}
	s.err = nil
	if r, err := l.Commit("ana", "intended", nil); err != nil || r.Seq != 3 || !r.Emergency {
		t.Fatalf("got %+v, %v", r, err)
	}
	path := filepath.Join(t.TempDir(), "emergency")
	writeFile(t, path, []byte(strings.Join(s.lines, "\n")+"\n"))
	if r := mustVerify(t, l.Path(), path); r.Head.Seq != 3 {
		t.Errorf("%+v", r)
	}
}

func TestEmergencyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other disk", "emergency.jsonl")
	f := NewEmergencyFile(path)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was made before it was needed")
	}
	if err := f.Put([]byte(goodLine)); err != nil {
		t.Fatal(err)
	}
	if err := NewEmergencyFile(path).Put([]byte(goodLine)); !errors.As(err, new(*LockedError)) {
		t.Errorf("two writers: %v", err)
	}
	failing := &failingFile{File: f.file, failSyncs: 1}
	f.file = failing
	for range 2 {
		if err := f.Put([]byte(goodLine)); !errors.Is(err, syscall.EIO) {
			t.Errorf("after a failed sync: %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := NewEmergencyFile(path).Put([]byte(goodLine)); err == nil || !strings.Contains(err.Error(), "name a new file") {
		t.Errorf("a file that holds something: %v", err)
	}
}

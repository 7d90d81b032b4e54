package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checked verifies a log given as bytes, with a head from outside or without.
func checked(t testing.TB, content []byte, head *Head) (Report, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	writeFile(t, path, content)
	return Verify([]string{path}, VerifyOptions{Head: head})
}

func TestEveryFlippedByteIsFound(t *testing.T) {
	path, content := writeLog(t, 4)
	head := mustVerify(t, path).Head
	lastLine := bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	line := 1
	for i := range content {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			altered := bytes.Clone(content)
			altered[i] ^= flip
			if r, err := checked(t, altered, &head); err == nil && r.Head == head && r.Segments[0].Tail == nil {
				t.Fatalf("byte %d, line %d, ^%#x: the head does not notice", i, line, flip)
			}
			if i >= lastLine {
				continue // without a head only its shape is checked
			}
			var damaged *DamagedError
			if _, err := checked(t, altered, nil); !errors.As(err, &damaged) {
				t.Fatalf("byte %d, line %d, ^%#x: got %v", i, line, flip, err)
			}
			if damaged.Line < line || damaged.Line > line+1 {
				t.Fatalf("byte %d, line %d: damage was placed in line %d", i, line, damaged.Line)
			}
		}
		if content[i] == '\n' {
			line++
		}
	}
}

func TestEveryMovedLineIsFound(t *testing.T) {
	path, content := writeLog(t, 7)
	head := mustVerify(t, path).Head
	lines := slices.Collect(bytes.Lines(content))
	for i := range lines {
		deleted := slices.Delete(slices.Clone(lines), i, i+1)
		wantTamper(t, fmt.Sprintf("line %d removed", i+1), deleted, &head)
		doubled := slices.Insert(slices.Clone(lines), i, lines[i])
		wantTamper(t, fmt.Sprintf("line %d doubled", i+1), doubled, nil)
		blank := slices.Insert(slices.Clone(lines), i, []byte("\n"))
		wantTamper(t, fmt.Sprintf("blank line before line %d", i+1), blank, nil)
		for j := range i {
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			wantTamper(t, fmt.Sprintf("lines %d and %d swapped", j+1, i+1), swapped, nil)
		}
	}
}

func wantTamper(t *testing.T, what string, lines [][]byte, head *Head) {
	t.Helper()
	if _, err := checked(t, bytes.Join(lines, nil), head); err == nil {
		t.Errorf("%s: verifies", what)
	}
}

// However a log is altered: a check against its head passes only when everything up
// to the head is there as it was; and whatever passes can be gone on with.
func TestAnyTamperingIsFoundByTheHead(t *testing.T) {
	path, content := writeLog(t, 6)
	head := mustVerify(t, path).Head
	altered := filepath.Join(memoryDir(t), "audit.jsonl")
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(content)
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			b = edit(t, b)
		}
		if err := os.WriteFile(altered, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Verify([]string{altered}, VerifyOptions{Head: &head})
		if intact := bytes.HasPrefix(b, content[:len(content)-1]); err == nil && !intact {
			t.Fatalf("verifies:\n%s", b)
		}
		_, verifyErr := verify(altered)
		l, openErr := Open(altered, newClock(), Options{})
		if (openErr == nil) != (verifyErr == nil) {
			t.Fatalf("open says %v, verify says %v", openErr, verifyErr)
		}
		if openErr == nil {
			l.Close()
			if _, err := verify(altered); err != nil {
				t.Fatalf("repaired into damage: %v", err)
			}
		}
	})
}

// edit cuts, doubles, moves or changes a part of a file, at lines or anywhere.
func edit(t *rapid.T, b []byte) []byte {
	ends := []int{0}
	for i, c := range b {
		if c == '\n' || rapid.IntRange(0, 400).Draw(t, "anywhere") == 0 {
			ends = append(ends, i+1)
		}
	}
	place := rapid.SampledFrom(append(ends, len(b)))
	from, to := place.Draw(t, "from"), place.Draw(t, "to")
	if from > to {
		from, to = to, from
	}
	part := bytes.Clone(b[from:to])
	switch rapid.IntRange(0, 3).Draw(t, "edit") {
	case 0: // cut
		return append(bytes.Clone(b[:from]), b[to:]...)
	case 1: // double
		return slices.Insert(bytes.Clone(b), to, part...)
	case 2: // move
		rest := append(bytes.Clone(b[:from]), b[to:]...)
		return slices.Insert(rest, rapid.IntRange(0, len(rest)).Draw(t, "to"), part...)
	}
	if len(part) > 0 {
		b = bytes.Clone(b)
		b[from] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
	}
	return b
}

// https://github.com/msaad00/agent-bom/issues/3697: a log without its last records
// verified. Without a head from outside it must at least not count as ended.
func TestRemovedTailIsFoundByTheHead(t *testing.T) {
	path, content := writeLog(t, 9)
	head := mustVerify(t, path).Head
	lines := slices.Collect(bytes.Lines(content))
	for _, removed := range []int{1, 3, 8} {
		rest := bytes.Join(lines[:len(lines)-removed], nil)
		var truncated *TruncatedError
		_, err := checked(t, rest, &head)
		if !errors.As(err, &truncated) || truncated.Want.Seq-truncated.Last.Seq != uint64(removed) {
			t.Errorf("%d removed: got %v", removed, err)
		}
		r, err := checked(t, rest, nil)
		if err != nil || r.Ended != "" || !strings.Contains(strings.Join(r.Sentences(), "\n"), "has not ended") {
			t.Errorf("%d removed, no head: %+v, %v", removed, r, err)
		}
	}
	older := Head{Seq: 3, Hash: allRecords(t, path)[3].Prev[:12]}
	if r, err := checked(t, content, &older); err != nil || r.Compared != &older {
		t.Errorf("a head behind the log is normal, got %v", err)
	}
}

// https://github.com/flare19/payment-reconciliation-agent-platform/issues/18
func TestMissingAndEmptyAreNotValid(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		want    error
	}{
		"missing":      {"", ErrMissing},
		"empty":        {"", ErrEmpty},
		"cut in first": {`{"seq":1,"prev":"0000`, ErrEmpty},
	} {
		path := filepath.Join(dir, name)
		if name != "missing" {
			writeFile(t, path, []byte(c.content))
		}
		if _, err := verify(path); !errors.Is(err, c.want) {
			t.Errorf("%s: verify says %v", name, err)
		}
		if _, err := Open(path, newClock(), Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: open says %v", name, err)
		}
		if name != "missing" && string(readFile(t, path)) != c.content {
			t.Errorf("%s: the file was touched", name)
		}
	}
	if _, err := Verify(nil, VerifyOptions{}); !errors.Is(err, ErrMissing) {
		t.Errorf("no segments: %v", err)
	}
}

// https://github.com/yaad-index/darbaan/issues/246: a chain without a key can be
// computed anew. Only a head from outside tells.
func TestRewrittenLogIsFoundByTheHead(t *testing.T) {
	path, _ := writeLog(t, 5)
	head := mustVerify(t, path).Head
	other := logPath(t)
	l := mustCreate(t, other, Options{})
	for range 6 {
		mustCommit(t, l, "noted", remark{"never happened"})
	}
	mustVerify(t, other)
	var rewritten *RewrittenError
	if _, err := Verify([]string{other}, VerifyOptions{Head: &head}); !errors.As(err, &rewritten) || rewritten.Want.Seq != 5 {
		t.Errorf("got %v", err)
	}
	if _, err := Verify([]string{path}, VerifyOptions{Head: &Head{Run: "another", Seq: 1, Hash: head.Hash}, Run: testRun}); err == nil {
		t.Error("took the head of another run")
	}
}

func TestDamageNamesTheLine(t *testing.T) {
	_, content := writeLog(t, 5)
	lines := slices.Collect(strings.Lines(string(content)))
	join := func(lines ...string) []byte { return []byte(strings.Join(lines, "")) }
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"removed":        {join(lines[0], lines[2]), "x:2: damaged (byte 192): record 3 stands where 2 should"},
		"altered":        {join(lines[0], strings.Replace(lines[1], "4200", "9999", 1), lines[2]), "x:3: damaged (byte 384): prev is "},
		"not a record":   {join(lines[0], "hello\n", lines[1]), `x:2: damaged (byte 192): expected {"seq":`},
		"cut inside":     {join(lines[0], lines[1][:50]+"\n", lines[2]), `x:2: damaged (byte 192): too short after ,"prev":"`},
		"cut and closed": {join(lines[0], lines[1][:50]+"\n", lines[1]), `x:2: damaged (byte 192): too short after ,"prev":"`},
		"CRLF":           {bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")), "x:1: damaged (byte 0): no object"},
		"too long":       {join(lines[0], strings.Repeat("x", maxLine+1), "\n", lines[1]), "x:2: damaged (byte 192): the line is longer than any record"},
		"begins late":    {join(lines[1], lines[2]), "x begins at record 2: an earlier segment is missing"},
		"last altered":   {join(lines[0], strings.TrimSuffix(lines[1], "}\n")+"]\n"), "x:2: damaged (byte 192): no object"},
		"time goes back": {join(lines[0], strings.Replace(lines[1], `"t":500`, `"t":249`, 1)), "x:2: damaged (byte 192): run time goes back from 250 ms to 249 ms"},
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, c.content)
		_, err := verify(path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if _, openErr := Open(path, newClock(), Options{}); openErr == nil || !strings.Contains(openErr.Error(), c.want) {
			t.Errorf("%s: open says %v", name, openErr)
		}
		if !bytes.Equal(readFile(t, path), c.content) {
			t.Errorf("%s: the damaged file was touched", name)
		}
	}
}

// Whatever bytes stand in a file: Verify and Records agree, a log that can be
// opened can be gone on with, and opening never changes what was there.
func FuzzOpen(f *testing.F) {
	_, content := writeLog(f, 3)
	f.Add(content)
	f.Add(content[:len(content)-1])
	f.Add(content[:len(content)-30])
	f.Add(append(bytes.Clone(content), `{"seq":4,"prev":"`...))
	f.Add(append(bytes.Clone(content), "{\"seq\":4,\"p\n{\"seq\":"...))
	f.Add(append(bytes.Clone(content), 0, 0, 0))
	dir := memoryDir(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, "audit.jsonl")
		writeFile(t, path, content)
		_, verifyErr := verify(path)
		l, err := Open(path, newClock(), Options{})
		if (err == nil) != (verifyErr == nil) {
			t.Fatalf("open says %v, verify says %v", err, verifyErr)
		}
		if err != nil {
			if !bytes.Equal(readFile(t, path), content) {
				t.Fatal("a refused file was touched")
			}
			return
		}
		r, err := l.Append("ana", "noted", nil)
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		after := readFile(t, path)
		if !bytes.HasPrefix(after, content) {
			t.Fatal("what was there was changed")
		}
		if got := mustVerify(t, path).Head.Seq; got != r.Seq {
			t.Fatalf("ends at %d, want %d", got, r.Seq)
		}
	})
}

// memoryDir is a directory in memory where there is one: syncing to a disk makes
// fuzzing a hundred times slower.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "audit-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// https://github.com/Tracer-Cloud/opensre/issues/6356 and
// https://github.com/mindfold-ai/Trellis/issues/527: a torn last line swallowed the
// next record, or set the numbers back to 1.
func TestTornTailIsRepairedAtEveryByte(t *testing.T) {
	path, content := writeLog(t, 3)
	before := allRecords(t, path)[:2]
	start := len(before[0].Line()) + len(before[1].Line()) + 2
	for cut := start; cut <= len(content); cut++ {
		p := filepath.Join(t.TempDir(), "audit.jsonl")
		writeFile(t, p, content[:cut])
		whole := cut >= len(content)-1 // only the newline is missing
		r := mustVerify(t, p)
		if torn := r.Segments[0].Tail; (torn != nil) != (cut > start && !whole) {
			t.Fatalf("cut at %d: the tail is %+v", cut, torn)
		}
		l := mustOpen(t, p, Options{})
		for range 3 {
			mustCommit(t, l, "noted", nil)
		}
		mustClose(t, l)
		checkRepaired(t, p, before, content[start:cut], whole)
	}
}

func checkRepaired(t *testing.T, path string, before []Record, tail []byte, whole bool) {
	t.Helper()
	rs := allRecords(t, path)
	if diff := cmp.Diff(before, rs[:2]); diff != "" {
		t.Fatal("what was there was changed (-before +after):\n" + diff)
	}
	want := 5
	if len(tail) > 0 {
		want = 6 // the torn record, or the record that was whole
	}
	if len(rs) != want || rs[len(rs)-1].Seq != uint64(want) {
		t.Fatalf("tail %q: %d records ending at %d, want %d", tail, len(rs), rs[len(rs)-1].Seq, want)
	}
	repaired := mustVerify(t, path).Segments[0].Repaired
	if (repaired == 1) != (len(tail) > 0 && !whole) {
		t.Fatalf("tail %q: %d repairs", tail, repaired)
	}
}

// A repair that is itself stopped, at every byte of what it writes, is repaired.
func TestStoppedRepairIsRepaired(t *testing.T) {
	path, content := writeLog(t, 3)
	cut := content[:len(content)-40]
	writeFile(t, path, cut)
	mustClose(t, mustOpen(t, path, Options{}))
	once := readFile(t, path)
	for stop := len(cut); stop <= len(once); stop++ {
		writeFile(t, path, once[:stop])
		l := mustOpen(t, path, Options{})
		r := mustCommit(t, l, "noted", nil)
		mustClose(t, l)
		if mustVerify(t, path); r.Seq != 4 {
			t.Fatalf("stopped at %d: the next record is %d, want 4", stop, r.Seq)
		}
	}
}

// A tail that was extended by the file system but never written is torn.
func TestTailOfZerosIsTorn(t *testing.T) {
	path, content := writeLog(t, 3)
	for _, tail := range []string{"\x00", strings.Repeat("\x00", 5000), `{"seq":4,"prev":"` + "\x00\x00", "\xff\xfe"} {
		writeFile(t, path, append(bytes.Clone(content), tail...))
		l := mustOpen(t, path, Options{})
		if r := mustCommit(t, l, "noted", nil); r.Seq != 5 {
			t.Errorf("tail %q: the next record is %d", tail, r.Seq)
		}
		mustClose(t, l)
		mustVerify(t, path)
	}
}

// A cut line that names another predecessor tells that its predecessor changed.
func TestTornTailDoesNotHideAnAlteredRecord(t *testing.T) {
	_, content := writeLog(t, 3)
	lines := slices.Collect(strings.Lines(string(content)))
	altered := lines[0] + strings.Replace(lines[1], "4200", "9999", 1) + lines[2][:100]
	var damaged *DamagedError
	if _, err := checked(t, []byte(altered), nil); !errors.As(err, &damaged) || damaged.Line != 3 {
		t.Errorf("got %v", err)
	}
}

func TestTornRecordMustDescribeWhatItSkips(t *testing.T) {
	path, content := writeLog(t, 3)
	writeFile(t, path, content[:len(content)-40])
	mustClose(t, mustOpen(t, path, Options{}))
	lines := slices.Collect(strings.Lines(string(readFile(t, path))))
	for name, altered := range map[string][]string{
		"bytes altered": {lines[0], lines[1], strings.Replace(lines[2], "ana", "bob", 1), lines[3]},
		"bytes removed": {lines[0], lines[1], lines[3]},
		"bytes moved":   {lines[0], lines[2], lines[1], lines[3]},
	} {
		if _, err := checked(t, []byte(strings.Join(altered, "")), nil); err == nil {
			t.Errorf("%s: verifies", name)
		}
	}
}

// Any history of appends, kills and resumes gives one log that verifies.
func TestAnyHistoryVerifies(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n), "audit.jsonl")
		clock := newClock()
		l, err := Create(path, clock, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		written := 0
		for range rapid.IntRange(1, 12).Draw(rt, "moves") {
			clock.now = clock.now.Add(rapid.SampledFrom(steps).Draw(rt, "step"))
			switch rapid.IntRange(0, 3).Draw(rt, "move") {
			case 0:
				_, err = l.Append("ana", "noted", remark{rapid.String().Draw(rt, "text")})
				written++
			case 1:
				_, err = l.Commit("ana", "noted", nil)
				written++
			default:
				if written == 0 {
					continue
				}
				l.Close()
				content := readFile(t, path)
				tail := rapid.SampledFrom([]string{"", `{"seq":`, "\x00", `{"seq":99,"pr`}).Draw(rt, "tail")
				writeFile(t, path, append(content, tail...))
				l, err = Open(path, clock, Options{})
				if tail != "" {
					written++ // the torn record
				}
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		l.Close()
		if written == 0 {
			return
		}
		if r, err := verify(path); err != nil || r.Head.Seq != uint64(written) {
			rt.Fatalf("%d records, want %d: %v", r.Head.Seq, written, err)
		}
	})
}

package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReportSaysWhatWasFound(t *testing.T) {
	clock := newClock()
	path := logPath(t)
	l, err := Create(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, l, "begun", nil)
	clock.advance(-time.Hour)
	mustCommit(t, l, "noted", nil)
	mustClose(t, l)
	whole := readFile(t, path)
	writeFile(t, path, append(bytes.Clone(whole), `{"seq":3,`...))
	wantSentences(t, path, nil,
		"2 records, head 2/", ": the chain holds",
		"no head from outside was given: records removed from the end, or a log rewritten as a whole, cannot be seen without one",
		"no whole record in the last 9 bytes",
		"the wall clock was set back 1 time:",
		"the run has not ended")

	l = mustOpen(t, path, Options{})
	mustCommit(t, l, "aborted", nil)
	head, _ := l.Head()
	mustClose(t, l)
	wantSentences(t, path, &head, "the log has the record that head "+head.String()+" names", "1 torn tail repaired", "the run is aborted")

	l = mustOpen(t, path, Options{})
	mustCommit(t, l, "resumed", nil)
	mustClose(t, l)
	wantSentences(t, path, &head, "the run has not ended")
}

func wantSentences(t *testing.T, path string, head *Head, want ...string) {
	t.Helper()
	r, err := Verify([]string{path}, VerifyOptions{Head: head})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(r.Sentences(), "\n")
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("the report does not say %q:\n%s", w, said)
		}
	}
	if !r.First.Equal(newClock().now) || r.Last.IsZero() {
		t.Errorf("from %v to %v", r.First, r.Last)
	}
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	want, found := Head{Seq: 9, Hash: strings.Repeat("a", hexLen)}, Head{Seq: 6, Hash: strings.Repeat("b", hexLen)}
	for _, c := range []struct {
		err  error
		says string
	}{
		{&TruncatedError{Last: found, Want: want}, "the log ends at 6/bbbbbbbbbbbb but its head is 9/aaaaaaaaaaaa: 3 records removed from its end"},
		{&RewrittenError{Found: Head{Seq: 9, Hash: found.Hash}, Want: want}, "record 9 is 9/bbbbbbbbbbbb but its head says 9/aaaaaaaaaaaa"},
		{&ForkError{Earlier: "a", Later: "b", Seq: 7}, "a and b fork at record 7"},
		{&TooLongError{Kind: "observed", Size: 20000, Limit: MaxBody}, "the body of a record of kind observed is too long (20000 bytes > limit 16384)"},
		{&LockedError{Path: "a\x1b[2Jb"}, `"a\x1b[2Jb" is being written by another process`},
	} {
		if !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("got %q, want %q", c.err, c.says)
		}
	}
}

func TestRecordsStopsAtDamage(t *testing.T) {
	path, content := writeLog(t, 5)
	// A time that has the right shape and is none is found by decoding alone.
	lines := strings.SplitAfter(string(content), "\n")
	writeFile(t, path, []byte(lines[0]+strings.Replace(lines[1], "2026-11-", "2026-13-", 1)))
	var damaged *DamagedError
	n := 0
	for _, err := range Records(path) {
		if n++; err != nil && (!errors.As(err, &damaged) || damaged.Line != 2) {
			t.Errorf("got %v", err)
		}
	}
	if n != 2 || damaged == nil {
		t.Errorf("%d results, damage %v", n, damaged)
	}
	for _, err := range Records(filepath.Join(t.TempDir(), "none")) {
		if !errors.Is(err, ErrMissing) {
			t.Errorf("got %v", err)
		}
	}
	for range Records(path) {
		break
	}
	if _, err := verify(t.TempDir()); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}

func TestRecordIsPrintedAsItStands(t *testing.T) {
	r, err := ParseRecord([]byte(goodLine))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil || out.String() != goodLine+"\n" {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

func TestLocalFilesystemIsNotNamed(t *testing.T) {
	for _, path := range []string{"/proc", "/no/such/path"} {
		if got := NetworkFilesystem(path); got != "" {
			t.Errorf("%s is on %s", path, got)
		}
	}
}

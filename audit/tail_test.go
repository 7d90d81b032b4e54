package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readAll reads a tail until it gives nothing more.
func readAll(t *testing.T, tail *Tail) []Record {
	t.Helper()
	var all []Record
	for {
		records, err := tail.Read()
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			return all
		}
		all = append(all, records...)
	}
}

// again gives records that a tail reads once more, and why it stopped.
func again(tail *Tail, from, to int) (records []Record, err error) {
	for record, err := range tail.Again(from, to) {
		if err != nil {
			return records, err
		}
		record.Body = bytes.Clone(record.Body)
		records = append(records, record)
	}
	return records, nil
}

// TestTailReadsAgain follows a log over two segments, the first of which ends in the middle of a line and goes on
// behind it: any part can be had once more, also while the log goes on.
func TestTailReadsAgain(t *testing.T) {
	whole, content := writeLog(t, 12)
	lines := slices.Collect(bytes.Lines(content))
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	writeFile(t, first, slices.Concat(slices.Concat(lines[:7]...), lines[7][:9]))
	tail := NewTail(first)
	got := readAll(t, tail)
	writeFile(t, first, slices.Concat(lines[:8]...))
	got = append(got, readAll(t, tail)...)
	writeFile(t, second, slices.Concat(lines[8:]...))
	tail.GoOn(second)
	want := allRecords(t, whole)
	if diff := cmp.Diff(want, append(got, readAll(t, tail)...)); diff != "" {
		t.Fatal(diff)
	}
	for from := range want {
		for to := from; to <= len(want); to++ {
			got, err := again(tail, from, to)
			if diff := cmp.Diff(want[from:to], got); diff != "" && from < to || err != nil {
				t.Fatalf("from %d to %d: %v\n%s", from, to, err, diff)
			}
		}
	}
	if got, err := again(tail, 10, 20); len(got) != 2 || err != nil {
		t.Errorf("behind the end there are %d records, %v", len(got), err)
	}
}

// TestTailReadsAgainBehindATornLine: between two records there may be bytes that are none.
func TestTailReadsAgainBehindATornLine(t *testing.T) {
	path, content := writeLog(t, 5)
	writeFile(t, path, content[:len(content)-20])
	log := mustOpen(t, path, Options{})
	mustCommit(t, log, "closed", nil)
	mustClose(t, log)
	tail := NewTail(path)
	want := readAll(t, tail)
	if got, err := again(tail, 0, len(want)); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

// TestTailFindsWhatWasChanged: a record that is read once more is the one that was read, or none.
func TestTailFindsWhatWasChanged(t *testing.T) {
	path, content := writeLog(t, 5)
	tail := NewTail(path)
	readAll(t, tail)
	writeFile(t, path, bytes.Replace(content, []byte("4200"), []byte("9999"), 2))
	var damaged *DamagedError
	if got, err := again(tail, 0, 5); !errors.As(err, &damaged) || len(got) != 0 || !strings.Contains(err.Error(), "record 1 is not what it was") {
		t.Errorf("%d records, then %v", len(got), err)
	}
	if got, err := again(tail, 2, 5); len(got) != 3 || err != nil {
		t.Errorf("behind the change there are %d records, then %v", len(got), err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := again(tail, 3, 5); !errors.As(err, &damaged) || damaged.Line != 4 {
		t.Errorf("of a file that is shorter: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := again(tail, 3, 5); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a file that is gone: %v", err)
	}
}

// TestTailWaitsForTheEndToComeRight: what is no record at the end of a log is said, read no further than a record can
// go, and passed over once it is gone; the beginning of a record is nothing to say.
func TestTailWaitsForTheEndToComeRight(t *testing.T) {
	_, content := writeLog(t, 8)
	lines := slices.Collect(bytes.Lines(content))
	three, next := slices.Concat(lines[:3]...), lines[3]
	for name, c := range map[string]struct{ end, says string }{
		"nothing":                 {"", ""},
		"half a record":           {string(next[:90]), ""},
		"a record without an end": {string(next[:len(next)-1]), ""},
		"half a record, ended":    {string(next[:90]) + "\n", ""},
		"a line of something":     {"\x1b]0;x\n", ":4: damaged (byte"},
		"some lines":              {"one\ntwo\nthree", ":4: damaged (byte"},
		"something":               {"one", ":4: damaged (byte"},
		"a long line":             {strings.Repeat("x", 3*maxLine), "the line is longer than any record"},
		"a long line, ended":      {strings.Repeat("x", 3*maxLine) + "\n", "the line is longer than any record"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			writeFile(t, path, append(slices.Clone(three), c.end...))
			tail := NewTail(path)
			if got := readAll(t, tail); len(got) != 3 {
				t.Fatalf("%d records", len(got))
			}
			switch err := tail.Behind(); {
			case c.says == "" && err != nil, c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("behind the last record: %v", err)
			}
			if len(tail.buffer) > 4*maxLine {
				t.Errorf("%d bytes are kept", len(tail.buffer))
			}
			writeFile(t, path, content)
			if got := readAll(t, tail); len(got) != len(lines)-3 || tail.Behind() != nil {
				t.Errorf("when it has come right: %d records, %v", len(got), tail.Behind())
			}
		})
	}
}

// TestTailTakesATornLineForWhatItIs: also where it was looked at before the record that names it had come.
func TestTailTakesATornLineForWhatItIs(t *testing.T) {
	path, content := writeLog(t, 5)
	writeFile(t, path, content[:len(content)-20])
	tail := NewTail(path)
	before := len(readAll(t, tail))
	log := mustOpen(t, path, Options{})
	mustCommit(t, log, "closed", nil)
	mustClose(t, log)
	if got := readAll(t, tail); before != 4 || len(got) != 2 || tail.Behind() != nil {
		t.Errorf("%d records, then %d, %v", before, len(got), tail.Behind())
	}
}

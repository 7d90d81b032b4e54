package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLastIsTheLastWholeRecord: whatever stands behind it, and however long it is.
func TestLastIsTheLastWholeRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if _, err := Last(path); !errors.Is(err, ErrMissing) {
		t.Errorf("of a file that is not there: %v", err)
	}
	log, err := Create(path, fixed{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Last(path); !errors.Is(err, ErrEmpty) {
		t.Errorf("of an empty file: %v", err)
	}
	kinds := []string{"begun", "noted"} // only the first may be so long
	for n, length := range []int{1 << 20, 1, 12 << 10, 3} {
		if _, err := log.Append("test", kinds[min(n, 1)], map[string]string{"text": strings.Repeat("x", length)}); err != nil {
			t.Fatal(err)
		}
		if last, err := Last(path); err != nil || last.Seq != uint64(n+1) {
			t.Errorf("after %d records: %d, %v", n+1, last.Seq, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, tail := range []string{`{"seq":5,"prev":"`, "0", "\n", `{"seq":5,"pr`, "\n{"} { // a repair that was stopped twice
		if _, err := file.WriteString(tail); err != nil {
			t.Fatal(err)
		}
		last, err := Last(path)
		if err != nil || last.Seq != 4 {
			t.Errorf("behind %q: %d, %v", tail, last.Seq, err)
		}
	}
	if _, err := file.WriteString("\nhello\n"); err != nil {
		t.Fatal(err)
	}
	size := int64(len(readFile(t, path)))
	var damaged *DamagedError
	if _, err := Last(path); !errors.As(err, &damaged) || damaged.Line != 8 || damaged.Offset != size-int64(len("hello\n")) {
		t.Errorf("of a line that is no record, the 8th at byte %d: %v", size-int64(len("hello\n")), err)
	}
}

// TestLastOfOneCutLine: a log that was stopped in its first record holds none, though a repair has closed the line.
func TestLastOfOneCutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, content := range []string{`{"seq":1,"prev":"00`, "{\"seq\":1,\"prev\":\"00\n", "\n"} {
		writeFile(t, path, []byte(content))
		if _, err := Last(path); !errors.Is(err, ErrEmpty) {
			t.Errorf("of %q: %v", content, err)
		}
	}
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC) }

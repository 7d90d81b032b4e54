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
	for _, torn := range []string{`{"seq":5,"prev":"`, "0", "\n"} {
		last, err := Last(path)
		if err != nil || last.Seq != 4 {
			t.Errorf("before %q: %d, %v", torn, last.Seq, err)
		}
		if _, err := file.WriteString(torn); err != nil {
			t.Fatal(err)
		}
	}
	var damaged *DamagedError
	if _, err := Last(path); !errors.As(err, &damaged) {
		t.Errorf("of a line that is no record: %v", err)
	}
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC) }

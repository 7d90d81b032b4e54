package audit

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fakeClock stands still until it is moved.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time          { return c.now }
func (c *fakeClock) advance(d time.Duration) { c.now = c.now.Add(d) }

func newClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 11, 29, 10, 8, 1, 0, time.UTC)}
}

const testRun = "20261129T100801Z-hot-key-collapse-7f3a"

func logPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "runs", testRun, "audit.jsonl")
}

func mustCreate(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Create(path, newClock(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustOpen(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, newClock(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustCommit(t testing.TB, l *Log, kind string, body any) Record {
	t.Helper()
	r, err := l.Commit("ana", kind, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// remark is the body of most test records.
type remark struct {
	Text string `json:"text"`
}

// writeLog makes a closed log of n records and gives its path and content.
func writeLog(t testing.TB, n int) (string, []byte) {
	t.Helper()
	path := logPath(t)
	clock := newClock()
	l, err := Create(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		clock.advance(250 * time.Millisecond)
		kind := "noted"
		switch i {
		case 0:
			kind = "begun"
		case n - 1:
			kind = "closed"
		}
		if _, err := l.Append("ana", kind, remark{Text: "offered > 4200"}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	return path, readFile(t, path)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func verify(paths ...string) (Report, error) { return Verify(paths, VerifyOptions{}) }

func mustVerify(t testing.TB, paths ...string) Report {
	t.Helper()
	r, err := verify(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func allRecords(t testing.TB, paths ...string) []Record {
	t.Helper()
	var rs []Record
	for r, err := range Records(paths...) {
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

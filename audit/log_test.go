package audit

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLogIsReadBackAsWritten(t *testing.T) {
	path := logPath(t)
	clock := newClock()
	l, err := Create(path, clock, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var want []Record
	add := func(write func(actor, kind string, body any) (Record, error), kind string, body any) {
		t.Helper()
		clock.advance(1250 * time.Millisecond)
		r, err := write("ana", kind, body)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	add(l.Commit, "begun", map[string]string{"run": testRun})
	add(l.Append, "observed", remark{"p99 > 800ms & rising"})
	add(l.Append, "noted", nil)
	add(l.Commit, "closed", remark{"é 日本 \u202e\x1b[2J"})
	head, ok := l.Head()
	if !ok || head.Run != testRun || head.Seq != 4 {
		t.Fatalf("head is %v, %v", head, ok)
	}
	if diff := cmp.Diff(want, collect(t, l)); diff != "" {
		t.Error("records differ (-want +got):\n" + diff)
	}
	mustClose(t, l)
	r := mustVerify(t, path)
	if r.Ended != "closed" || r.Head.Hash != head.Hash || r.Segments[0].Bytes != int64(len(readFile(t, path))) {
		t.Errorf("report is %+v", r)
	}
	if bytes.ContainsAny(readFile(t, path), "\x1b\x9b") || bytes.Contains(readFile(t, path), []byte("\u202e")) {
		t.Error("control characters stand raw in the log")
	}
}

func collect(t *testing.T, l *Log) []Record {
	t.Helper()
	var rs []Record
	for r, err := range l.Records() {
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

func TestFilesArePrivate(t *testing.T) {
	path := logPath(t)
	mustCommit(t, mustCreate(t, path, Options{}), "begun", nil)
	for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", p, got, want)
		}
	}
}

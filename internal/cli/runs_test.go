package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// logOf writes a run's log, a record a body, as any version of the program might have.
func logOf(t *testing.T, state, run string, kind []string, bodies ...any) {
	t.Helper()
	log, err := audit.Create(filepath.Join(state, "runs", run, "audit.jsonl"), frozenClock{}, audit.Options{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for i, body := range bodies {
		if _, err := log.Commit("ana", kind[i], body); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunsThatCannotBeFolded: each has its row with the record and why, and hides no other.
func TestRunsThatCannotBeFolded(t *testing.T) {
	state := t.TempDir()
	_, source, _ := readBundled(bundledBook)
	begun := steps.Begun{Format: steps.FormatV1, Run: "RUN", Service: "catalog", File: "book.yaml", Runbook: source, Parameters: map[string]string{"cell": "cell-c"}}
	other, unread := begun, begun
	other.Format, unread.Runbook = "rewarm/v9", []byte("stages: {\n  x: 1\ny\n")
	logOf(t, state, "20261129T100801Z-book-0001", []string{steps.KindBegun, "hovered"}, begun, struct{}{})
	logOf(t, state, "20261129T100802Z-book-0002", []string{steps.KindBegun}, other)
	logOf(t, state, "20261129T100803Z-book-0003", []string{steps.KindBegun}, unread)
	logOf(t, state, "20261129T100804Z-book-0004", []string{steps.KindBegun, steps.KindHeld}, begun, map[string]any{"cause": 7})
	logOf(t, state, "20261129T100805Z-book-0005", []string{steps.KindBegun}, begun)

	var out, errs bytes.Buffer
	p := newProgram(strings.NewReader(""), &out, &errs, madeUp(nil))
	if code := p.run([]string{"runs", "--state-dir", state}); exitCode(code) != exitError || errs.Len() > 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		`-0001 +unreadable +record 2: unknown kind of record "hovered"$`,
		`-0002 +unreadable +record 1: the log has format "rewarm/v9", this rewarm reads "rewarm audit v1"$`,
		`-0003 +unreadable +record 1: the runbook in the log: .*book.yaml:\d+`,
		`-0004 +unreadable +record 2: record of kind held: `,
		`-0005 +interrupted +catalog$`,
	} {
		if !regexp.MustCompile(`(?m)` + want).MatchString(out.String()) {
			t.Errorf("no row matches %s in\n%s", want, out.String())
		}
	}
}

// TestLastOfOneSecond: of two runs that began in one second, the last is the one written to last.
func TestLastOfOneSecond(t *testing.T) {
	state := t.TempDir()
	older, newer := "20261129T100801Z-book-f00d", "20261129T100801Z-book-0001"
	for i, run := range []string{older, newer} {
		logOf(t, state, run, nil)
		at := time.Unix(1_800_000_000, int64(i))
		if err := os.Chtimes(filepath.Join(state, "runs", run, "audit.jsonl"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard, madeUp(nil))
	p.settings.stateDir = state
	last, err := p.findRun("last")
	if err != nil || last.run != newer {
		t.Errorf("last is %s, %v; want %s", last.run, err, newer)
	}
}

// TestLastIsAWalk: a flip by hand between two looks at a walk does not take its name.
func TestLastIsAWalk(t *testing.T) {
	state := t.TempDir()
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard, madeUp(nil))
	p.settings.stateDir = state
	for _, test := range []struct{ begins, last string }{
		{"20261129T100801Z-by-hand-0001", "20261129T100801Z-by-hand-0001"},
		{"20261129T100802Z-book-0002", "20261129T100802Z-book-0002"},
		{"20261129T100803Z-by-hand-0003", "20261129T100802Z-book-0002"},
		{"20261129T100804Z-by-hand-book-0004", "20261129T100804Z-by-hand-book-0004"},
	} {
		logOf(t, state, test.begins, nil)
		if last, err := p.findRun("last"); err != nil || last.run != test.last {
			t.Errorf("after %s last is %s, %v; want %s", test.begins, last.run, err, test.last)
		}
	}
}

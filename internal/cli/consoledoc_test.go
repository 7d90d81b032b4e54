package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// TestConsoleDocShowsTheScreen: the picture in docs/console.md is a golden screen.
func TestConsoleDocShowsTheScreen(t *testing.T) {
	page, err := os.ReadFile("../../docs/console.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- screen ([a-z0-9-]+) -->\n```text\n(.*?)```").FindAllSubmatch(page, -1)
	if len(shown) == 0 {
		t.Fatal("docs/console.md shows no screen")
	}
	for _, m := range shown {
		want, err := os.ReadFile("../tui/testdata/screens/" + string(m[1]) + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if string(m[2]) != string(want) {
			t.Errorf("docs/console.md: the screen %s is not the golden one any more; copy it anew", m[1])
		}
	}
}

// TestScreensSayWhatAWalkSays: the golden screens of package tui are drawn from a log with the lines that a console gets.
func TestScreensSayWhatAWalkSays(t *testing.T) {
	packed, err := os.Open("../tui/testdata/walk.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	log, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	heard := newScreenPrinter(nil)
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		record, err := audit.ParseRecord(bytes.Clone(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(heard.event(record, body).Lines)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&said, "%d %s\n", record.Seq, text)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	const golden = "../tui/testdata/walk.lines"
	if *update {
		if err := os.WriteFile(golden, said.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(want, said.Bytes()) {
		t.Errorf("%v; %s is not what a console gets any more; go test ./internal/cli -run TestScreensSayWhatAWalkSays -update, then look at the screens and go test ./internal/tui -update", err, golden)
	}
}

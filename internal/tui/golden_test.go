package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// moments are states of the walk in testdata, by the number of their last record.
var moments = []struct {
	name string
	seq  uint64
	view viewKind
}{
	{"protecting", 45, viewBoard},
	{"asked-and-held", 83, viewBoard},
	{"approval", 122, viewBoard},
	{"ladder-waits", 301, viewBoard},
	{"recovered", 373, viewBoard},
	{"restoring", 558, viewBoard},
	{"closed", 835, viewBoard},
	{"events", 301, viewEvents},
	{"probes", 301, viewProbes},
	{"plots", 301, viewPlots},
	{"help", 301, viewHelp},
}

// TestScreens holds the console to what was looked at: each state in three sizes, and the states in
// a terminal that is almost too small.
func TestScreens(t *testing.T) {
	events := walked(t)
	for _, moment := range moments {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 10}} {
			name := fmt.Sprintf("%s-%dx%d", moment.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m := screenOf(t, upTo(events, moment.seq), size[0], size[1], Options{Words: []string{"hold [REASON]  stop everything that releases"}})
				m.view = moment.view
				compare(t, name, plain(m.frame()))
			})
		}
	}
}

// TestScreenWithoutUnicode is the board for a terminal that shows ASCII alone.
func TestScreenWithoutUnicode(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 301), 80, 24, Options{ASCII: true})
	got := plain(m.frame())
	compare(t, "ascii-80x24", got)
	if i := strings.IndexFunc(got, func(r rune) bool { return r > 0x7e }); i >= 0 {
		t.Errorf("%q is not ASCII", got[i:i+4])
	}
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./internal/tui -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the screen has changed; look at it, then go test ./internal/tui -update\n%s", diff)
	}
}

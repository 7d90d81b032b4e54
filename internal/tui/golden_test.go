package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/steps"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// moments are states of the walk in testdata, by the number of their last record.
var moments = []struct {
	name string
	seq  uint64
	view viewKind
}{
	{"protecting", 45, viewBoard},
	{"breached", 77, viewBoard},
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
				m := screenOf(t, upTo(events, moment.seq), size[0], size[1], Options{Words: []string{"  hold [REASON]          stop everything that releases load; brakes go on"}})
				m.view = moment.view
				compare(t, name, plain(m.frame()))
			})
		}
	}
}

// TestScreenOfADiagnosis is the question after the modes with what the signals say, and where they cannot say anything.
func TestScreenOfADiagnosis(t *testing.T) {
	asked := upTo(walked(t), 83)
	for name, body := range map[string]string{
		"diagnosed": `{"by":"rewarm","text":"the signals speak for cell-loss","diagnosis":{"at":"2026-11-29T10:07:30Z",` +
			`"first":[{"question":"is the removed cell still up and holding its data?","answer":"nothing here measures it; find out before anything else",` +
			`"then":"stop its drain, roll the deployment back and route its reads to it again before anything is warmed"}],"signs":[` +
			`{"mode":"cell-loss","verdict":"likely","reason":"a cell was built up from empty in the last ten minutes"},` +
			`{"mode":"origin-fault","verdict":"possible","reason":"it is still slow; not measured: it became slow while it was asked for less than the limit"},` +
			`{"mode":"synchronized-expiry","verdict":"unlikely","reason":"it is not so that the hottest key was missing everywhere at once"},` +
			`{"mode":"hot-shard","verdict":"unknown","reason":"not measured: one node's CPU is full"}]}}`,
		"undiagnosed": `{"by":"rewarm","text":"the signals cannot say which mode it is: connection refused","diagnosis":{"at":"0001-01-01T00:00:00Z"}}`,
	} {
		noted := asked[len(asked)-1].Record
		noted.Kind, noted.Body = "noted", []byte(body)
		events := append(slices.Clone(asked), Event{Record: noted, Lines: []Line{{Where: "here/step", Text: "noted"}}})
		for _, size := range [][2]int{{80, 24}, {120, 40}, {50, 14}, {40, 10}} {
			name := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			compare(t, name, plain(screenOf(t, events, size[0], size[1], Options{}).frame()))
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

// TestScreenOfAHold is a walk that a person holds, at an approval.
func TestScreenOfAHold(t *testing.T) {
	asked := upTo(walked(t), 122)
	held := asked[len(asked)-1].Record
	held.Kind, held.Body = "held", []byte(`{"cause":"person","by":"ana","sentence":"held by ana: search deploys until 10:15","can":"release, or abort","words":["release"]}`)
	events := append(slices.Clone(asked), Event{Record: held, Lines: []Line{{Where: "rank-warmth", Text: "HOLD by ana: search deploys until 10:15"}}})
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		compare(t, fmt.Sprintf("held-%dx%d", size[0], size[1]), plain(screenOf(t, events, size[0], size[1], Options{}).frame()))
	}
}

// TestScreenOfAFailedCall is a walk whose first call could not be started.
func TestScreenOfAFailedCall(t *testing.T) {
	events := slices.Clone(upTo(walked(t), 122))
	for i := range events {
		if r := &events[i].Record; r.Kind == "called" && strings.Contains(string(r.Body), `"finished":true`) {
			r.Body = []byte(`{"step":"freeze-deployments","finished":true,"error":"deployctl could not be started"}`)
		}
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		compare(t, fmt.Sprintf("failed-call-%dx%d", size[0], size[1]), plain(screenOf(t, events, size[0], size[1], Options{}).frame()))
	}
}

// TestScreenOutAgain is a service that has recovered and left its bounds since.
func TestScreenOutAgain(t *testing.T) {
	events := outAgain(t, upTo(walked(t), 400))
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		name := fmt.Sprintf("out-again-%dx%d", size[0], size[1])
		compare(t, name, plain(screenOf(t, events, size[0], size[1], Options{Speed: func() string { return "4x" }}).frame()))
	}
}

// outAgain has every poll since the recovery read that readers get stale copies.
func outAgain(t *testing.T, events []Event) []Event {
	changed := slices.Clone(events)
	for i, e := range events {
		body, err := steps.DecodeBody(e.Record.Kind, e.Record.Body)
		if err != nil {
			t.Fatal(err)
		}
		seen, ok := body.(*steps.Observed)
		if !ok || e.Record.Seq < 380 {
			continue
		}
		for n := range seen.Answers {
			if a := &seen.Answers[n]; a.Ask.Probe == "stale-share" {
				a.Min.Value, a.Max.Value = 0.3, 0.3
				for r := range a.Readings {
					a.Readings[r].Value = 0.3
				}
			}
		}
		changed[i].Body = seen
	}
	return changed
}

// TestScreenOfAWatch is the end of a run as a watch shows it, and an earlier moment of it.
func TestScreenOfAWatch(t *testing.T) {
	events := walked(t)
	m := screenOf(t, events, 80, 24, Options{Watching: true, Again: again(events)})
	m.note(events)
	m.at = len(events)
	compare(t, "watched-80x24", plain(m.frame()))
	m.standAt(301)
	compare(t, "watched-before-80x24", plain(m.frame()))
	for _, key := range []tea.KeyType{tea.KeyEnd, tea.KeyEsc} {
		m.standAt(301)
		if m.Update(tea.KeyMsg{Type: key}); m.past {
			t.Errorf("%s leaves the screen at an earlier moment", key)
		}
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

package tui

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// TestFramesFit: whatever the state, the size and the view, a frame has as many rows as the terminal
// and none is wider, and nothing but colours is written as an escape.
func TestFramesFit(t *testing.T) {
	events := walked(t)
	rapid.Check(t, func(r *rapid.T) {
		seen := events[:rapid.IntRange(1, len(events)).Draw(r, "events")]
		width, height := rapid.IntRange(1, 250).Draw(r, "width"), rapid.IntRange(1, 80).Draw(r, "height")
		m := screenOf(t, seen, width, height, Options{ASCII: rapid.Bool().Draw(r, "ascii"), Watching: rapid.Bool().Draw(r, "watching")})
		m.view = viewKind(rapid.IntRange(int(viewBoard), int(viewLeaf)).Draw(r, "view"))
		m.offset = rapid.IntRange(0, 1000).Draw(r, "offset")
		frame := m.frame()
		if len(frame) > height {
			r.Fatalf("%d rows on a terminal of %d", len(frame), height)
		}
		for _, row := range frame {
			if w := ansi.StringWidth(row); w > width {
				r.Fatalf("row %q takes %d of %d columns", ansi.Strip(row), w, width)
			}
			if strings.ContainsFunc(ansi.Strip(row), unicode.IsControl) {
				r.Fatalf("row %q has a control character", row)
			}
		}
	})
}

// TestSmallest: in 40 columns and 10 rows the step, its verdict, what blocks and the keys are left.
func TestSmallest(t *testing.T) {
	events := walked(t)
	for _, state := range []struct {
		seq  uint64
		want []string
	}{
		{122, []string{"pass", "allow-prewarm", "may: approve", "? help"}},
		{301, []string{"route-back", "may: hold, abort, approve,", "? help"}},
		{83, []string{"declare", "answer: Which modes", "? help"}},
		{835, []string{"ended: closed", "? help"}},
	} {
		got := plain(screenOf(t, upTo(events, state.seq), 40, 10, Options{}).frame())
		for _, want := range state.want {
			if !strings.Contains(got, want) {
				t.Errorf("record %d: %q is not on the smallest screen:\n%s", state.seq, want, got)
			}
		}
	}
}

// TestTextFromOutsideStaysInItsPlace: a hostile text neither reaches the terminal raw nor breaks a row.
// https://github.com/shanselman/winget-tui/pull/32
func TestTextFromOutsideStaysInItsPlace(t *testing.T) {
	for _, text := range []string{
		"\x1b]52;c;cm0gLXJm\x07", "\x1b[2J\x1b[H", "\u202eevil", "a\u0300\u0301\u0302", "\u009b31m", "表表表表表表表表", "👩‍👩‍👧‍👦", "\xff\xfe", "a\nb\tc",
	} {
		events := upTo(walked(t), 301)
		events = append(events[:len(events):len(events)], Event{Record: events[len(events)-1].Record, Lines: []Line{{Where: text, Text: text, Rows: []string{text}}}})
		events[len(events)-1].Record.Kind, events[len(events)-1].Record.Body = "torn", []byte("{}")
		for _, width := range []int{10, 41, 80, 121} {
			for _, view := range []viewKind{viewBoard, viewEvents} {
				m := screenOf(t, events, width, 24, Options{})
				m.view = view
				for _, row := range m.frame() {
					if w := ansi.StringWidth(row); w > width {
						t.Errorf("%q: a row takes %d of %d columns: %q", text, w, width, row)
					}
					if strings.ContainsFunc(row, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' || r == 0x0300 }) {
						t.Errorf("%q reaches the terminal raw in %q", text, row)
					}
				}
			}
		}
	}
}

// TestTheNewestEventIsSeen: where the rows of an event do not all fit, its beginning stays, and what happened later.
func TestTheNewestEventIsSeen(t *testing.T) {
	rows := []string{"first", "long", " goes on", " and on", "newest", " indeed"}
	for given, want := range map[int]string{
		1: "newest", 2: "newest, indeed", 3: "long,newest, indeed", 4: "long, goes on,newest, indeed", 5: "long, goes on, and on,newest, indeed",
	} {
		if got := strings.Join(lastOf(rows, given), ","); got != want {
			t.Errorf("%d rows: %q, want %q", given, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain", 5)
	f.Add("\x1b[31mred\x1b[0m", 3)
	f.Add("表表", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = max(0, min(width, 300))
		safe := clean(text)
		if strings.ContainsFunc(safe, hidden) && !strings.Contains(text, "\uFFFD") {
			t.Fatalf("%q still hides something: %q", text, safe)
		}
		short := cut(safe, width, "~")
		if cells(short) > width {
			t.Fatalf("%q cut to %d takes %d", safe, width, cells(short))
		}
		for _, line := range wrapped(safe, max(width, 1), 2) {
			if strings.ContainsRune(line, '\n') {
				t.Fatalf("a wrapped line holds a newline: %q", line)
			}
		}
	})
}

// TestAStoppedRunSaysHowItGoesOn: whoever watches a run that its process has left is not told to give it orders.
func TestAStoppedRunSaysHowItGoesOn(t *testing.T) {
	events := upTo(walked(t), 122)
	stopped := events[len(events)-1].Record
	stopped.Kind, stopped.Body = "held", []byte(`{"cause":"interrupted","sentence":"interrupted: protections stay","can":"rewarm resume RUN"}`)
	events = append(events[:len(events):len(events)], Event{Record: stopped})
	got := plain(screenOf(t, events, 80, 24, Options{Watching: true}).frame())
	for _, want := range []string{"\nstopped: interrupted: protections stay\n", "\nmay: rewarm resume RUN\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen:\n%s", want, got)
		}
	}
}

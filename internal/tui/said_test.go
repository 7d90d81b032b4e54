package tui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// TestAnAnswerGoesWithWhatItIsAbout: what was answered to a word must not stand beside what contradicts it, and what is
// no answer stays.
func TestAnAnswerGoesWithWhatItIsAbout(t *testing.T) {
	events := walked(t)
	before := upTo(events, 100)
	m := screenOf(t, before, 80, 24, Options{})
	m.queue.say(said{"nothing waits for an approval now", true})
	m.queue.say(said{"warning: the disk is slow", false})
	m.take()
	answer, warning := "nothing waits for an approval now", "warning: the disk is slow"
	if shown := plain(m.frame()); !strings.Contains(shown, answer) || !strings.Contains(shown, warning) {
		t.Fatalf("what was said is not on the screen:\n%s", shown)
	}
	for _, e := range upTo(events, 122)[len(before):] {
		m.queue.put(e)
	}
	m.take()
	shown := plain(m.frame())
	if !strings.Contains(shown, "waits for an approval\n") || strings.Contains(shown, answer) || !strings.Contains(shown, warning) {
		t.Errorf("once something waits:\n%s", shown)
	}
	m.options.Hand = func() time.Time { return events[121].Record.At.Add(2 * saidFor) }
	if shown := plain(m.frame()); strings.Contains(shown, warning) {
		t.Errorf("much later:\n%s", shown)
	}
}

// TestALeafIsRead: a text that is opened has the screen to itself, row by row, until the person goes back or types a word.
func TestALeafIsRead(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 122), 60, 16, Options{})
	m.options.Typed = func(Typed) {}
	c := &Console{queue: m.queue}
	open := func() {
		c.Open("status", "first row\n  a row that is set in and has so many words that it goes on below\n\x1b[31mred\n"+strings.Repeat("more\n", 30))
		m.take()
	}
	open()
	shown := plain(m.frame())
	for _, want := range []string{"── status (rows 1 to ", "\nfirst row\n  a row that is set in", "\n    ", `\u001b[31mred`, "may: approve"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not on the screen:\n%s", want, shown)
		}
	}
	m.Update(tea.KeyMsg{Type: tea.KeyEsc})
	if shown := plain(m.frame()); strings.Contains(shown, "── status") {
		t.Errorf("after Esc:\n%s", shown)
	}
	open()
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'x'}})
	m.Update(tea.KeyMsg{Type: tea.KeyEnter})
	if m.view != viewBoard {
		t.Error("what is answered to a word is not seen")
	}
}

// TestCutOnce: what is cut has one mark, however often it is cut.
func TestCutOnce(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"}, {"long text", 6, "long …"}, {"long … text", 8, "long …"}, {"long … text", 7, "long …"}, {"longer…", 6, "longe…"},
	} {
		if got := cut(cut(c.text, c.width, "…"), c.width, "…"); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.text, c.width, got, c.want)
		}
	}
	d := &drawing{signs: &unicodeSigns}
	for _, c := range [][2]string{{"it goes on", "it goes …"}, {"it goes", "it goes …"}, {"it goes …", "it goes …"}, {"unbreakable", "unbreak …"}} {
		if got := d.goesOn(d.goesOn(c[0], 9), 9); got != c[1] {
			t.Errorf("%q goes on as %q, want %q", c[0], got, c[1])
		}
	}
}

// TestKeysOfAWatch: a watch cannot stop a walk, and a walk has the arrows for its line.
func TestKeysOfAWatch(t *testing.T) {
	events := upTo(walked(t), 301)
	for watching, want := range map[bool]string{true: "q or ^C     leaves; the run goes on", false: "^C          stop the walk"} {
		m := screenOf(t, events, 100, 60, Options{Watching: watching})
		m.view = viewHelp
		if shown := plain(m.frame()); !strings.Contains(shown, want) || watching == strings.Contains(shown, "stop the walk") {
			t.Errorf("watching %v:\n%s", watching, shown)
		}
	}
	m := screenOf(t, events, 80, 24, Options{})
	for _, key := range []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("od")}, {Type: tea.KeyLeft}, {Type: tea.KeyLeft}, {Type: tea.KeyRunes, Runes: []rune{'h'}}} {
		m.Update(key)
	}
	if m.line.Value() != "hod" {
		t.Errorf("the line is %q", m.line.Value())
	}
}

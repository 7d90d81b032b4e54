package cli

import (
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// sitAtConsole starts rewarm on a terminal that can show a whole screen.
func sitAtConsole(t *testing.T, width, height int, args ...string) *seat {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LC_ALL", "C.UTF-8")
	s := sitDownAt(t, t.TempDir(), width, height, args...)
	s.shows("? help")
	return s
}

// picture is what stands on the screen now, as an emulator draws it.
func (s *seat) picture() string {
	var size *unix.Winsize
	err := control(s.t, s.master, func(fd int) (err error) {
		size, err = unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.emulator == nil {
		s.emulator = newEmulator()
	}
	s.emulator.Resize(int(size.Col), int(size.Row))
	shown := s.shown()
	_, _ = s.emulator.Write([]byte(shown[s.drawn:]))
	s.drawn = len(shown)
	return ansi.Strip(s.emulator.Render())
}

// newEmulator makes a terminal that keeps to itself what it would answer to questions of a program:
// an answer that nobody takes would block it.
func newEmulator() *vt.Emulator {
	emulator := vt.NewEmulator(80, 24)
	go func() {
		for chunk := make([]byte, 256); ; {
			if _, err := emulator.Read(chunk); err != nil {
				return
			}
		}
	}()
	return emulator
}

// shows waits until a text stands on the screen.
func (s *seat) shows(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		picture := s.picture()
		if strings.Contains(picture, want) {
			return
		}
		select {
		case <-s.stopped:
			s.t.Fatalf("rewarm ended before %q stood on the screen:\n%s", want, picture)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q does not stand on the screen:\n%s", want, picture)
		}
	}
}

// hits types as a hand does, key by key. Each is seen before the next: what a slow machine reads at once would have
// been pasted.
func (s *seat) hits(text string) {
	s.t.Helper()
	line := "> "
	for _, r := range text {
		s.types(string(r))
		if r == '\r' {
			return
		}
		time.Sleep(6 * handKey)
		line += string(r)
		s.shows(line)
	}
}

// showed waits until a text has been on the screen: what happens next may push it off again at once.
func (s *seat) showed(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(s.shown(), want); {
		select {
		case <-s.stopped:
			s.t.Fatalf("rewarm ended before %q stood on the screen:\n%s", want, s.picture())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q did not stand on the screen:\n%s", want, s.picture())
		}
	}
}

// handKey is the least time between two keys of a person, as the console takes it.
const handKey = 10 * time.Millisecond

func (s *seat) resizes(width, height int) {
	s.t.Helper()
	if err := control(s.t, s.master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)})
	}); err != nil {
		s.t.Fatal(err)
	}
}

// TestPersonAtTheConsole answers, looks around, pastes in vain, approves, and stops with Ctrl-C; a second
// person watches. The terminal is as it was when the walk has ended.
// https://github.com/charmbracelet/bubbletea/issues/404
func TestPersonAtTheConsole(t *testing.T) {
	s := sitAtConsole(t, 100, 30, "demo", patientBook(t), "--speed", "10")
	s.shows("may: an answer") // that it is asked stands among the events before it can be answered
	s.hits("cell-loss\r")
	s.shows("routing.cell-c")
	s.shows("blocks: allow-prewarm waits for an approval")
	s.types("approve\r")
	s.showed("that does not count: it was pasted, or came faster")
	s.types("\x1b[200~approve\x1b[201~\r")
	s.hits("approv\r")
	s.showed(`not understood: "approv"`)
	if strings.Contains(s.shown(), "approved plan") {
		t.Errorf("something was approved:\n%s", s.picture())
	}
	for key, view := range map[string]string{"\x05": "── events", "\x10": "── probes", "\x07": "── queue-age", "?": "── help"} {
		s.types(key)
		s.shows(view)
	}
	s.types("\x1b")
	s.shows("── gates")

	second := sitDownAt(t, s.state, 90, 25, "watch", "last")
	second.shows("watching, q leaves")
	second.shows("allow-prewarm")
	second.types("\x1b[D")
	second.shows("event ")

	s.hits("approve\r")
	s.shows("blocks: warm-by-rank waits for an approval")
	second.types("\x1b[C\x1b[C")
	second.types("q")
	if code := second.ends(); code != exitDone {
		t.Errorf("watch ended with %d:\n%s", code, second.shown())
	}

	s.types("\x03")
	if code := s.ends(); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	if !strings.Contains(s.shown(), "\x1b[?1049l") {
		t.Error("the screen of before does not come back")
	}
	if after := modesOf(t, s.master); after != s.modes {
		t.Errorf("the terminal is left in other modes: %+v, not %+v", after, s.modes)
	}
	s.verifies()
}

// TestNothingIsAskedOfTheTerminal: a command that draws nothing writes no escape sequence, and leaves the
// environment as it was for the calls of a runbook.
// https://github.com/charmbracelet/bubbletea/issues/1771
func TestNothingIsAskedOfTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	s := sitDown(t, "version")
	if code := s.ends(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	<-s.stopped
	if strings.Contains(s.shown(), "\x1b") {
		t.Errorf("something was asked: %q", s.shown())
	}
}

// TestConsoleIsResizedAtWill: a storm of sizes, tiny ones too, leaves a whole screen.
func TestConsoleIsResizedAtWill(t *testing.T) {
	s := sitAtConsole(t, 80, 24, "demo", patientBook(t), "--speed", "20")
	for i := range 60 {
		s.resizes(1+i*7%150, 1+i*3%50)
	}
	s.resizes(70, 20)
	seen := len(s.shown())
	for deadline := time.Now().Add(patience); len(s.shown()) < seen+70*5 && time.Now().Before(deadline); {
		time.Sleep(handKey)
	}
	s.resizes(120, 40)
	s.shows("── origin budget")
	s.hits("abort\r")
	if code := s.ends(); code != exitAborted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
}

// TestConsoleThatGoesAway: a closed terminal stops a walk as a signal does, and its log is whole.
// https://github.com/irontec/sngrep/issues/424
func TestConsoleThatGoesAway(t *testing.T) {
	s := sitAtConsole(t, 80, 24, "demo", "--speed", "20")
	if err := s.master.Close(); err != nil {
		t.Fatal(err)
	}
	if code := s.ends(); code != exitInterrupted && code != exitHeld {
		t.Errorf("exit code %d", code)
	}
	s.verifies()
}

// TestConsoleThatGoesAwayUnheard: where hangups are ignored, as under nohup, the end of the input tells.
func TestConsoleThatGoesAwayUnheard(t *testing.T) {
	signal.Ignore(unix.SIGHUP) // is handed down
	defer signal.Reset(unix.SIGHUP)
	s := sitAtConsole(t, 80, 24, "demo", "--speed", "20")
	if err := s.master.Close(); err != nil {
		t.Fatal(err)
	}
	if code := s.ends(); code != exitHeld {
		t.Errorf("exit code %d", code)
	}
	s.verifies()
}

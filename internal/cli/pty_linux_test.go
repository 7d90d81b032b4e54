package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// seat is a rewarm on a terminal of its own, with a person at it.
type seat struct {
	t       *testing.T
	cmd     *exec.Cmd
	master  *os.File
	state   string
	mu      sync.Mutex
	screen  bytes.Buffer
	modes   unix.Termios // of the terminal before rewarm began
	seen    int          // what was waited for already
	stopped chan struct{}

	emulator *vt.Emulator // draws what was shown, nil before the first picture
	drawn    int          // so many bytes of it
}

// sitDown starts rewarm on a new terminal, which controls it as a shell's does.
func sitDown(t *testing.T, args ...string) *seat {
	t.Helper()
	return sitDownAt(t, t.TempDir(), 0, 0, args...)
}

// sitDownAt does so with a state directory and a size; 0 is the size that a new terminal has.
func sitDownAt(t *testing.T, state string, width, height int, args ...string) *seat {
	t.Helper()
	master, slave := newTerminal(t)
	defer slave.Close()
	s := &seat{t: t, master: master, state: state, stopped: make(chan struct{})}
	if width > 0 {
		s.resizes(width, height)
	}
	s.modes = modesOf(t, master)
	s.cmd = exec.Command("rewarm", append(args, "--state-dir", s.state)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = master.Close()
	})
	go s.watch()
	return s
}

// newTerminal makes a terminal, and gives its two ends.
func newTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var number int
	asked := control(t, master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if asked != nil {
		t.Fatal(asked)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// control asks the kernel about a terminal. Fd would put the file into blocking mode, in which Close
// waits for a read that is under way.
func control(t *testing.T, terminal *os.File, ask func(fd int) error) (err error) {
	t.Helper()
	conn, failed := terminal.SyscallConn()
	if failed != nil {
		t.Fatal(failed)
	}
	if failed := conn.Control(func(fd uintptr) { err = ask(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

func modesOf(t *testing.T, terminal *os.File) (modes unix.Termios) {
	t.Helper()
	if err := control(t, terminal, func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			modes = *got
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return modes
}

// watch keeps what appears on the screen until the terminal is gone.
func (s *seat) watch() {
	defer close(s.stopped)
	chunk := make([]byte, 4096)
	for {
		n, err := s.master.Read(chunk)
		s.mu.Lock()
		s.screen.Write(chunk[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *seat) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// sees waits until a text, or one of several, appears behind what was waited for before.
func (s *seat) sees(wants ...string) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		screen := s.shown()
		for _, want := range wants {
			if i := strings.Index(screen[s.seen:], want); i >= 0 {
				s.seen += i + len(want)
				return
			}
		}
		select {
		case <-s.stopped:
			if s.shown() == screen {
				s.t.Fatalf("rewarm ended before %q appeared:\n%s", wants, screen)
			}
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q does not appear:\n%s", wants, screen)
		}
	}
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, text); err != nil {
		s.t.Fatal(err)
	}
}

// patientBook is the bundled runbook with a first question that waits for its person however slow this machine is.
func patientBook(t *testing.T) string {
	t.Helper()
	_, source, ok := readBundled(bundledBook)
	patient := bytes.Replace(source, []byte("choose: modes, after: 10s,"), []byte("choose: modes, after: 1h,"), 1)
	if !ok || bytes.Equal(patient, source) {
		t.Fatal("the bundled runbook asks after the modes in another way")
	}
	file := filepath.Join(t.TempDir(), "patient.yaml")
	if err := os.WriteFile(file, patient, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// declares answers the first question of the bundled runbook.
func (s *seat) declares(modes string) {
	s.t.Helper()
	s.sees("question: declare: ")
	s.sees("2 cell-loss")
	s.types(modes + "\n")
	s.sees("answered by ")
}

// ends waits for the process and gives its exit code.
func (s *seat) ends() exitCode {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			s.t.Fatal(err)
		}
		return exitCode(s.cmd.ProcessState.ExitCode())
	case <-time.After(patience):
		s.t.Fatalf("rewarm does not end:\n%s", s.shown())
	}
	return -1
}

// verifies demands that the log that was left behind is whole.
func (s *seat) verifies() {
	s.t.Helper()
	if out, err := exec.Command("rewarm", "audit", "verify", "last", "--deep", "--state-dir", s.state).CombinedOutput(); err != nil {
		s.t.Errorf("the log does not verify: %s", out)
	}
}

// TestPersonApproves walks the demo as a person: an answer by number, approvals of a
// stage, a ladder and the rest, each by its word.
func TestPersonApproves(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "40")
	s.declares("2")
	s.sees("approval: allow-prewarm: plan ")
	s.sees("approve stage  all that is left of this stage (")
	s.sees("prewarm.bucket to top-1, top-10, top-100, working-set")
	s.sees("or hold, skip allow-prewarm REASON, abort, status, help")
	s.types("approve stage\n")
	s.sees("approved stage")
	s.sees("approval: route-back: ")
	s.sees("approve ladder  this and all that is left of route-back (")
	s.types("approve ladder\n")
	s.sees("approved ladder")
	s.sees("approval: lift-everything: ")
	s.sees("approve rest  this and all that is left of lift-everything (")
	s.types("approve rest\n")
	s.sees("approved rest of lift-everything ")
	s.sees("question: what-the-machine-cannot-know: ")
	s.types("called the owner of search\n")
	s.sees("closed: recovered")
	s.sees("with this walk ", " reads were refused or have failed since it began at 10:07:30; its questions waited ")
	if code := s.ends(); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
	if strings.Contains(s.shown(), "\x1b") {
		t.Error("there is an escape sequence on the screen")
	}
}

// TestTypingAheadDoesNotApprove: what was typed before the question appeared is gone
// when it does, and a paste of several lines approves nothing, bracketed or not.
// https://github.com/charmbracelet/bubbletea/issues/404
func TestTypingAheadDoesNotApprove(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "10")
	s.sees("question: declare: ")
	s.types("approve\n") // long before anything asks for it
	s.sees("nothing waits for an approval now: ", "held: guard ")
	s.types("cell-loss\nappro") // and a line without its end
	s.sees("answered by ")
	s.sees("approval: allow-prewarm: plan ")
	s.sees("approve        this plan (")
	s.types("ve\n")
	s.sees(`not understood: "ve"`)
	for _, paste := range []string{"approve\napprove\n", "\x1b[200~approve\r\napprove\r\n\x1b[201~\n"} {
		s.types(paste)
		s.sees("that does not count: several lines came at once")
	}
	s.types("y\n")
	s.sees(`not understood: "y"; what counts now: approve, approve stage, hold,`)
	s.types("help\n")
	s.sees("stop everything that releases")
	s.types("status\n")
	s.sees("stage rank-warmth")
	s.sees("leaders.cell          60 leaders (steady 400) ")
	s.sees("blocks: allow-prewarm waits for an approval")
	s.sees("may:    approve, approve stage, hold, abort")
	s.sees("costs:  copies on stale.product-detail run out now, the last by ")
	for output, wants := range map[string][]string{
		"text": {"waits:  plan ", "releasing; rewarm approve ", "waits:  stage ", ", prewarm.bucket to ", "; rewarm approve "},
		"json": {`"approvals":[{"step":"allow-prewarm","scope":"plan","digest":"`, `"scope":"stage","digest":"`},
	} {
		elsewhere := sitDownAt(t, s.state, 250, 30, "status", "last", "--output", output)
		elsewhere.sees(wants...)
		elsewhere.ends()
	}
	s.types("note the on-call of search knows\n")
	s.sees(": the on-call of search knows")
	s.types("hold wait for search\n")
	s.sees("HOLD: held by ")
	s.types("approve\n")
	s.sees(": wait for search; release first")
	s.types("release\n")
	s.sees("hold lifted by ")
	if strings.Contains(s.shown(), "approved plan") {
		t.Errorf("something was approved:\n%s", s.shown())
	}
	s.types("abort enough\n")
	s.sees("aborted by ")
	if code := s.ends(); code != exitAborted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
}

// TestInterrupts: the first Ctrl-C idles what adds load and leaves a run that says so.
func TestInterrupts(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "20")
	s.declares("2")
	s.sees("approval: allow-prewarm: ")
	s.types("approve\n")
	s.sees("flipped prewarm.rate to 3200 attempts/s, from 0 attempts/s (absent)")
	s.types("\x03")
	s.sees("rewarm: warning: interrupt: the walk stops")
	s.sees("flipped prewarm.rate to 0 attempts/s, from 3200 attempts/s")
	s.sees("HOLD: interrupted")
	if code := s.ends(); code != exitInterrupted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
}

// TestTerminalThatGoesAway: a closed terminal stops a walk as a signal does; it neither
// spins nor stays behind, and its log is whole.
// https://github.com/irontec/sngrep/issues/424
// https://github.com/anomalyco/opencode/issues/12913
func TestTerminalThatGoesAway(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "20")
	s.declares("2")
	s.sees("approval: allow-prewarm: ")
	if err := s.master.Close(); err != nil {
		t.Fatal(err)
	}
	// The signal and the end of input race: either is a clean end.
	if code := s.ends(); code != exitInterrupted && code != exitHeld {
		t.Errorf("exit code %d", code)
	}
	s.verifies()
}

// TestClosedTerminalIdlesTheLoad: the kernel, the shell and the multiplexer of a closed
// terminal hang up one after the other, and what adds load is idled all the same.
// https://github.com/irontec/sngrep/issues/424
func TestClosedTerminalIdlesTheLoad(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "20")
	s.declares("2")
	s.sees("approval: allow-prewarm: ")
	s.types("approve\n")
	s.sees("flipped prewarm.rate to 3200 attempts/s, from 0 attempts/s (absent)")
	for range 3 {
		_ = s.cmd.Process.Signal(syscall.SIGHUP) // it may have ended
	}
	_ = s.master.Close()
	if code := s.ends(); code != exitInterrupted && code != exitHeld {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
	out, err := exec.Command("rewarm", "audit", "show", "last", "--state-dir", s.state).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "flipped prewarm.rate to 0 attempts/s, from 3200 attempts/s") {
		t.Errorf("prewarm was left on: %v\n%s", err, out)
	}
}

// TestCtrlDIsNoEnd: one end of file typed at a terminal does not deafen a walk.
func TestCtrlDIsNoEnd(t *testing.T) {
	s := sitDown(t, "demo", patientBook(t), "--plain", "--speed", "20")
	s.sees("stage entered")
	s.types("\x04")
	s.types("note still here\n")
	s.sees(": still here")
	s.types("abort\n")
	if code := s.ends(); code != exitAborted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
}

// TestFullSpeedNeedsNoPerson: nobody can answer a model that runs flat out.
func TestFullSpeedNeedsNoPerson(t *testing.T) {
	s := sitDown(t, "demo", "--speed", "max")
	s.sees("rewarm: error: at --speed max no person can keep up")
	if code := s.ends(); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

package audit

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// childEnv tells the test binary, run again as another process, what to be.
const childEnv = "REWARM_AUDIT_TEST_CHILD"

func TestMain(m *testing.M) {
	role, path, _ := strings.Cut(os.Getenv(childEnv), ":")
	children := map[string]func(path string) error{
		"share": childSharing, "stream": childStreaming, "full": childWithFullDisk,
	}
	switch child, ok := children[role]; {
	case role == "":
		os.Exit(m.Run())
	case !ok:
		fmt.Fprintln(os.Stderr, "no such child:", role)
		os.Exit(2)
	default:
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func child(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+role+":"+path)
	return cmd
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

const appendsEach = 25

// childSharing opens the log, commits one record and closes it, again and again.
func childSharing(path string) error {
	for range appendsEach {
		l, err := openWhenFree(path)
		if err != nil {
			return err
		}
		_, err = l.Commit(strconv.Itoa(os.Getpid()), "noted", nil)
		if err := errors.Join(err, l.Close()); err != nil {
			return err
		}
	}
	return nil
}

func openWhenFree(path string) (*Log, error) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		l, err := Open(path, systemClock{}, Options{})
		if locked := (*LockedError)(nil); !errors.As(err, &locked) || time.Now().After(deadline) {
			return l, err
		}
	}
}

// https://github.com/InnerWarden/innerwarden/issues/461: two writers forked the
// chain, and an honest log read as tampered.
func TestFourProcessesMakeOneChain(t *testing.T) {
	path, _ := writeLog(t, 2)
	var cmds []*exec.Cmd
	for range 4 {
		cmd := child(t, "share", path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	byActor := map[string]int{}
	for _, r := range allRecords(t, path)[2:] {
		byActor[r.Actor]++
	}
	if len(byActor) != 4 {
		t.Fatalf("records by process: %v", byActor)
	}
	for actor, n := range byActor {
		if n != appendsEach {
			t.Errorf("process %s has %d records, want %d", actor, n, appendsEach)
		}
	}
}

// childStreaming writes until it is killed, and says what it was promised.
func childStreaming(path string) error {
	l, err := Open(path, systemClock{}, Options{})
	if err != nil {
		return err
	}
	for {
		if _, err := l.Append("child", "observed", remark{strings.Repeat("x", 5000)}); err != nil {
			return err
		}
		r, err := l.Commit("child", "noted", nil)
		if err != nil {
			return err
		}
		fmt.Println(r.Seq)
	}
}

func TestKilledWriterLosesNothingItWasPromised(t *testing.T) {
	path, _ := writeLog(t, 2)
	for round := range 10 {
		promised := killAfter(t, path, 1+round*7)
		l := mustOpen(t, path, Options{})
		head, _ := l.Head()
		mustClose(t, l)
		if head.Seq < promised {
			t.Fatalf("record %d was promised, the log ends at %d", promised, head.Seq)
		}
	}
	mustVerify(t, path)
}

// killAfter kills a streaming child after n promises and gives the last one.
func killAfter(t *testing.T, path string, n int) (promised uint64) {
	t.Helper()
	cmd := child(t, "stream", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() {
		seq, err := strconv.ParseUint(said.Text(), 10, 64)
		if err != nil {
			break // cut by the kill
		}
		promised = seq
		if n--; n == 0 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	if n > 0 {
		t.Fatal("the child ended by itself")
	}
	return promised
}

func TestSecondWriterIsRefused(t *testing.T) {
	path := logPath(t)
	first := mustCreate(t, path, Options{})
	mustCommit(t, first, "begun", nil)
	var locked *LockedError
	if _, err := Open(path, newClock(), Options{}); !errors.As(err, &locked) || !strings.Contains(err.Error(), path) {
		t.Errorf("open says %v", err)
	}
	if _, err := Create(path, newClock(), Options{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("create says %v", err)
	}
	other := logPath(t)
	if _, err := Create(other, newClock(), Options{Earlier: []string{path}}); !errors.As(err, &locked) {
		t.Errorf("the next segment says %v", err)
	}
	mustVerify(t, path) // readers need no lock
	mustClose(t, first)
	if _, err := first.Commit("ana", "noted", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed log says %v", err)
	}
	mustCommit(t, mustOpen(t, path, Options{}), "noted", nil)
}

func TestConcurrentCallsMakeOneChain(t *testing.T) {
	path := logPath(t)
	l := mustCreate(t, path, Options{})
	done := make(chan error)
	for i := range 4 {
		go func() {
			var err error
			for n := range 50 {
				write := l.Append
				if n%10 == i {
					write = l.Commit
				}
				_, e := write("ana", "noted", nil)
				err = errors.Join(err, e)
				l.Head()
				l.ClockStep()
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	mustClose(t, l)
	if n := len(allRecords(t, path)); n != 200 {
		t.Errorf("%d records, want 200", n)
	}
}

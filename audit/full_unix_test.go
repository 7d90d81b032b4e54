//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// childWithFullDisk commits until the kernel takes no more. A limit on the size of
// files fails as a full disk does, in the middle of a line, and needs no disk.
func childWithFullDisk(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	l, err := Open(path, systemClock{}, Options{Emergency: NewEmergencyFile(path + ".emergency").Put})
	if err != nil {
		return err
	}
	size := l.written.size
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(size) + 3000, Max: uint64(size) + 3000}); err != nil {
		return err
	}
	for range 40 {
		r, err := l.Commit("child", "noted", remark{strings.Repeat("x", 200)})
		if err != nil {
			return err
		}
		if r.Emergency {
			fmt.Println(r.Seq)
			return nil
		}
	}
	return errors.New("the disk never filled up")
}

// https://github.com/earendil-works/pi/issues/8575: a full disk left a prefix, and
// the next append was glued to it.
func TestFullDisk(t *testing.T) {
	path, before := writeLog(t, 2)
	cmd := child(t, "full", path)
	cmd.Stderr = os.Stderr
	if _, err := cmd.Output(); err != nil {
		t.Fatal(err)
	}
	r := mustVerify(t, path)
	if r.Segments[0].Tail == nil || r.Segments[0].Bytes != int64(len(before)+3000) {
		t.Fatalf("the disk did not fill up inside a line: %+v", r.Segments[0])
	}
	both := mustVerify(t, path, path+".emergency")
	if both.Head.Seq != r.Head.Seq+1 || both.Segments[1].First != both.Head.Seq {
		t.Fatalf("the emergency log does not follow: %+v", both)
	}
	// Later, with room again, either file can be gone on with; not both.
	l := mustOpen(t, path+".emergency", Options{Earlier: []string{path}})
	next := mustCommit(t, l, "resumed", nil)
	mustClose(t, l)
	if got := mustVerify(t, path, path+".emergency").Head.Seq; got != next.Seq {
		t.Errorf("ends at %d, want %d", got, next.Seq)
	}
	l = mustOpen(t, path, Options{})
	mustCommit(t, l, "noted", nil)
	mustClose(t, l)
	if again := mustVerify(t, path); again.Segments[0].Repaired != 1 {
		t.Errorf("after a repair: %+v", again)
	}
	var fork *ForkError
	if _, err := verify(path, path+".emergency"); !errors.As(err, &fork) || fork.Seq != r.Head.Seq+1 {
		t.Errorf("both went on, verify says %v", err)
	}
}

package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// failingFile fails as it is told and otherwise is the file.
type failingFile struct {
	File
	failSyncs int  // so many syncs fail, those after them succeed
	full      int  // so many bytes are taken, then there is no space
	limited   bool // whether full counts
	syncs     int
}

func (f *failingFile) Sync() error {
	f.syncs++
	if f.failSyncs > 0 {
		f.failSyncs--
		return syscall.EIO
	}
	return f.File.Sync()
}

func (f *failingFile) Write(b []byte) (int, error) {
	if !f.limited || len(b) <= f.full {
		f.full -= len(b)
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:f.full])
	f.full = 0
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

func failing(l *Log) *failingFile {
	f := &failingFile{File: l.file}
	l.file = f
	return f
}

// https://github.com/redis/redis/issues/8111 and
// https://github.com/rostamlabs/rostam/issues/94: after a failed sync the log went on,
// and a later sync that succeeded made it look whole.
func TestFailedSyncIsFinal(t *testing.T) {
	path := logPath(t)
	l := mustCreate(t, path, Options{})
	mustCommit(t, l, "begun", nil)
	f := failing(l)
	f.failSyncs = 1
	if _, err := l.Commit("ana", "intended", nil); !errors.Is(err, ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	for range 3 {
		if r, err := l.Append("ana", "noted", nil); !errors.Is(err, ErrBroken) {
			t.Fatalf("went on with %+v, %v", r, err)
		}
		if r, err := l.Commit("ana", "noted", nil); !errors.Is(err, syscall.EIO) {
			t.Fatalf("went on with %+v, %v", r, err)
		}
	}
	if f.syncs != 1 {
		t.Errorf("%d syncs, want 1: a failed one is never tried again", f.syncs)
	}
	if head, _ := l.headAt(l.durable.link); head.Seq != 1 {
		t.Errorf("claims %s to be on disk", head)
	}
	mustClose(t, l)
	if f.syncs != 1 {
		t.Error("Close synced a broken log")
	}
	l = mustOpen(t, path, Options{}) // opened and checked again
	if r := mustCommit(t, l, "resumed", nil); r.Seq != 3 {
		t.Errorf("goes on at %d, want 3: the record was there after all", r.Seq)
	}
}

// https://github.com/hashicorp/vault/issues/18943: the disk fills up in the middle of
// a rescue, at any byte of a line.
func TestNoSpaceAtEveryByte(t *testing.T) {
	line := len(`{"seq":2,"prev":"","at":"","t":0,"actor":"ana","kind":"intended","body":{}}`) + 64 + 30 + 1
	for full := range line {
		path := logPath(t)
		l := mustCreate(t, path, Options{})
		mustCommit(t, l, "begun", nil)
		f := failing(l)
		f.full, f.limited = full, true
		if _, err := l.Commit("ana", "intended", nil); !errors.Is(err, ErrBroken) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes: got %v", full, err)
		}
		mustClose(t, l)
		l = mustOpen(t, path, Options{})
		r := mustCommit(t, l, "resumed", nil)
		mustClose(t, l)
		want := uint64(3) // behind the torn record, or the one that lacked its newline
		if full == 0 {
			want = 2
		}
		if got := mustVerify(t, path).Head.Seq; got != want || r.Seq != want {
			t.Fatalf("%d bytes: goes on at %d, want %d", full, r.Seq, want)
		}
	}
}

// https://github.com/getnora-io/nora/issues/321: records were written to where nobody
// finds them.
func TestVanishedFileBreaksTheLog(t *testing.T) {
	for name, vanish := range map[string]func(path string) error{
		"directory removed": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"file removed":      os.Remove,
		"file renamed":      func(path string) error { return os.Rename(path, path+".1") },
		"file replaced": func(path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, b, 0o600))
		},
		"file emptied": func(path string) error { return os.Truncate(path, 0) },
		"file appended to": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("hello\n")
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := logPath(t)
			l := mustCreate(t, path, Options{})
			mustCommit(t, l, "begun", nil)
			if err := vanish(path); err != nil {
				t.Fatal(err)
			}
			if r, err := l.Commit("ana", "intended", nil); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %+v, %v", r, err)
			}
			if l.Broken() == nil {
				t.Error("the log is not broken")
			}
		})
	}
}

func TestUnusablePathsAreRefused(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	writeFile(t, plain, nil)
	if _, err := Create(filepath.Join(plain, "audit.jsonl"), newClock(), Options{}); err == nil {
		t.Error("began a log below a file")
	}
	if _, err := Open(dir, newClock(), Options{}); err == nil {
		t.Error("opened a directory")
	}
	if _, err := Create(filepath.Join(dir, "a b", "audit.jsonl"), newClock(), Options{}); err == nil || !strings.Contains(err.Error(), `"a b"`) {
		t.Errorf("took a run id that cannot be signed: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none"), newClock(), Options{}); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Open made a file")
	}
}

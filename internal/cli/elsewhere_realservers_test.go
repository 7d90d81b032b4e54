//go:build realservers && linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { programs["rewarm-elsewhere"] = func() { os.Exit(onAnotherMachine()) } }

// onAnotherMachine is rewarm on a machine of another name.
func onAnotherMachine() int {
	where := thisMachine()
	where.host = "ops-2"
	return newProgram(os.Stdin, os.Stdout, os.Stderr, where).run(os.Args[1:])
}

// elsewhere starts rewarm on another machine, which has only the Redis in common.
func (w *world) elsewhere(words ...string) *process {
	w.t.Helper()
	return start(w.t, "rewarm-elsewhere", append(words, "--redis", w.redisURL, "--approve", "auto", "--plain", "--state-dir", filepath.Join(w.dir, "other"))...)
}

// TestRealResumeElsewhere: a laptop falls asleep in the middle of a walk. Another machine follows
// the run, is refused while its process lives, and goes on with it from the mirror when it does
// not. The laptop wakes, writes nothing to Redis any more and leaves; the two logs are a fork.
func TestRealResumeElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	laptop := w.run(shortBook)
	laptop.prints("flipped origin.admission")
	watch := w.elsewhere("watch", "last")
	watch.prints("flipped origin.admission")
	tooEarly := w.elsewhere("resume", "last")
	if code := tooEarly.ends(time.Minute); code != exitCommanded || !strings.Contains(tooEarly.shown(), "it renews its command, so its process lives") {
		t.Errorf("exit code %d:\n%s", code, tooEarly.shown())
	}
	laptop.signal(syscall.SIGSTOP)
	second := w.elsewhere("resume", "last")
	second.prints("resumed by ")
	second.prints(" come from the mirror in redis ")
	laptop.signal(syscall.SIGCONT)
	if code := laptop.ends(time.Minute); code != exitCommanded {
		t.Errorf("the laptop: exit code %d:\n%s", code, laptop.shown())
	}
	for name, p := range map[string]*process{"the second": second, "the watcher": watch} {
		if code := p.ends(4 * time.Minute); code != exitDone || !strings.Contains(p.shown(), "closed: recovered") {
			t.Errorf("%s: exit code %d:\n%s", name, code, p.shown())
		}
	}
	if check := w.elsewhere("audit", "verify", "last", "--deep"); check.ends(time.Minute) != exitDone {
		t.Errorf("the log does not verify:\n%s", check.shown())
	}
	w.forks()
}

// forks demands that the log of the machine that slept is named as a fork of the other.
func (w *world) forks() {
	w.t.Helper()
	logs, err := filepath.Glob(filepath.Join(w.dir, "state", "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) != 1 {
		w.t.Fatalf("logs %q (%v)", logs, err)
	}
	check := w.elsewhere("audit", "verify", "last", "--segment", logs[0])
	if code := check.ends(time.Minute); code != exitUnverified || !strings.Contains(check.shown(), " fork at record ") {
		w.t.Errorf("exit code %d:\n%s", code, check.shown())
	}
	out, err := exec.Command("rewarm", "status", "last", "--state-dir", filepath.Join(w.dir, "state")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " on ops-2 went on with the run in record ") || !strings.Contains(string(out), "state closed") {
		w.t.Errorf("the laptop does not say where its run went: %v\n%s", err, out)
	}
}

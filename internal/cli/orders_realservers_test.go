//go:build realservers && linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/steps"
)

// TestRealTakeover: a process that slept while somebody else took over and ended again
// says so when it wakes, writes it down and changes nothing.
// https://github.com/bsm/redislock/issues/93
func TestRealTakeover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.run(shortBook)
	first.prints("flipped leaders.region to 200 leaders")
	first.signal(syscall.SIGSTOP)
	second := start(t, "rewarm", "takeover", "last", "--service", "catalog", "--prometheus", w.prometheusURL, "--redis", w.redisURL,
		"--approve", "auto", "--plain", "--through", "rank-warmth", "--state-dir", filepath.Join(w.dir, "other"), "the laptop of ana sleeps")
	if code := second.ends(4 * time.Minute); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, second.shown())
	}
	for _, says := range []string{"; TAKES OVER from ", "HOLD: told to stop after rank-warmth", "leaders.region        200 leaders (steady 1600)"} {
		if !strings.Contains(second.shown(), says) {
			t.Errorf("no %q in:\n%s", says, second.shown())
		}
	}
	before := len(bodies[*steps.Intended](w))
	first.signal(syscall.SIGCONT)
	if code := first.ends(time.Minute); code != exitCommanded || !strings.Contains(first.shown(), "the laptop of ana sleeps") {
		t.Errorf("exit code %d:\n%s", code, first.shown())
	}
	w.verifies()
	holds := bodies[*steps.Held](w)
	if last := holds[len(holds)-1]; last.Cause != "commander" || !strings.Contains(last.Sentence, "has taken over") {
		t.Errorf("the last hold is %+v", last)
	}
	for _, settled := range bodies[*steps.Settled](w)[before:] {
		if settled.Result == steps.ResultApplied {
			t.Errorf("written after it was taken over from: %+v", settled)
		}
	}
	if again := w.resume(); again.ends(time.Minute) != exitCommanded {
		t.Errorf("it is resumed:\n%s", again.shown())
	}
}

// rightsOf gives the rights that docs/controls.md gives to a user, for another of that kind.
func rightsOf(t *testing.T, user, name string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "controls.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    ACL SETUSER ` + user + ` on >PASSWORD (.*)$`).FindSubmatch(page)
	if line == nil {
		t.Fatalf("docs/controls.md gives %s no rights", user)
	}
	return append([]string{"ACL", "SETUSER", name, "on", ">pass"}, strings.Fields(strings.ReplaceAll(string(line[1]), ":"+user, ":"+name))...)
}

// TestRealSecondPerson: with the rights of docs/controls.md a release waits for a second
// person whom Redis proves, and for nobody else.
func TestRealSecondPerson(t *testing.T) {
	t.Parallel()
	w := &world{t: t, dir: t.TempDir(), redisPort: freeport.Take(t), prometheusPort: freeport.Take(t)}
	at := "@127.0.0.1:" + w.redisPort
	w.prometheusURL, w.redisURL = "http://127.0.0.1:"+w.prometheusPort, "redis://lab:pass"+at
	w.startRedis()
	for _, words := range [][]string{
		{"ACL", "SETUSER", "lab", "on", ">pass", "~*", "+@all"},
		rightsOf(t, "rewarm", "rewarm"), rightsOf(t, "bob", "bob"), rightsOf(t, "bob", "mallory"),
		{"ACL", "SETUSER", "default", "off"},
	} {
		if out, err := exec.Command("redis-cli", append([]string{"-p", w.redisPort}, words...)...).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "OK") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	w.startLab("--redis", w.redisURL)
	w.startPrometheus()
	book := filepath.Join(w.dir, "two.yaml")
	source, err := os.ReadFile(shortBook)
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(string(source), "flip: {control: prewarm.rate, to: 3000}", "flip: {control: prewarm.rate, to: 3000}\n      approval: {release: two}", 1)
	if err := os.WriteFile(book, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sitDown(t, "run", book, "--plain", "--prometheus", w.prometheusURL, "--redis", "redis://rewarm:pass"+at)
	s.sees("approval: allow-prewarm: plan ")
	s.sees("takes two persons")
	digest := regexp.MustCompile(`approval: allow-prewarm: plan ([0-9a-f]{8}):`).FindStringSubmatch(s.shown())[1]
	approve := func(user string) (string, error) {
		out, err := exec.Command("rewarm", "approve", "last", digest, "--service", "catalog", "--redis", "redis://"+user+":pass"+at, "--state-dir", w.dir).CombinedOutput()
		return string(out), err
	}
	if out, err := approve("rewarm"); err == nil || !strings.Contains(out, "nothing was sent: redis") {
		t.Errorf("the run's own user approves: %s", out)
	}
	s.types("approve\n")
	s.sees("approved plan " + digest)
	s.types("approve\n")
	s.sees("and it takes two persons")
	out, err := exec.Command("redis-cli", "-u", "redis://mallory:pass"+at, "XADD", "rewarm:{catalog}:approvals:bob", "*", "order", "{}").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "NOPERM") {
		t.Errorf("mallory writes as bob: %s (%v)", out, err)
	}
	began := time.Now()
	out2, err := approve("bob")
	if err != nil || !strings.HasPrefix(out2, "approve: done, record ") {
		t.Fatalf("%s (%v)", out2, err)
	}
	t.Logf("the answer came within %s", time.Since(began).Round(time.Millisecond))
	s.sees("sent by bob from ")
	s.sees("(redis proves the name)")
	s.sees("flipped prewarm.rate to 3000")
	s.types("abort that was the test\n")
	if code := s.ends(); code != exitAborted {
		t.Errorf("exit code %d:\n%s", code, s.shown())
	}
	s.verifies()
}

package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// madeUp are surroundings that are the same for every process, with these variables in
// the environment: what two of them print and log can be compared.
func madeUp(env map[string]string) surroundings {
	return surroundings{
		getenv: func(name string) string { return env[name] },
		host:   "desk", user: "ana", pid: 42, version: "1.2.3", clock: frozenClock{},
		random:     io.MultiReader(bytes.NewReader([]byte{0x7f, 0x3a}), bytes.NewReader(make([]byte, 64))),
		interrupts: func() (<-chan string, func()) { return nil, func() {} },
	}
}

// frozenClock stands still: the lab has its own time, and ids are made from this one.
type frozenClock struct{ wallClock }

func (frozenClock) Now() time.Time { return time.Date(2026, 11, 29, 10, 8, 1, 0, time.UTC) }

// demoHere plays the demo in this process with everything made up that could differ.
func demoHere(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	p := newProgram(strings.NewReader(""), &out, &errs, madeUp(nil))
	if code := p.run(append([]string{"demo", "--plain", "--state-dir", dir}, args...)); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return strings.ReplaceAll(out.String(), dir, "DIR")
}

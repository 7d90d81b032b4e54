package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

// TestRefusalIsSaidOnce: what ends a walk at its start is its error and no warning
// before it; what it goes on in spite of is a warning.
func TestRefusalIsSaidOnce(t *testing.T) {
	server := miniredis.RunT(t)
	server.RequireAuth("s3cr3t")
	var out, errs bytes.Buffer
	where := madeUp(nil)
	where.clock = wallClock{}
	p := newProgram(strings.NewReader(""), &out, &errs, where)
	code := p.run([]string{"run", bundledBook, "--prometheus", "http://127.0.0.1:1", "--redis", "redis://" + server.Addr(), "--state-dir", t.TempDir()})
	said := errs.String()
	if exitCode(code) != exitError || strings.Count(said, "rewarm: error: ") != 1 || strings.Contains(said, "warning: ") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
}

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlayIsInterrupted: it is said which day came to no end, that it counts as nothing, and what plays it.
func TestPlayIsInterrupted(t *testing.T) {
	for flags, also := range map[string]string{
		"cell-loss --watch --plain": "",
		"cell-loss drill":           "; 0 of 2 plays were judged before it",
	} {
		signals := make(chan string, 1)
		signals <- "interrupt"
		where := madeUp(nil)
		where.interrupts = func() (<-chan string, func()) { return signals, func() {} }
		var out, said bytes.Buffer
		file := filepath.Join(t.TempDir(), "days.xml")
		args := append([]string{"gameday", "run", "--state-dir", t.TempDir(), "--junit", file}, strings.Fields(flags)...)
		code := exitCode(newProgram(strings.NewReader(""), &out, &said, where).run(args))
		want := "not judged, so it has neither passed nor failed" + also + "\nrewarm: hint: rewarm gameday run cell-loss --seed 1 plays it again\n"
		if code != exitInterrupted || !strings.Contains(said.String(), "error: game day cell-loss was interrupted after ") ||
			!strings.HasSuffix(said.String(), want) || strings.Contains(out.String(), "passed") {
			t.Errorf("%s: exit code %d: %s%s", flags, code, &out, &said)
		}
		verdicts, err := os.ReadFile(file)
		if n := strings.Count(string(verdicts), "<error message=\"game day "); err != nil || n != strings.Count(also, "2")+1 {
			t.Errorf("%s: %d plays are marked in %s (%v)", flags, n, verdicts, err)
		}
	}
}

package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// runHere runs a command in this process. Its surroundings are made up, so that what
// it prints can be compared.
func runHere(t *testing.T, dir string, args ...string) (code exitCode, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CONFIG_HOME": filepath.Join(dir, "config")}
	var out, errs bytes.Buffer
	where := madeUp(env)
	where.clock = wallClock{}
	p := newProgram(strings.NewReader(""), &out, &errs, where)
	code = exitCode(p.run(args))
	return code, out.String(), errs.String()
}

// TestNoSecretsAnywhere walks against servers that are down, with passwords in both
// URLs, until the hold has lasted five minutes.
// https://github.com/redis/ioredis/issues/1796
func TestNoSecretsAnywhere(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		diagnostics := filepath.Join(dir, "diagnostics")
		code, out, errs := runHere(t, dir, "run", bundledBook, "--redis-lost", "--log-file", diagnostics,
			"--prometheus", "http://op:s3cr3t@127.0.0.1:1/prom", "--redis", "redis://op:s3cr3t@127.0.0.1:1")
		if code != exitHeld {
			t.Errorf("exit code %d", code)
		}
		for _, want := range []string{"rewarm: prometheus http://127.0.0.1:1/prom\n", "rewarm: error: held for 5m"} {
			if !strings.Contains(errs, want) {
				t.Errorf("stderr lacks %q:\n%s", want, errs)
			}
		}
		if !strings.Contains(out, "HOLD: ") || !strings.Contains(out, "next: rewarm resume ") {
			t.Errorf("stdout:\n%s", out)
		}
		if strings.Contains(out+errs, "s3cr3t") {
			t.Errorf("a password is on the screen:\n%s%s", out, errs)
		}
		time.Sleep(time.Minute) // virtual: lets the client's dials end
	})
	checkSecretFree(t, dir)
}

// checkSecretFree demands that no file below a directory holds a secret.
func checkSecretFree(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("s3cr3t")) {
			t.Errorf("%s holds a password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

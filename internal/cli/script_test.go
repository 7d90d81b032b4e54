package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a person waits for a line: far longer than it takes.
const patience = time.Minute

// TestMain lets this test binary be rewarm: scripts and tests with terminals and
// signals run it as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, programs)
}

// programs are what this test binary can be.
var programs = map[string]func(){
	"rewarm": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
}

func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "script")
}

// runScripts runs the scripts of a folder of testdata.
func runScripts(t *testing.T, folder string) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", folder),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			bundled, err := filepath.Abs(filepath.Join("..", "..", "templates", "runbooks", "hot-key-collapse.yaml"))
			env.Setenv("BUNDLED", bundled)
			short, err2 := filepath.Abs(filepath.Join("testdata", "books", "short.yaml"))
			env.Setenv("SHORT", short)
			err = errors.Join(err, err2)
			env.Setenv("ESC", "\x1b[2J\u009b31m\u202ex")
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":    scriptAwait,
			"code":     scriptCode,
			"lab":      scriptLab,
			"plain":    scriptPlain,
			"receiver": scriptReceiver,
			"redis":    scriptRedis,
			"replace":  scriptReplace,
		},
	})
}

// scriptCode runs a program and demands an exit code: code 3 rewarm lint book.yaml
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program argument...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptLab starts the lab on real ports and puts its addresses into PROMETHEUS and REDIS.
func scriptLab(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command("rewarm", append([]string{"lab", "serve"}, args...)...)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	for _, word := range strings.Fields(line) {
		if name, url, ok := strings.Cut(word, "="); ok {
			ts.Setenv(strings.ToUpper(name), url)
		}
	}
}

// scriptReceiver starts a server that appends what is posted to a file, a line each, and puts its address into RECEIVER.
func scriptReceiver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: receiver FILE")
	}
	file, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = file.Write(append(body, '\n'))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	ts.Defer(func() {
		server.Close()
		_ = file.Close()
	})
	ts.Setenv("RECEIVER", server.URL)
}

// scriptAwait waits until a file that a program writes has a line that matches:
// await FILE REGEXP
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	want := regexp.MustCompile("(?m)" + args[1])
	for deadline := time.Now().Add(patience); ; <-time.After(20 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		switch {
		case err == nil && want.Match(text):
			return
		case time.Now().After(deadline):
			ts.Fatalf("%s does not get %q:\n%s", args[0], args[1], text)
		}
	}
}

// scriptPlain demands that files hold nothing that a terminal would obey.
func scriptPlain(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		if i := strings.IndexFunc(text, hidden); i >= 0 {
			ts.Fatalf("%s holds %q at byte %d", name, text[i:min(len(text), i+8)], i)
		}
	}
}

// scriptReplace changes a file in place by a regular expression.
func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace REGEXP WITH FILE")
	}
	old := []byte(ts.ReadFile(args[2]))
	changed := regexp.MustCompile(args[0]).ReplaceAll(old, []byte(args[1]))
	if bytes.Equal(old, changed) {
		ts.Fatalf("%s: nothing matches %s", args[2], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), changed, 0o600))
}

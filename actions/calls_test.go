package actions

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

func call(t *testing.T, timeout time.Duration, args ...string) CallOutcome {
	t.Helper()
	return RunCall(t.Context(), testClock{}, runbook.Invocation{Args: args}, timeout)
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want CallOutcome
	}{
		{"fine", []string{"echo", "$HOME; thawed"}, CallOutcome{OK: true, Output: "$HOME; thawed"}},
		{"exit code", []string{"sh", "-c", "echo no >&2; exit 7"}, CallOutcome{Exit: 7, Output: "no", Err: `"sh" ended with exit status 7`}},
		{"missing", []string{"no-such-\x1bcommand"}, CallOutcome{Exit: -1, Err: `"no-such-\x1bcommand" could not be started: executable file not found in $PATH`}},
		{"escapes", []string{"printf", `\033[2J\200\tx\nPASS\r\342\200\256y`}, CallOutcome{OK: true, Output: "\\x1b[2J\\x80\\tx\nPASS\\r\\u202ey"}},
		{"reads nothing", []string{"cat"}, CallOutcome{OK: true}},
		{"nothing", nil, CallOutcome{Exit: -1, Err: "there is nothing to call"}},
	} {
		if got := call(t, time.Minute, c.args...); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestLongOutputIsCut(t *testing.T) {
	o := call(t, time.Minute, "sh", "-c", "yes | head -c 1000000")
	if !o.OK || len(o.Output) > mostOutput+20 || !strings.HasSuffix(o.Output, "… (cut)") {
		t.Errorf("%d bytes, %v", len(o.Output), o.Err)
	}
}

// https://github.com/rundeck/rundeck/issues/7541
func TestATimeoutKillsWhatTheCommandStarted(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "pid")
	o := call(t, 300*time.Millisecond, "sh", "-c", `sleep 600 & echo $! > "$0"; wait`, mark)
	if o.OK || !strings.Contains(o.Err, "not done after 300ms") {
		t.Errorf("outcome %+v", o)
	}
	pid, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for running(strings.TrimSpace(string(pid))) {
		if time.Now().After(deadline) {
			t.Fatalf("process %s is still there", pid)
		}
		time.Sleep(time.Millisecond)
	}
}

// running looks for a process that is neither gone nor only waiting to be buried.
func running(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// https://github.com/stephrobert/dsoxlab/issues/146
func TestAnInterruptEndsACommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(t.TempDir(), "started")
	go func() {
		defer cancel()
		for t.Context().Err() == nil { // a call that never starts fails the test by its own timeout
			if _, err := os.Stat(mark); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	inv := runbook.Invocation{Args: []string{"sh", "-c", `: > "$0"; sleep 600`, mark}}
	o := RunCall(ctx, testClock{}, inv, time.Minute)
	if o.OK || !strings.Contains(o.Err, "interrupted") {
		t.Errorf("outcome %+v", o)
	}
}

func TestServices(t *testing.T) {
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 100)
		n, _ := r.Body.Read(body)
		seen = append(seen, r.Method+" "+r.URL.String()+" "+string(body[:n]))
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/elsewhere":
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("<b>\x1b[31m</b>"))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	body := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(body, []byte(`{"freeze":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		inv  runbook.Invocation
		want CallOutcome
	}{
		{runbook.Invocation{URL: server.URL + "/f?token=hunter2", BodyFile: body}, CallOutcome{OK: true, Exit: -1, Status: 200, Output: `<b>\x1b[31m</b>`}},
		{runbook.Invocation{Method: "delete", URL: "http://u:hunter2@" + host + "/gone?token=hunter2"}, CallOutcome{Exit: -1, Status: 410, Output: `<b>\x1b[31m</b>`, Err: "DELETE http://" + host + "/gone?… answered 410"}},
		{runbook.Invocation{URL: server.URL + "/elsewhere"}, CallOutcome{Exit: -1, Status: 302, Err: "POST " + server.URL + "/elsewhere answered 302"}},
		{runbook.Invocation{URL: "http://u:hunter2@127.0.0.1:1/?token=hunter2"}, CallOutcome{Exit: -1, Err: "POST http://127.0.0.1:1/?… gave no answer: dial tcp 127.0.0.1:1: connect: connection refused"}},
		{runbook.Invocation{URL: "http://:hunter2\x7f@h/"}, CallOutcome{Exit: -1, Err: "the URL cannot be asked: net/url: invalid control character in URL"}},
		{runbook.Invocation{URL: server.URL, BodyFile: "/no/such"}, CallOutcome{Exit: -1, Err: "body_file cannot be read: open /no/such: no such file or directory"}},
	} {
		got := RunCall(t.Context(), testClock{}, c.inv, time.Minute)
		if got != c.want {
			t.Errorf("%+v\ngot  %+v\nwant %+v", c.inv, got, c.want)
		}
	}
	if len(seen) != 3 || seen[0] != `POST /f?token=hunter2 {"freeze":true}` {
		t.Errorf("seen %q", seen)
	}
}

func TestAServiceThatHangs(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	o := RunCall(t.Context(), testClock{}, runbook.Invocation{URL: server.URL}, 50*time.Millisecond)
	if o.OK || !strings.Contains(o.Err, "not known") {
		t.Errorf("outcome %+v", o)
	}
}

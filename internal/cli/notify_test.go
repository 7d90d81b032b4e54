package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/notify"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// told are receivers in memory, by host: one takes messages, one hangs, one refuses them.
type told struct {
	mu       sync.Mutex
	messages []notify.Message
}

func (o *told) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("ok"))}
	switch r.URL.Host {
	case "hangs.example":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case "refuses.example":
		answer.StatusCode = http.StatusForbidden
		answer.Body = io.NopCloser(strings.NewReader("no " + r.URL.Path + " for " + r.Header.Get("Authorization")))
	default:
		var m notify.Message
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		o.mu.Lock()
		o.messages = append(o.messages, m)
		o.mu.Unlock()
	}
	return answer, nil
}

func (o *told) events() []notify.Event {
	var list []notify.Event
	for _, m := range o.messages {
		list = append(list, m.Events...)
	}
	return list
}

const toldReceivers = `
receivers:
  - {name: bus, kind: webhook, url_file: bus-url}
  - {name: chat, kind: slack, url: https://hangs.example/services/s3cr3tHook}
  - {name: plots, kind: grafana, url: https://refuses.example/s3cr3tPath, token_env: PLOTS_TOKEN}
`

// tellFrom runs a command that tells these receivers.
func tellFrom(t *testing.T, dir string, to *told, args ...string) (code exitCode, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state"), "PLOTS_TOKEN": "s3cr3tToken"}
	var out, errs bytes.Buffer
	where := madeUp(env)
	where.clock, where.outside = wallClock{}, to
	p := newProgram(strings.NewReader(""), &out, &errs, where)
	code = exitCode(p.run(append(args, "--notify", filepath.Join(dir, "notify.yaml"), "--log-file", filepath.Join(dir, "diagnostics"))))
	return code, out.String(), errs.String()
}

// TestWalkTellsOthers walks and resumes against servers that are down. One receiver has every event once and can check
// the head; those that hang or refuse delay nothing and are named, without secrets.
func TestWalkTellsOthers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("notify.yaml", toldReceivers)
	write("bus-url", "https://bus.example/s3cr3tBus\n")
	to := &told{}
	var said string
	synctest.Test(t, func(t *testing.T) {
		for _, command := range [][]string{
			{"run", bundledBook, "--prometheus", "http://127.0.0.1:1", "--redis", "redis://127.0.0.1:1", "--redis-lost"},
			{"resume", "last"},
		} {
			code, out, errs := tellFrom(t, dir, to, command...)
			if code != exitHeld {
				t.Errorf("exit code %d: %s", code, errs)
			}
			said += out + errs
		}
		time.Sleep(time.Minute) // virtual: lets the client's dials end
	})
	for _, want := range []string{
		"rewarm: warning: receiver chat (slack at hangs.example) does not take messages: it does not answer within 5s\n",
		`rewarm: warning: receiver plots (grafana at refuses.example) does not take messages: it answers 403: "no [removed]/api/annotations for Bearer [removed]"` + "\n",
		"note by rewarm: receiver plots (grafana at refuses.example) does not take messages",
		" events of this walk did not reach receiver chat (slack at hangs.example): it does not answer within 5s\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it is not said: %q\n%s", want, said)
		}
	}
	checkTold(t, dir, to.events())
	checkSigned(t, dir, to.messages[len(to.messages)-1])
	for _, name := range []string{"diagnostics", "state"} {
		checkSecretFree(t, filepath.Join(dir, name))
	}
	if strings.Contains(said, "s3cr3t") {
		t.Errorf("a secret is said:\n%s", said)
	}
}

// TestLeavingAtOnceWaitsForNoReceiver: an end gives receivers their moment, who asks twice to stop does not wait for it.
func TestLeavingAtOnceWaitsForNoReceiver(t *testing.T) {
	hanging, err := notify.Parse("f", []byte("receivers: [{name: chat, kind: slack, url: 'https://hangs.example/x'}]"), notify.Secrets{})
	if err != nil {
		t.Fatal(err)
	}
	for hurried, want := range map[bool]time.Duration{false: notifyLast, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			where := madeUp(nil)
			where.clock, where.outside = wallClock{}, &told{}
			w := &walk{p: newProgram(strings.NewReader(""), io.Discard, io.Discard, where), doc: &runbook.Document{}, mail: &mailbox{},
				folder: runFolder{dir: t.TempDir()}, receivers: hanging, hurried: hurried}
			w.notifies("RUN")
			w.watchers[0].shown(audit.Record{Seq: 1, Kind: steps.KindStage}, &steps.StageBody{Stage: "observe"})
			began := time.Now()
			if err := w.close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("hurried %t: the end took %s", hurried, took)
			}
		})
	}
}

// checkTold demands every event once, in order, each at the position that the log has.
func checkTold(t *testing.T, dir string, events []notify.Event) {
	t.Helper()
	var kinds []notify.Kind
	heads := headsOf(t, dir)
	last := uint64(0)
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		if e.Seq <= last || e.Head != heads[e.Seq] {
			t.Errorf("event %d at %s comes behind %d; the log has %s", e.Seq, e.Head, last, heads[e.Seq])
		}
		last = e.Seq
	}
	for _, kind := range []notify.Kind{notify.Began, notify.Resumed, notify.Stage, notify.Hold, notify.Lifted} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("nobody is told of %s: %v", kind, kinds)
		}
	}
	if kinds[0] != notify.Began {
		t.Errorf("the first event is %s", kinds[0])
	}
}

func logsOf(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "state", "rewarm", "runs", "*", "audit.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs: %q %v", logs, err)
	}
	return logs[0]
}

// headsOf gives the position of every record of the only log.
func headsOf(t *testing.T, dir string) map[uint64]string {
	t.Helper()
	heads := map[uint64]string{}
	for record, err := range audit.Records(logsOf(t, dir)) {
		if err != nil {
			t.Fatal(err)
		}
		heads[record.Seq] = audit.Head{Seq: record.Seq, Hash: fmt.Sprintf("%x", sha256.Sum256(record.Line()))}.String()
	}
	return heads
}

// checkSigned demands that the head in a message is signed by this machine's key and fits the log.
func checkSigned(t *testing.T, dir string, m notify.Message) {
	t.Helper()
	key, err := audit.OpenKey(filepath.Join(dir, "state", "rewarm", "keys"), "any")
	if err != nil {
		t.Fatal(err)
	}
	head, err := audit.OpenHead([]byte(m.SignedHead), key.Verifier)
	if err != nil || head.Run != m.Run || head.String() != headsOf(t, dir)[head.Seq] {
		t.Errorf("the head %v in %q: %v", head, m.SignedHead, err)
	}
}

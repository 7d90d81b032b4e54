//go:build realservers

package actions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/runbook"
)

// realRedis is a redis-server of this test.
type realRedis struct {
	testServer
	addr    string
	dir     string
	args    []string
	process *os.Process
}

func startRedis(t *testing.T, args ...string) *realRedis {
	t.Helper()
	port := freeport.Take(t)
	r := &realRedis{addr: "127.0.0.1:" + port, dir: t.TempDir()}
	r.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", r.dir, "--save", "", "--appendonly", "no"}, args...)
	r.url = "redis://" + r.addr
	r.raw = redis.NewClient(&redis.Options{Addr: r.addr, Protocol: 2})
	t.Cleanup(func() { _ = r.raw.Close() })
	r.start(t)
	return r
}

func (r *realRedis) start(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("install Debian's redis-server")
	}
	cmd := exec.Command(path, r.args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.process = cmd.Process
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		<-ended
	})
	eventually(t, func() error {
		conn, err := net.Dial("tcp", r.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

func (r *realRedis) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := r.process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until there is no error any more.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestStoreOnRedis(t *testing.T) {
	r := startRedis(t)
	testStore(t, func(t *testing.T) testServer {
		r.do(t, "flushall")
		r.do(t, "script", "flush")
		return r.testServer
	})
}

// openReal opens a store and takes the command with a plan ready.
func openReal(t *testing.T, r *realRedis, timeout time.Duration) (*Store, Lease, Plan) {
	t.Helper()
	s := openStore(t, r.url, nil, timeout)
	return s, take(t, s, ana), plan(t, s, admission, number(3200))
}

func TestPassword(t *testing.T) {
	r := startRedis(t, "--requirepass", "open sesame")
	s := openStore(t, r.url, nil, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, NoAuth)
	s = openStore(t, "redis://:wrong%20sesame@"+r.addr, nil, 0)
	o := wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, WrongPass)
	if strings.Contains(o.Sentence, "sesame") {
		t.Errorf("sentence %q", o.Sentence)
	}
	s = openStore(t, "redis://:open%20sesame@"+r.addr, nil, 0)
	wantOutcome(t, s.Apply(t.Context(), take(t, s, ana), somePlan, stamp), Applied, "")
}

func TestReplica(t *testing.T) {
	master := startRedis(t)
	_, port, _ := net.SplitHostPort(master.addr)
	r := startRedis(t, "--replicaof", "127.0.0.1 "+port)
	s := openStore(t, r.url, nil, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, CommandLost)
	if _, err := s.Take(t.Context(), ana); fail(peer{}, err).Cause != ReadOnly {
		t.Errorf("take on a replica: %v", err)
	}
	if err := s.Check(t.Context()); fail(peer{}, err).Cause != ReadOnly {
		t.Errorf("check on a replica: %v", err)
	}
	read(t, s, admission)
	if id, err := s.Identity(t.Context()); err != nil || !strings.Contains(id, "slave") {
		t.Errorf("%q, %v", id, err)
	}
	// Promoted, it serves over the same store.
	r.do(t, "replicaof", "no", "one")
	wantOutcome(t, s.Apply(t.Context(), take(t, s, ana), somePlan, stamp), Applied, "")
}

// https://github.com/redis/redis/issues/9926
// https://github.com/valkey-io/valkey/issues/1330
func TestOutOfMemory(t *testing.T) {
	r := startRedis(t, "--maxmemory-policy", "noeviction")
	s, l, p := openReal(t, r, 0)
	r.do(t, "config", "set", "maxmemory", "1")
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, OutOfMemory)
	if err := s.Check(t.Context()); fail(peer{}, err).Cause != OutOfMemory {
		t.Errorf("check: %v", err)
	}
	wantOutcome(t, s.Settle(t.Context(), l, p), Unknown, OutOfMemory)
	if read(t, s, admission).Raw != nil || r.do(t, "exists", "rewarm:{catalog}:version") != int64(0) {
		t.Error("a refused flip left something behind")
	}
	r.do(t, "config", "set", "maxmemory", "0")
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
}

// https://github.com/redis/redis/issues/9913
func TestSnapshotsFail(t *testing.T) {
	r := startRedis(t, "--save", "3600 1")
	s, l, p := openReal(t, r, 0)
	// A directory in the place of the dump makes the snapshot fail, also for root.
	if err := os.MkdirAll(filepath.Join(r.dir, "dump.rdb", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.do(t, "bgsave")
	eventually(t, func() error {
		if info := fmt.Sprint(r.do(t, "info", "persistence")); !strings.Contains(info, "rdb_last_bgsave_status:err") {
			return fmt.Errorf("the snapshot has not failed: %s", info)
		}
		return nil
	})
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, Misconf)
	if err := s.Check(t.Context()); fail(peer{}, err).Cause != Misconf {
		t.Errorf("check: %v", err)
	}
}

// https://github.com/redis/redis/issues/13483
func TestTooFewReplicas(t *testing.T) {
	r := startRedis(t)
	s, l, p := openReal(t, r, 0)
	r.do(t, "config", "set", "min-replicas-to-write", "1")
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, NoReplicas)
	if r.do(t, "exists", "rewarm:{catalog}:version") != int64(0) {
		t.Error("a refused flip left something behind")
	}
}

// allow makes a user with these rights and the password pass.
func (r *realRedis) allow(t *testing.T, user, rights string) {
	t.Helper()
	args := []any{"acl", "setuser", user, "on", ">pass"}
	for _, right := range strings.Fields(rights) {
		args = append(args, right)
	}
	r.do(t, args...)
	r.url = "redis://" + user + ":pass@" + r.addr
}

func TestLeastRights(t *testing.T) {
	r := startRedis(t)
	r.allow(t, "rewarm", leastRights)
	s, l, p := openReal(t, r, 0)
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, nil), stamp), Applied, "")
	wantOutcome(t, s.Settle(t.Context(), l, p), Refused, NotApplied)
	if _, err := s.Renew(t.Context(), take(t, s, ana), []string{"origin.admission"}); err != nil {
		t.Error(err)
	}
	if err := s.Mirror(t.Context(), runA, [][]byte{[]byte("{}")}); err != nil {
		t.Error(err)
	}
	if id, err := s.Identity(t.Context()); err != nil {
		t.Errorf("%q, %v", id, err)
	}
	for _, denied := range []string{"xadd", "hset", "incr", "evalsha"} {
		r.do(t, "acl", "setuser", "rewarm", "-"+denied)
		if err := s.Check(t.Context()); fail(peer{}, err).Cause != NoPerm {
			t.Errorf("check without %s: %v", denied, err)
		}
		r.do(t, "acl", "setuser", "rewarm", "+"+denied)
	}
	r.do(t, "acl", "setuser", "rewarm", "resetkeys", "~other:*")
	if err := s.Check(t.Context()); fail(peer{}, err).Cause != NoPerm {
		t.Errorf("check without keys: %v", err)
	}
}

func TestLookersRights(t *testing.T) {
	r := startRedis(t)
	setup, l, p := openReal(t, r, 0)
	wantOutcome(t, setup.Apply(t.Context(), l, p, stamp), Applied, "")
	r.allow(t, "looker", lookRights)
	s := openStore(t, r.url, nil, 0)
	if got, err := s.Survey(t.Context()); err != nil || len(got.Controls) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Changes(t.Context(), 10); err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.AwaitChanges(t.Context(), "0-0"); err != nil {
		t.Error(err)
	}
	if _, err := s.Begun(t.Context(), runA); err != nil {
		t.Error(err)
	}
	if _, err := s.Take(t.Context(), ana); fail(peer{}, err).Cause != NoPerm {
		t.Errorf("a looker took the command: %v", err)
	}
}

// A stream that cannot be appended to does not undo a brake.
func TestFlipWithoutTheRightToAppend(t *testing.T) {
	r := startRedis(t)
	r.allow(t, "rewarm", leastRights+" -xadd")
	s, l, p := openReal(t, r, 0)
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if !strings.Contains(o.Hint, "stream of changes") {
		t.Errorf("hint %q", o.Hint)
	}
}

func TestRestartInBetween(t *testing.T) {
	r := startRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s, l, p := openReal(t, r, 0)
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	_ = r.raw.Shutdown(t.Context()).Err()
	eventually(t, func() error {
		if o := s.Apply(t.Context(), l, p, stamp); o.Result != NotSent {
			return fmt.Errorf("outcome %s: %s", o.Result, o.Sentence)
		}
		return nil
	})
	r.start(t)
	eventually(t, func() error {
		if o := s.Apply(t.Context(), l, p, stamp); o.Result != Applied {
			return fmt.Errorf("outcome %s: %s", o.Result, o.Sentence)
		}
		return nil
	})
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(1600)), stamp), Applied, "")
}

// https://github.com/redis/redis/issues/6062
func TestAStoppedServer(t *testing.T) {
	r := startRedis(t)
	s, l, p := openReal(t, r, 300*time.Millisecond)
	r.signal(t, syscall.SIGSTOP)
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), NotSent, Unreachable)
	r.signal(t, syscall.SIGCONT)
	eventually(t, func() error { _, err := s.Read(t.Context(), []*runbook.Control{admission}); return err })
	if raw := read(t, s, admission).Raw; raw != nil {
		t.Errorf("it was written after all: %s", *raw)
	}
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
}

// stopper dials through a proxy that holds the first script back, as a server
// does that stops between the greeting and the work.
type stopper struct {
	addr string
	held chan []byte
}

func (d *stopper) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.addr)
	return &stoppedConn{Conn: conn, to: d}, err
}

type stoppedConn struct {
	net.Conn
	to *stopper
}

func (c *stoppedConn) Write(p []byte) (int, error) {
	if c.to.held == nil || !strings.Contains(string(p), applyScript.sha) {
		return c.Conn.Write(p)
	}
	c.to.held <- append([]byte(nil), p...)
	c.to.held = nil
	return len(p), nil
}

func TestALateWriteIsRefusedAfterSettling(t *testing.T) {
	r := startRedis(t)
	setup, l, p := openReal(t, r, 0)
	wantOutcome(t, setup.Apply(t.Context(), l, plan(t, setup, bypass, &bypass.Steady), stamp), Applied, "") // Redis knows the script
	held := make(chan []byte, 1)
	d := &stopper{addr: r.addr, held: held}
	s := openStore(t, r.url, d.dial, 300*time.Millisecond)
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Unknown, NoAnswer)
	o := wantOutcome(t, setup.Settle(t.Context(), l, p), Refused, NotApplied)
	if late := sendRaw(t, r.addr, <-held); !strings.Contains(late, "commanded") {
		t.Errorf("the late write was answered %q", late)
	}
	if raw := read(t, setup, admission).Raw; raw != nil {
		t.Errorf("the late write was done: %s", *raw)
	}
	wantOutcome(t, setup.Apply(t.Context(), *o.Lease, p, stamp), Applied, "")
}

func TestALateWriteIsFoundBySettling(t *testing.T) {
	r := startRedis(t)
	setup, l, p := openReal(t, r, 0)
	wantOutcome(t, setup.Apply(t.Context(), l, plan(t, setup, bypass, &bypass.Steady), stamp), Applied, "")
	held := make(chan []byte, 1)
	d := &stopper{addr: r.addr, held: held}
	s := openStore(t, r.url, d.dial, 300*time.Millisecond)
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Unknown, NoAnswer)
	if late := sendRaw(t, r.addr, <-held); !strings.Contains(late, "applied") {
		t.Errorf("the late write was answered %q", late)
	}
	wantOutcome(t, setup.Settle(t.Context(), l, p), Applied, "")
}

func sendRaw(t *testing.T, addr string, request []byte) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// startClusterNode gives the bus a free port too: the usual one, 10,000 above the
// node's, may be higher than ports go.
func startClusterNode(t *testing.T) *realRedis {
	t.Helper()
	return startRedis(t, "--cluster-enabled", "yes", "--cluster-port", freeport.Take(t))
}

func (r *realRedis) option(name string) string {
	return r.args[slices.Index(r.args, "--"+name)+1]
}

func TestClusterOfTwo(t *testing.T) {
	a, b := startClusterNode(t), startClusterNode(t)
	slot := a.do(t, "cluster", "keyslot", "rewarm:{catalog}:controls").(int64)
	a.do(t, "cluster", "addslotsrange", "0", slot-1)
	b.do(t, "cluster", "addslotsrange", slot, "16383")
	a.do(t, "cluster", "meet", "127.0.0.1", b.option("port"), b.option("cluster-port"))
	for _, r := range []*realRedis{a, b} {
		eventually(t, func() error {
			if info := fmt.Sprint(r.do(t, "cluster", "info")); !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_known_nodes:2") {
				return errors.New(info)
			}
			return nil
		})
	}
	s := openStore(t, a.url, nil, 0) // the wrong node
	l := take(t, s, ana)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	obeys(t, realReader(t, a.url), "3200")

	// The slot moves to the other node: in between some keys are here and some there.
	aID, bID := a.do(t, "cluster", "myid"), b.do(t, "cluster", "myid")
	a.do(t, "cluster", "setslot", slot, "importing", bID)
	b.do(t, "cluster", "setslot", slot, "migrating", aID)
	b.do(t, "migrate", "127.0.0.1", a.option("port"), "rewarm:{catalog}:version", 0, 5000)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(1600)), stamp), Refused, TryAgain)
	for _, key := range []string{"controls", "meta", "changes", "commander", "fence"} {
		b.do(t, "migrate", "127.0.0.1", a.option("port"), "rewarm:{catalog}:"+key, 0, 5000)
	}
	p := NewPlan(runA, "a-step", admission, Live{Raw: ptr("3200"), Value: *number(3200)}, number(1600))
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "") // by ASK
	for _, r := range []*realRedis{a, b} {
		r.do(t, "cluster", "setslot", slot, "node", aID)
	}
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(800)), stamp), Applied, "") // by MOVED
}

func TestClusterOfOne(t *testing.T) {
	r := startClusterNode(t)
	s := openStore(t, r.url+"?cluster=true", nil, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, ClusterDown)
	r.do(t, "cluster", "addslotsrange", "0", "16383")
	eventually(t, func() error { _, err := s.Take(t.Context(), ana); return err })
	l := take(t, s, ana)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	if err := s.Mirror(t.Context(), runA, [][]byte{[]byte("{}")}); err != nil {
		t.Error(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTLSAgainstAPlainPort(t *testing.T) {
	r := startRedis(t)
	s := openStore(t, "rediss://"+r.addr, nil, 500*time.Millisecond)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, Unreachable)
}

// realReader reads the catalog's controls and runs until the test ends.
func realReader(t *testing.T, url string) *controls.Reader {
	t.Helper()
	reader, err := controls.NewReader(controls.ReaderOptions{
		Service: "catalog", URL: url, Now: time.Now,
		Fallback: map[string]string{"origin.admission": "1600"},
		Absent:   map[string]string{"origin.admission": controls.Unlimited, "prewarm.rate": "0"},
		DeadMan:  map[string]string{"prewarm.rate": "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- reader.Run(ctx, testClock{}) }()
	t.Cleanup(func() { cancel(); <-ended; _ = reader.Close() })
	return reader
}

func obeys(t *testing.T, reader *controls.Reader, want string) {
	t.Helper()
	eventually(t, func() error {
		if got, _ := reader.Get("origin.admission"); got != want {
			return fmt.Errorf("the reader obeys %q and not %q", got, want)
		}
		return nil
	})
}

func TestReaderOnRedis(t *testing.T) {
	r := startRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s, l, p := openReal(t, r, 0)
	r.allow(t, "catalog", readerRights)
	reader := realReader(t, r.url)
	obeys(t, reader, controls.Unlimited)
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	obeys(t, reader, "3200")
	if reader.Version() != o.Version {
		t.Errorf("version %d and not %d", reader.Version(), o.Version)
	}
	r.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "800")
	obeys(t, reader, "800")

	_ = r.raw.Shutdown(t.Context()).Err()
	eventually(t, func() error {
		if reader.Refresh(t.Context()) == nil {
			return errors.New("redis is still there")
		}
		return nil
	})
	obeys(t, reader, "800")
	late := realReader(t, r.url)
	obeys(t, late, "1600")
	r.start(t) // without the user: ACLs are not in the append-only file
	r.allow(t, "catalog", readerRights)
	obeys(t, late, "800")
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(400)), stamp), Applied, "")
	obeys(t, reader, "400")
}

// The few lines of docs/controls.md for other languages, as they stand there.
func TestTheShellReaderOfThePage(t *testing.T) {
	r := startRedis(t)
	_, script, found := strings.Cut(controlsPage(t), "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	if !found {
		t.Fatal("docs/controls.md has no shell function")
	}
	cmd := exec.Command("sh", "-c", script+"\nwhile read -r _; do admission; done")
	cmd.Env = append(os.Environ(), "CONTROLS_REDIS="+r.url)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewReader(out)
	ask := func(want string) {
		t.Helper()
		_, _ = in.Write([]byte("\n"))
		if got, err := lines.ReadString('\n'); strings.TrimSpace(got) != want || err != nil {
			t.Errorf("admission is %q, %v, and not %s", got, err, want)
		}
	}
	key := "rewarm:{catalog}:controls"
	ask(controls.Unlimited)
	r.do(t, "hset", key, "origin.admission", "3200")
	ask("3200")
	r.do(t, "hset", key, "origin.admission", "3,200")
	ask("3200")
	r.do(t, "flushall") // it has come back empty
	ask("3200")
	r.do(t, "set", "rewarm:{catalog}:version", "8")
	ask(controls.Unlimited)
	r.do(t, "hset", key, "origin.admission", "400")
	ask("400")
	_ = r.raw.Shutdown(t.Context()).Err()
	ask("400")
}

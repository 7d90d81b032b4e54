//go:build realservers

package steps

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/freeport"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

var failovers = flag.Int("failovers", 2, "how often each Redis fails over")

// node is a redis-server of a test, a sentinel among them.
type node struct {
	name, port string
	dir        string
	args       []string
	process    *os.Process
	client     *redis.Client
}

// replicator is the user as whom replicas follow their master: taking away its rights cuts
// them off, so that what the master takes from then on is surely lost.
const replicator = "replicator"

func startNode(t *testing.T, name string, args ...string) *node {
	t.Helper()
	n := &node{name: name, port: freeport.Take(t), dir: t.TempDir(), args: args}
	n.client = redis.NewClient(&redis.Options{Addr: n.addr(), Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialTimeout: time.Second, ReadTimeout: time.Second})
	t.Cleanup(func() { _ = n.client.Close() })
	n.start(t)
	return n
}

func (n *node) addr() string { return "127.0.0.1:" + n.port }

func (n *node) start(t *testing.T, more ...string) {
	t.Helper()
	args := append([]string{}, n.args...)
	if !slices.Contains(args, "--sentinel") {
		args = append(args, "--port", n.port, "--bind", "127.0.0.1", "--dir", n.dir, "--save", "", "--appendonly", "no",
			"--repl-diskless-sync-delay", "0", "--masteruser", replicator, "--masterauth", "pass")
	}
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("install Debian's redis-server")
	}
	cmd := exec.Command(path, append(args, more...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.process = cmd.Process
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	until(t, n.name+" answers", func() error { return n.client.Ping(t.Context()).Err() })
	if !slices.Contains(args, "--sentinel") {
		n.do(t, "acl", "setuser", replicator, "on", ">pass", "+psync", "+replconf", "+ping")
	}
}

func (n *node) do(t *testing.T, args ...any) any {
	t.Helper()
	answer, err := n.client.Do(t.Context(), args...).Result()
	if err != nil {
		t.Fatalf("%s: %v: %v", n.name, args, err)
	}
	return answer
}

// patience is for a machine that has much else to do.
const patience = time.Minute

// until polls until there is no error any more.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// fleet is a Redis that fails over.
type fleet interface {
	url() string
	master(t *testing.T) *node
	// ask has the master replaced in order.
	ask(t *testing.T, master *node)
	// rejoin brings a node back that was killed.
	rejoin(t *testing.T, dead, master *node)
	// whole waits until every replica follows.
	whole(t *testing.T)
}

// The sentinels' fleet: three servers and three sentinels.
type watched struct{ nodes, sentinels []*node }

func startWatched(t *testing.T) *watched {
	w := &watched{nodes: []*node{startNode(t, "server 1")}}
	for i := range 2 {
		w.nodes = append(w.nodes, startNode(t, fmt.Sprintf("server %d", i+2), "--replicaof", "127.0.0.1 "+w.nodes[0].port))
	}
	for i := range 3 {
		w.sentinels = append(w.sentinels, startSentinel(t, fmt.Sprintf("sentinel %d", i+1), w.nodes[0].port))
	}
	for _, s := range w.sentinels {
		until(t, s.name+" knows the others", func() error {
			master := fmt.Sprint(s.do(t, "sentinel", "master", "rewarm"))
			if !strings.Contains(master, "num-slaves 2") || !strings.Contains(master, "num-other-sentinels 2") {
				return errors.New(master)
			}
			return nil
		})
	}
	return w
}

func startSentinel(t *testing.T, name, master string) *node {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	port := freeport.Take(t)
	text := "port " + port + "\nbind 127.0.0.1\ndir " + filepath.Dir(file) + "\nsentinel monitor rewarm 127.0.0.1 " + master + " 2\n" +
		"sentinel down-after-milliseconds rewarm 1500\nsentinel failover-timeout rewarm 10000\nlogfile " + filepath.Join(filepath.Dir(file), "log") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "log")); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, text)
		}
	})
	n := &node{name: name, port: port, args: []string{file, "--sentinel"}}
	n.client = redis.NewClient(&redis.Options{Addr: n.addr(), Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = n.client.Close() })
	n.start(t)
	return n
}

func (w *watched) url() string {
	return "redis://" + w.sentinels[0].addr() + "?master_name=rewarm&addr=" + w.sentinels[1].addr() + "&addr=" + w.sentinels[2].addr()
}

func (w *watched) master(t *testing.T) *node {
	t.Helper()
	var found *node
	until(t, "the sentinels agree on a master", func() error {
		ports := map[string]bool{}
		for _, s := range w.sentinels {
			ports[fmt.Sprint(s.do(t, "sentinel", "get-master-addr-by-name", "rewarm"))] = true
		}
		for _, n := range w.nodes {
			if len(ports) == 1 && ports["[127.0.0.1 "+n.port+"]"] && strings.Contains(fmt.Sprint(n.client.Do(t.Context(), "role").Val()), "[master") {
				found = n
				return nil
			}
		}
		return fmt.Errorf("%v", ports)
	})
	return found
}

func (w *watched) ask(t *testing.T, master *node) {
	until(t, "a sentinel fails over", func() error {
		return w.sentinels[0].client.Do(t.Context(), "sentinel", "failover", "rewarm").Err()
	})
	// The sentinels tell the old master ten seconds later. Until then it takes writes.
	now := otherMaster(t, w, master)
	master.do(t, "replicaof", "127.0.0.1", now.port)
}

func (w *watched) rejoin(t *testing.T, dead, master *node) {
	dead.start(t, "--replicaof", "127.0.0.1 "+master.port)
}

func (w *watched) whole(t *testing.T) {
	until(t, "both replicas follow", func() error { return following(t, w.master(t), 2) })
	// A sentinel whose promoted server dies before its failover has ended never ends it.
	for _, s := range w.sentinels {
		until(t, s.name+" is at rest", func() error {
			if master := fmt.Sprint(s.do(t, "sentinel", "master", "rewarm")); !strings.Contains(master, " flags master link") {
				return errors.New(master)
			}
			return nil
		})
	}
}

func following(t *testing.T, master *node, replicas int) error {
	info, err := master.client.Info(t.Context(), "replication").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, fmt.Sprintf("connected_slaves:%d", replicas)) || strings.Count(info, "state=online") < replicas {
		return errors.New(info)
	}
	return nil
}

// The cluster's fleet: three masters with a replica each.
type clustered struct{ nodes []*node }

func startClustered(t *testing.T) *clustered {
	c := &clustered{}
	for i := range 6 {
		c.nodes = append(c.nodes, startNode(t, fmt.Sprintf("node %d", i+1), "--cluster-enabled", "yes", "--cluster-port", freeport.Take(t),
			"--cluster-node-timeout", "700", "--cluster-allow-replica-migration", "no"))
	}
	for i, n := range c.nodes[:3] {
		n.do(t, "cluster", "addslotsrange", i*16384/3, (i+1)*16384/3-1)
	}
	first := c.nodes[0]
	for i, n := range c.nodes {
		n.do(t, "cluster", "set-config-epoch", i+1)
		if n != first {
			first.do(t, "cluster", "meet", "127.0.0.1", n.port, n.args[slices.Index(n.args, "--cluster-port")+1])
		}
	}
	c.wait(t, "cluster_known_nodes:6")
	for i, n := range c.nodes[3:] {
		n.do(t, "cluster", "replicate", c.nodes[i].do(t, "cluster", "myid"))
	}
	c.wait(t, "cluster_state:ok")
	c.whole(t)
	return c
}

func (c *clustered) wait(t *testing.T, wanted string) {
	for _, n := range c.nodes {
		until(t, n.name+" has "+wanted, func() error {
			if info := fmt.Sprint(n.client.Do(t.Context(), "cluster", "info").Val()); !strings.Contains(info, wanted) {
				return errors.New(info)
			}
			return nil
		})
	}
}

func (c *clustered) url() string {
	text := "redis://" + c.nodes[0].addr() + "?cluster=true"
	for _, n := range c.nodes[1:] {
		text += "&addr=" + n.addr()
	}
	return text
}

// master is the node that has the service's slot, and says so to whoever asks it.
func (c *clustered) master(t *testing.T) *node {
	t.Helper()
	var found *node
	until(t, "a node has the slot", func() error {
		for _, n := range c.nodes {
			if err := n.client.HGetAll(t.Context(), controls.Keys(serviceName).Controls).Err(); err == nil {
				found = n
				return nil
			}
		}
		return errors.New("none")
	})
	return found
}

func (c *clustered) replica(t *testing.T, master *node) *node {
	id := fmt.Sprint(master.do(t, "cluster", "myid"))
	for _, n := range c.nodes {
		if strings.Contains(fmt.Sprint(n.client.Do(t.Context(), "cluster", "nodes").Val()), "myself,slave "+id) {
			return n
		}
	}
	t.Fatalf("%s has no replica", master.name)
	return nil
}

func (c *clustered) ask(t *testing.T, master *node) {
	replica := c.replica(t, master)
	until(t, "the replica takes over", func() error {
		if err := replica.client.Do(t.Context(), "cluster", "failover").Err(); err != nil {
			return err
		}
		// A failover in order gives up after five seconds, and is then asked for again.
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if strings.Contains(fmt.Sprint(replica.client.Do(t.Context(), "role").Val()), "[master") {
				return nil
			}
		}
		return errors.New("it has not")
	})
}

func (c *clustered) rejoin(t *testing.T, dead, _ *node) { dead.start(t) }

func (c *clustered) whole(t *testing.T) {
	until(t, "the replica follows", func() error { return following(t, c.master(t), 1) })
	c.wait(t, "cluster_state:ok")
}

// green answers every probe with zero, and says what a real reader obeys.
type green struct{ reader *controls.Reader }

func (g green) Poll(_ context.Context, _ *runbook.Document, asks []probes.Ask, version int64) probes.Observation {
	at := time.Now()
	o := probes.Observation{At: at}
	for _, ask := range asks {
		a := probes.Answer{Ask: ask, At: at, Oldest: at, Stalest: at, Newest: []time.Time{at}}
		a.SetReadings([]probes.Reading{probes.NewReading("{}", 0)})
		o.Answers = append(o.Answers, a)
	}
	if version > 0 {
		o.Propagation = &probes.Propagation{Version: version, Reported: true, Processes: 1}
		if g.reader.Version() >= version {
			o.Propagation.Obeying, o.Propagation.Oldest = 1, at
		}
	}
	return o
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Wait(ctx context.Context, until time.Time) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (realClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// busy is a walk of many quick flips: brakes, two ladders and a restore.
const busy = `
defaults: {every: 100ms, passes: 1, timeout: 60s, stale_after: 5s, approval: {protect: none, release: one}}
controls:
  admission: {kind: rate, unit: attempts/s, min: 100, max: 10000, absent: unlimited, steady: 3200, protects: lower}
  jobs: {kind: switch, absent: on, steady: on, protects: off}
  stale: {kind: duration, max: 120s, absent: 10s, steady: 10s, protects: higher, back: [60s, 30s]}
  routing: {kind: percent, absent: 100, steady: 100, protects: lower}
exit: {intervals: 1, interval: 200ms, when: [{probe: demand, at_most: 2000}]}
stages:
  protect-origin:
    - step: admission
      flip: {control: admission, to: 1600}
      expect: [{probe: demand, at_most: 2000}]
      settle: 300ms
    - step: jobs
      flip: {control: jobs, to: off}
      settle: 300ms
    - step: route
      flip: {control: routing, to: 0%}
      settle: 300ms
  preserve-stale:
    - step: stale
      flip: {control: stale, to: 120s}
      settle: 300ms
  expand:
    - step: back
      when: [{probe: queue, at_most: 500ms}]
      flip: {control: routing, through: [10%, 20%, 30%, 40%, 50%, 60%, 70%, 80%, 90%, 100%]}
      expect: [{probe: queue, at_most: 500ms}]
      settle: 300ms
  restore:
    - step: lift
      restore: {order: [stale]}
      when: [{probe: queue, at_most: 500ms}]
      expect: [{probe: queue, at_most: 500ms}]
      settle: 300ms
`

// steadyValues are what Redis holds after such a walk.
var steadyValues = map[string]string{"admission": "3200", "jobs": "on", "stale": "10", "routing": "100"}

// driven is a driver of one walk after another, and what their logs say.
type driven struct {
	t        *testing.T
	doc      *runbook.Document
	store    *actions.Store
	reader   *controls.Reader
	journals []*memoryJournal
}

// walkUntil walks until it is told to stop, and the last walk to its end.
func (d *driven) walkUntil(stop <-chan struct{}) error {
	for n := 1; ; n++ {
		if err := d.walk(fmt.Sprintf("20261129T100800Z-test-%04x", n)); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// longestWalk bounds a walk: a hold that only a person lifts would last for ever. One that loses every
// other flip on a busy machine takes more than a minute.
const longestWalk = 5 * time.Minute

func (d *driven) walk(run string) error {
	j := &memoryJournal{now: time.Now}
	d.journals = append(d.journals, j)
	m := New(Config{Doc: d.doc, Journal: j, Prober: green{d.reader}, Controls: d.store, Clock: realClock{},
		Begun:  Begun{Run: run, File: "test.yaml", Approve: Auto, Version: "test", Host: "ops-1", PID: 1, User: "ana"},
		Holder: actions.Holder{Run: run, Actor: "ana", Host: "ops-1"}})
	for end := time.Now().Add(longestWalk); ; {
		err := m.Begin(d.t.Context())
		if err == nil {
			break
		}
		// The lease of a walk that has ended may have come back with a failover: it is over soon.
		var commanded *actions.Commanded
		if !errors.As(err, &commanded) || time.Now().After(end) {
			return fmt.Errorf("begin %s: %w", run, err)
		}
		_ = realClock{}.Wait(d.t.Context(), time.Now().Add(200*time.Millisecond))
	}
	for end := time.Now().Add(longestWalk); ; {
		move, err := m.Step(d.t.Context())
		switch v := move.(type) {
		case Stop:
			if v.Ending != EndedClosed {
				return fmt.Errorf("%s has ended %s", run, v.Ending)
			}
			return nil
		case Wait:
			_ = realClock{}.Wait(d.t.Context(), v.Until)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", run, err)
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not come to its end: %s", run, m.State().Blocking(time.Now()))
		}
	}
}

// story is all that the logs say about a control.
func (d *driven) story(control string) string {
	var b strings.Builder
	for _, j := range d.journals {
		for _, r := range j.records {
			if strings.Contains(string(r.Body), `"`+control+`"`) && r.Kind != KindBegun {
				fmt.Fprintf(&b, "%s %s %.600s\n", r.At.Format("05.000"), r.Kind, r.Body)
			}
		}
	}
	return b.String()
}

// lastWords are what the last walk has waited for, and its latest records but for polls.
func (d *driven) lastWords() string {
	j := d.journals[len(d.journals)-1]
	s, err := Fold(j.all())
	if err != nil {
		return err.Error()
	}
	const most = 20
	var told []string
	for _, r := range j.records {
		if r.Kind != KindObserved && r.Kind != KindBegun {
			told = append(told, fmt.Sprintf("%s %s %.600s", r.At.Format(time.TimeOnly), r.Kind, r.Body))
		}
	}
	told = told[max(0, len(told)-most):]
	return fmt.Sprintf("%s waits for %s\n%s", s.LastAt.Format(time.TimeOnly), s.Blocking(s.LastAt), strings.Join(told, "\n"))
}

// told is what the logs say about one plan or one loss.
type told struct {
	acknowledged map[flipKey]audit.Record // the flips that were applied
	lost         []lostRecord
	flips        int
	unknown      int
}

// flipKey is one flip: a plan that was lost and made again has another version.
type flipKey struct {
	digest  string
	version int64
}

type lostRecord struct {
	at      time.Time
	control string
}

func (d *driven) read() told {
	logs := told{acknowledged: map[flipKey]audit.Record{}}
	for _, j := range d.journals {
		for _, r := range j.records {
			body, err := DecodeBody(r.Kind, r.Body)
			if err != nil {
				d.t.Fatal(err)
			}
			logs.take(r, body)
		}
	}
	return logs
}

func (l *told) take(r audit.Record, body any) {
	switch b := body.(type) {
	case *Settled:
		switch b.Result {
		case ResultApplied:
			l.acknowledged[flipKey{b.Digest, b.Version}] = r
			l.flips++
		case ResultUnknown:
			l.unknown++
		}
	case *Drifted:
		if b.Decision == DriftLost || b.Decision == DriftReverted {
			l.lost = append(l.lost, lostRecord{r.At, b.Control})
		}
	}
}

// loss is a flip that a master had taken and its successor had not.
type loss struct {
	meta          controls.Meta
	control       string
	before, after string // the value in the old master, and in the new one

}

// holdings are what a node holds of the service.
func holdings(t *testing.T, n *node) (values map[string]string, metas map[string]controls.Meta, err error) {
	keys := controls.Keys(serviceName)
	values, err = n.client.HGetAll(t.Context(), keys.Controls).Result()
	if err != nil {
		return nil, nil, err
	}
	raw, err := n.client.HGetAll(t.Context(), keys.Meta).Result()
	metas = map[string]controls.Meta{}
	for control, text := range raw {
		if metas[control], err = controls.ParseMeta(text); err != nil {
			return nil, nil, err
		}
	}
	return values, metas, err
}

// killed kills the master while its replicas are cut off, and gives what was lost.
func killed(t *testing.T, f fleet, master *node) (lost []loss) {
	t.Helper()
	changes := controls.Keys(serviceName).Changes
	master.do(t, "acl", "setuser", replicator, "-psync", "-replconf")
	master.do(t, "client", "kill", "type", "replica")
	seen := master.do(t, "xlen", changes).(int64)
	until(t, "the master takes a flip that no replica has", func() error {
		if n := master.do(t, "xlen", changes).(int64); n == seen {
			return fmt.Errorf("%d flips", n)
		}
		return nil
	})
	values, metas, err := holdings(t, master)
	if err != nil {
		t.Fatal(err)
	}
	if err := master.process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	promoted := otherMaster(t, f, master)
	now, known, err := holdings(t, promoted)
	if err != nil {
		t.Fatal(err)
	}
	for control, meta := range metas {
		if meta.Version > known[control].Version {
			lost = append(lost, loss{meta: meta, control: control, before: values[control], after: now[control]})
		}
	}
	f.rejoin(t, master, promoted)
	return lost
}

func otherMaster(t *testing.T, f fleet, old *node) *node {
	t.Helper()
	var now *node
	until(t, "another master", func() error {
		if now = f.master(t); now == old {
			return errors.New("it is still " + old.name)
		}
		return nil
	})
	return now
}

func TestRealFailoversOfSentinel(t *testing.T) {
	t.Parallel()
	failOver(t, startWatched(t))
}

func TestRealFailoversOfCluster(t *testing.T) {
	t.Parallel()
	failOver(t, startClustered(t))
}

// failOver lets a Redis fail over, every other time by a kill that surely loses something,
// while walks flip. Nothing acknowledged may be lost without a record that names it, nothing
// be applied twice, and every walk come to its end with the values that it is to leave.
//
// https://github.com/redis/redis/issues/6062
// https://github.com/dapr/dapr/issues/7291
func failOver(t *testing.T, f fleet) {
	d := drive(t, f.url())
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- d.walkUntil(stop); close(done) }()
	t.Cleanup(func() { // once the context has ended, the walk has too
		for range done {
		}
		if t.Failed() {
			t.Logf("the last walk:\n%s", d.lastWords())
		}
	})
	var lost []loss
	for i := range *failovers {
		select {
		case err := <-done:
			t.Fatalf("after %d failovers the walks end: %v", i, err)
		default:
		}
		f.whole(t)
		master := f.master(t)
		if i%2 == 0 {
			f.ask(t, master)
			otherMaster(t, f, master)
		} else {
			lost = append(lost, killed(t, f, master)...)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f.whole(t)
	master := f.master(t)
	d.check(f, master, lost)
	d.tellsApart(master)
}

func drive(t *testing.T, url string) *driven {
	t.Helper()
	store, err := actions.Open(actions.Options{URL: url, Service: serviceName, Clock: realClock{}})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := controls.NewReader(controls.ReaderOptions{Service: serviceName, URL: url, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = reader.Run(ctx, realClock{}); close(ended) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		if err := errors.Join(reader.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return &driven{t: t, doc: mustParse(t, busy), store: store, reader: reader}
}

func (d *driven) check(f fleet, master *node, lost []loss) {
	t := d.t
	logs := d.read()
	unnoticed := 0
	for _, l := range lost {
		applied, acknowledged := logs.acknowledged[flipKey{l.meta.Digest, l.meta.Version}]
		named := slices.ContainsFunc(logs.lost, func(r lostRecord) bool { return r.control == l.control && r.at.After(applied.At) })
		if acknowledged && l.before != l.after && !named {
			unnoticed++
			t.Errorf("%s of %s was acknowledged, went from %q to %q in a failover, and no record names it\n%s", l.meta.Digest[:8], l.control, l.before, l.after, d.story(l.control))
		}
	}
	changes, err := d.store.Changes(t.Context(), 10000)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, c := range changes {
		if digests[c.Digest] {
			t.Errorf("%s of %s was applied twice", c.Digest[:8], c.Control)
		}
		digests[c.Digest] = true
	}
	values, _, err := holdings(t, master)
	if err != nil {
		t.Fatal(err)
	}
	for control, want := range steadyValues {
		if values[control] != want {
			t.Errorf("%s is %q at the end and not %q", control, values[control], want)
		}
		until(t, "the reader obeys "+control, func() error {
			if got, _ := d.reader.Get(control); got != want {
				return fmt.Errorf("%q", got)
			}
			return nil
		})
	}
	t.Logf("%d failovers, %d walks, %d flips, %d of them lost by redis, %d unnoticed, %d losses named, %d outcomes unknown at first",
		*failovers, len(d.journals), logs.flips, len(lost), unnoticed, len(logs.lost), logs.unknown)
}

// tellsApart: a Redis that has lost who commands gives one number to two processes of a run, and only the
// one that asked last has effect.
func (d *driven) tellsApart(master *node) {
	t, keys := d.t, controls.Keys(serviceName)
	holder := actions.Holder{Run: "20261129T110000Z-twice-0001", Actor: "ana", Host: "ops-1"}
	take := func(process string) actions.Lease {
		holder.Process = process
		lease, err := d.store.Take(t.Context(), holder)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	before := take("5f3a")
	master.do(t, "del", keys.Commander, keys.Fence)
	now := take("91c0")
	if now.Fence != before.Fence {
		t.Fatalf("leases %+v, %+v", before, now)
	}
	jobs := d.doc.Control("jobs")
	read, err := d.store.Read(t.Context(), []*runbook.Control{jobs})
	if err != nil {
		t.Fatal(err)
	}
	off, err := actions.Decode(jobs, "off")
	if err != nil {
		t.Fatal(err)
	}
	plan := actions.NewPlan(holder.Run, "jobs", jobs, read["jobs"], &off)
	if o := d.store.Apply(t.Context(), before, plan, actions.Stamp{}); o.Result != actions.Refused || o.Cause != actions.CommandLost {
		t.Errorf("the first process has effect: %+v", o)
	}
	if o := d.store.Apply(t.Context(), now, plan, actions.Stamp{}); o.Result != actions.Applied {
		t.Errorf("the second process has none: %+v", o)
	}
}

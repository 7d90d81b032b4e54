package actions

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// only answers one command and leaves the others to the node.
func only(name, reply string) func([]string) string {
	return func(args []string) string {
		if strings.EqualFold(args[0], name) {
			return reply
		}
		return pass
	}
}

var (
	somePlan  = Plan{Run: runA, Step: "s", Control: "origin.admission", After: ptr("3200"), Direction: runbook.Protecting}
	someLease = Lease{Run: runA, Fence: 1}
)

// https://github.com/redis/jedis/issues/3187
// https://github.com/redis/go-redis/issues/1589
// https://github.com/erpc/erpc/issues/1113
func TestAWriteWithoutAnswerIsSentOnceAndUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, answer: only("evalsha", "")}
		s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 2*time.Second)
		began := time.Now()
		o := wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Unknown, NoAnswer)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if n.count("evalsha") != 1 || n.count("eval") != 0 {
			t.Errorf("the server has seen %v", n.seen)
		}
		if !strings.Contains(o.Hint, "settle") {
			t.Errorf("hint %q", o.Hint)
		}
	})
}

// https://github.com/redis/go-redis/issues/2682
func TestCancelLeavesAHangingWriteAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "redis://a:1", network{"a:1": {t: t, answer: only("evalsha", "")}}.dial, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		o := wantOutcome(t, s.Apply(ctx, someLease, somePlan, stamp), Unknown, NoAnswer)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if o.Sentence != "it was interrupted before redis a:1 had answered" {
			t.Errorf("sentence %q", o.Sentence)
		}
		_ = s.Close()
	})
}

// TestCancelIsNoOutage: whoever calls a write off is not told that Redis is away.
func TestCancelIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, answer: only("ping", "")}
		s := openStore(t, "redis://a:1", network{"a:1": n}.dial, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		o := wantOutcome(t, s.Apply(ctx, someLease, somePlan, stamp), NotSent, Interrupted)
		if o.Sentence != "it was interrupted before anything was sent to redis a:1" || o.Hint != "" {
			t.Errorf("sentence %q, hint %q", o.Sentence, o.Hint)
		}
		_ = s.Close()
	})
}

func TestAServerThatHangsIsFoundOutBeforeTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, answer: only("ping", "")}
		s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 2*time.Second)
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, Unreachable)
		if n.count("evalsha") != 0 {
			t.Errorf("the server has seen %v", n.seen)
		}
	})
}

// https://github.com/redis/go-redis/issues/2145
func TestBlackHolesKeepTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hole := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s := openStore(t, "redis://a:1?cluster=true&addr=b:1&addr=c:1", hole, 10*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		wantOutcome(t, s.Apply(ctx, someLease, somePlan, stamp), NotSent, Unreachable)
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute) // virtual: lets the dials end
	})
}

func TestRefusedConnections(t *testing.T) {
	s := openStore(t, "redis://:secret@nobody:1", network{}.dial, 0)
	o := wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, Unreachable)
	if strings.Contains(o.Sentence, "secret") || !strings.Contains(o.Sentence, "nobody:1") || o.Retry == 0 {
		t.Errorf("outcome %+v", o)
	}
	if _, err := s.Identity(t.Context()); err == nil {
		t.Error("identity of nobody")
	}
}

// What Redis refuses was not done, for certain, and each refusal has its sentence,
// its way out and its patience. An error of somebody in between proves nothing.
func TestAnswersOfRedis(t *testing.T) {
	const patient, needsAPerson = true, false
	unseen := map[string]bool{}
	for _, r := range refusals {
		unseen[r.code] = true
	}
	for _, c := range []struct {
		answer string
		result Result
		cause  Cause
		says   string
		retry  bool
	}{
		{"OOM command not allowed when used memory > 'maxmemory'.", Refused, OutOfMemory, "out of memory", patient},
		// https://github.com/redis/redis/issues/8623
		{"ERR Error running script (call to f_ab): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.", Refused, OutOfMemory, "out of memory", patient},
		// https://github.com/redis/redis/issues/9913
		{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", Refused, Misconf, "cannot save", needsAPerson},
		{"MISCONF Errors writing to the AOF file: No space left on device", Refused, Misconf, "cannot save", needsAPerson},
		// https://github.com/redis/redis-py/issues/460
		{"ERR DB index is out of range", Refused, NoDatabase, "no database", needsAPerson},
		{"READONLY You can't write against a read only replica.", Refused, ReadOnly, "is a replica", patient},
		{"ERR Error running script (call to f_ab): @user_script:39: @user_script: 39: -READONLY You can't write against a read only replica.", Refused, ReadOnly, "is a replica", patient},
		// https://github.com/redis/redis/issues/13483
		{"NOREPLICAS Not enough good replicas to write.", Refused, NoReplicas, "too few replicas", patient},
		// https://github.com/redis/go-redis/issues/1131
		{"LOADING Redis is loading the dataset in memory", Refused, Loading, "loading its data", patient},
		{"BUSY Redis is busy running a script.", Refused, Busy, "busy", patient},
		{"UNKILLABLE Sorry the script already executed write commands against the dataset.", Refused, Busy, "has written", patient},
		{"MASTERDOWN Link with MASTER is down", Refused, ReadOnly, "lost its master", patient},
		{"NOAUTH Authentication required.", Refused, NoAuth, "wants a password", needsAPerson},
		{"WRONGPASS invalid username-password pair or user is disabled.", Refused, WrongPass, "does not accept", needsAPerson},
		{"NOPERM this user has no permissions to run the 'evalsha' command", Refused, NoPerm, "does not let this user", needsAPerson},
		{"ERR ACL failure in script: User op has no permissions to run the 'xadd' command", Refused, NoPerm, "does not let this user", needsAPerson},
		{"ERR The user executing the script can't run this command or subcommand script: 1a2b, on @user_script:12.", Refused, NoPerm, "does not let this user", needsAPerson},
		{"CLUSTERDOWN Hash slot not served", Refused, ClusterDown, "cluster that is down", patient},
		{"TRYAGAIN Multiple keys request during rehashing of slot", Refused, TryAgain, "moving these keys", patient},
		{"MOVED 3999 a:1", Refused, Redirected, "from node to node", patient},
		{"ASK 3999 a:1", Refused, Redirected, "from node to node", patient},
		{"WRONGTYPE Operation against a key holding the wrong kind of value", Refused, WrongType, "something else", needsAPerson},
		{"DENIED Redis is running in protected mode", Refused, NoAuth, "protected mode", needsAPerson},
		{"ERR max number of clients reached", Refused, MaxClients, "number of clients", patient},
		{"NOSCRIPT No matching script. Please use EVAL.", Refused, NoScripts, "does not run a script", needsAPerson},
		{"ERR unknown command 'EVALSHA', with args beginning with: ", Refused, NoScripts, "does not run a script", needsAPerson},
		{"ERR weird \x1b[2J thing", Unknown, NotKnown, "not known here", patient},
		{"ERR upstream failure", Unknown, NotKnown, "not known here", patient},
		{"OOMPH", Unknown, NotKnown, "not known here", patient},
	} {
		n := &node{t: t, answer: func(args []string) string {
			if verb := strings.ToLower(args[0]); verb == "evalsha" || verb == "eval" || verb == "asking" {
				return "-" + c.answer + "\r\n"
			}
			return pass
		}}
		s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
		o := wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), c.result, c.cause)
		if (o.Retry > 0) != c.retry || strings.Contains(o.Sentence, "\x1b") || !strings.Contains(o.Sentence, c.says) || o.Hint == "" {
			t.Errorf("%s: %+v", c.answer, o)
		}
		code, _, _ := strings.Cut(c.answer, " ")
		if n.count("evalsha") != 1 && o.Cause != Redirected {
			t.Errorf("%s: sent %d times", c.answer, n.count("evalsha"))
		}
		delete(unseen, code)
		if c.cause == MaxClients {
			delete(unseen, "")
		}
	}
	if len(unseen) > 0 {
		t.Errorf("no test for %v", unseen)
	}
}

func TestWhatIsNotRedis(t *testing.T) {
	n := &node{t: t, answer: func([]string) string { return "HTTP/1.1 400 Bad Request\r\n\r\n<html>" }}
	s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, NotRedis)
}

func TestMovedIsFollowed(t *testing.T) {
	old := &node{t: t, answer: only("evalsha", "-MOVED 3999 b:1\r\n")}
	right := &node{t: t, answer: only("evalsha", words("moved", "7", "1", "100"))}
	s := openStore(t, "redis://a:1", network{"a:1": old, "b:1": right}.dial, 0)
	for range 2 {
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	}
	if old.count("evalsha") != 1 || right.count("evalsha") != 2 {
		t.Errorf("asked %d and %d times", old.count("evalsha"), right.count("evalsha"))
	}
}

func TestMovedInCircles(t *testing.T) {
	a := &node{t: t, answer: only("evalsha", "-MOVED 3999 b:1\r\n")}
	b := &node{t: t, answer: only("evalsha", "-MOVED 3999 a:1\r\n")}
	s := openStore(t, "redis://a:1", network{"a:1": a, "b:1": b}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Redirected)
}

func TestAskIsFollowedForOneCommand(t *testing.T) {
	old := &node{t: t, answer: only("evalsha", "-ASK 3999 b:1\r\n")}
	var asked bool
	next := &node{t: t, answer: func(args []string) string {
		switch strings.ToLower(args[0]) {
		case "asking":
			asked = true
			return "+OK\r\n"
		case "evalsha":
			if !asked {
				return "-MOVED 3999 a:1\r\n"
			}
			asked = false
			return words("moved", "7", "1", "100")
		}
		return pass
	}}
	s := openStore(t, "redis://a:1", network{"a:1": old, "b:1": next}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	if next.count("asking") != 1 || next.count("evalsha") != 1 {
		t.Errorf("the node has seen %v", next.seen)
	}
}

func TestADeadNodeOfAClusterIsPassedOver(t *testing.T) {
	b := &node{t: t, answer: only("evalsha", words("moved", "7", "0", ""))}
	s := openStore(t, "redis://a:1?cluster=true&addr=b:1", network{"b:1": b}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
}

// https://github.com/redis/redis-py/issues/460
func TestADemotedMasterIsLeft(t *testing.T) {
	master := "a:1"
	sentinel := &node{t: t}
	sentinel.answer = func(args []string) string {
		if strings.EqualFold(args[0], "sentinel") && args[2] == "rewarm" {
			host, port, _ := net.SplitHostPort(master)
			return words(host, port)
		}
		return "*-1\r\n"
	}
	a := &node{t: t, answer: func(args []string) string {
		if strings.EqualFold(args[0], "evalsha") {
			master = "b:1"
			return "-READONLY You can't write against a read only replica.\r\n"
		}
		return pass
	}}
	b := &node{t: t, answer: only("evalsha", words("moved", "7", "0", ""))}
	net := network{"s:1": sentinel, "a:1": a, "b:1": b}
	s := openStore(t, "redis://s:1?master_name=rewarm", net.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	if a.count("evalsha") != 1 || b.count("evalsha") != 1 {
		t.Errorf("asked %d and %d times", a.count("evalsha"), b.count("evalsha"))
	}

	// https://github.com/redis/ioredis/issues/64
	s = openStore(t, "redis://s:1?master_name=rewarn", net.dial, 0)
	o := wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, Unreachable)
	if !strings.Contains(o.Sentence, `knows no master named "rewarn"`) {
		t.Errorf("sentence %q", o.Sentence)
	}
}

// sentinelNode answers with the master that is there at the moment.
func sentinelNode(t *testing.T, master *atomic.Pointer[string]) *node {
	return &node{t: t, answer: func(args []string) string {
		if !strings.EqualFold(args[0], "sentinel") {
			return pass
		}
		host, port, _ := net.SplitHostPort(*master.Load())
		return words(host, port)
	}}
}

// A master that was replaced takes writes until it learns of it, and loses them all.
// https://github.com/redis/redis/issues/6062
func TestAReplacedMasterIsLeftBeforeItKnows(t *testing.T) {
	var master atomic.Pointer[string]
	master.Store(ptr("a:1"))
	answers := func(args []string) string {
		switch strings.ToLower(args[0]) {
		case "evalsha":
			return words("moved", "7", "0", "")
		case "hmget":
			return "*1\r\n$-1\r\n"
		case "pttl":
			return ":-1\r\n"
		case "time":
			return words("1700000000", "0")
		}
		return pass
	}
	a, b := &node{t: t, answer: answers}, &node{t: t, answer: answers}
	s := openStore(t, "redis://s:1?master_name=rewarm", network{"s:1": sentinelNode(t, &master), "a:1": a, "b:1": b}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	read(t, s, admission)
	master.Store(ptr("b:1"))
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	read(t, s, admission)
	if a.count("evalsha") != 1 || b.count("evalsha") != 1 || a.count("hmget") != 2 || b.count("hmget") != 2 {
		t.Errorf("the old master has seen %v, the new one %v", a.seen, b.seen)
	}
}

// untilHung answers until it hangs.
func untilHung(hung *atomic.Bool, answer func([]string) string) func([]string) string {
	return func(args []string) string {
		if hung.Load() {
			return ""
		}
		return answer(args)
	}
}

// Sentinels that are away keep nobody from a master that is there.
func TestABrakeDoesNotWaitForSentinels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var master atomic.Pointer[string]
		master.Store(ptr("a:1"))
		a := &node{t: t, answer: only("evalsha", words("moved", "7", "0", ""))}
		var hang atomic.Bool
		net := network{"s:1": sentinelNode(t, &master), "r:1": sentinelNode(t, &master), "a:1": a}
		for _, sentinel := range []*node{net["s:1"], net["r:1"]} {
			sentinel.answer = untilHung(&hang, sentinel.answer)
		}
		s := openStore(t, "redis://s:1?master_name=rewarm&addr=r:1", net.dial, 0)
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
		hang.Store(true)
		began := time.Now()
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
		if took := time.Since(began); took > 250*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		_ = s.Close()
		time.Sleep(time.Minute) // virtual: lets the sentinels that were not needed go
	})
}

// TestOneThatHangsKeepsNobody: of several sentinels, or nodes of a cluster, those that hang are passed over from the
// first exchange on, also where the master hangs with the sentinel beside it.
func TestOneThatHangsKeepsNobody(t *testing.T) {
	hangs := func([]string) string { return "" }
	synctest.Test(t, func(t *testing.T) {
		var hang atomic.Bool
		net := network{"s:1": {t: t, answer: hangs}, "h:1": {t: t, answer: hangs}, "a:1": {t: t, answer: untilHung(&hang, only("evalsha", words("moved", "7", "0", "")))}}
		net["b:1"] = &node{t: t, answer: func(args []string) string {
			if args[0] == "hget" { // whether it is silent yet
				return "$-1\r\n"
			}
			return only("evalsha", words("moved", "8", "0", ""))(args)
		}}
		var master atomic.Pointer[string]
		master.Store(ptr("a:1"))
		net["r:1"] = sentinelNode(t, &master)
		stores := map[string]*Store{
			"sentinels": openStore(t, "redis://s:1?master_name=rewarm&addr=r:1", net.dial, 0),
			"cluster":   openStore(t, "redis://h:1?cluster=true&addr=a:1", net.dial, 0),
		}
		for name, s := range stores {
			began := time.Now()
			wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
			if took := time.Since(began); took > 0 {
				t.Errorf("%s: it took %v", name, took)
			}
		}
		master.Store(ptr("b:1"))
		hang.Store(true)
		s := stores["sentinels"]
		for range 2 { // the sentinel that hangs may be asked first
			_ = s.Apply(t.Context(), someLease, somePlan, stamp)
			time.Sleep(4 * time.Second)
		}
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
		for _, s := range stores {
			_ = s.Close()
		}
		time.Sleep(time.Minute)
	})
}

// TestAScriptThatIsNotKnownIsSentAtOnce: behind the answer that Redis does not know it nothing needs to be found out
// again, and on a slow way each question counts.
func TestAScriptThatIsNotKnownIsSentAtOnce(t *testing.T) {
	n := &node{t: t, answer: func(args []string) string {
		switch strings.ToLower(args[0]) {
		case "evalsha":
			return "-NOSCRIPT No matching script.\r\n"
		case "eval":
			return words("moved", "7", "0", "")
		}
		return pass
	}}
	s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, Moved)
	if n.count("ping") != 1 || n.count("hello") != 1 || n.count("eval") != 1 {
		t.Errorf("the server has seen %v", n.seen)
	}
}

func TestAPooledConnectionDoesNotOutliveADemotion(t *testing.T) {
	n := &node{t: t, answer: only("evalsha", "-READONLY You can't write against a read only replica.\r\n")}
	s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
	for range 2 {
		wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Refused, ReadOnly)
	}
	if n.count("hello") != 2 || n.count("evalsha") != 2 {
		t.Errorf("the server has seen %v", n.seen)
	}
}

// https://github.com/redis/go-redis/issues/1551
func TestReadsAreRepeatedAndWritesAreNot(t *testing.T) {
	failures := 1
	n := &node{t: t}
	n.answer = func(args []string) string {
		switch strings.ToLower(args[0]) {
		case "hmget":
			if failures > 0 {
				failures--
				return hangUp
			}
			return "*1\r\n$3\r\n100\r\n"
		case "pttl":
			return ":-1\r\n"
		case "time":
			return words("1700000000", "0")
		case "evalsha":
			return hangUp
		}
		return pass
	}
	s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
	if live := read(t, s, admission); live.Value.Number != 100 || failures != 0 {
		t.Errorf("live %+v", live)
	}
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Unknown, NoAnswer)
	if n.count("evalsha") != 1 {
		t.Errorf("the write was sent %d times", n.count("evalsha"))
	}
}

// https://github.com/oliver006/redis_exporter/issues/785
// https://github.com/redis/ioredis/issues/1211
func TestOnlyDocumentedCommandsAreSent(t *testing.T) {
	n := &node{t: t}
	n.answer = func(args []string) string {
		switch strings.ToLower(args[0]) {
		case "hmget":
			return "*1\r\n$3\r\n100\r\n"
		case "pttl":
			return ":-1\r\n"
		case "time":
			return words("1700000000", "0")
		case "evalsha":
			return "-NOSCRIPT No matching script.\r\n"
		case "eval":
			return words("applied", "7", "1", "3200", "")
		case "info":
			return "$0\r\n\r\n"
		case "dbsize":
			return ":0\r\n"
		case "xadd":
			return "$3\r\n1-0\r\n"
		case "expire":
			return ":1\r\n"
		}
		return pass
	}
	s := openStore(t, "redis://a:1", network{"a:1": n}.dial, 0)
	read(t, s, admission)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), Applied, "")
	if _, err := s.Identity(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Mirror(t.Context(), runA, [][]byte{[]byte("{}")}); err != nil {
		t.Error(err)
	}
	want := []string{"dbsize", "eval", "evalsha", "expire", "hello", "hmget", "info", "ping", "pttl", "time", "xadd"}
	if got := n.commands(); !slices.Equal(got, want) {
		t.Errorf("sent %v, documented are %v", got, want)
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	for _, reply := range []string{"*0\r\n", words("applied"), words("applied", "x", "1", "1", ""), words("hello"),
		words("moved"), ":1\r\n", "$-1\r\n", "*1\r\n:7\r\n"} {
		s := openStore(t, "redis://a:1", network{"a:1": {t: t, answer: only("evalsha", reply)}}.dial, 0)
		if o := s.Apply(t.Context(), someLease, somePlan, stamp); o.Result != Unknown || o.Sentence == "" {
			t.Errorf("%q: %+v", reply, o)
		}
	}
}

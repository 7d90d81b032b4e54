package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
)

// testServer is a Redis to run the same tests against, in process or real.
type testServer struct {
	url  string
	dial controls.DialFunc // nil for the network
	raw  *redis.Client     // for looking and for hand edits
}

func (srv testServer) do(t testing.TB, args ...any) any {
	t.Helper()
	v, err := srv.raw.Do(t.Context(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

func (srv testServer) open(t testing.TB) *Store {
	t.Helper()
	return openStore(t, srv.url, srv.dial, 0)
}

func number(n float64) *runbook.Value { return &runbook.Value{Kind: runbook.Rate, Number: n} }

func ptr(s string) *string { return &s }

var (
	admission = &runbook.Control{Name: "origin.admission", Kind: runbook.Rate, Unit: "attempts/s", Max: 4000,
		Absent: runbook.Value{Kind: runbook.Rate, Unlimited: true}, Steady: *number(3200), Protects: "lower"}
	prewarm = &runbook.Control{Name: "prewarm.rate", Kind: runbook.Rate, Unit: "attempts/s", Max: 3200,
		Absent: *number(0), Steady: *number(0), Protects: "lower", DeadMan: number(0)}
	bypass = &runbook.Control{Name: "origin.bypass", Kind: runbook.Switch,
		Absent: runbook.Value{Kind: runbook.Switch, Text: "on"}, Steady: runbook.Value{Kind: runbook.Switch, Text: "off"}, Protects: "off"}
)

const (
	runA = "20261129T100801Z-hot-key-collapse-7f3a"
	runB = "20261129T101500Z-hot-key-collapse-0b1c"
)

var ana = Holder{Run: runA, Actor: "ana", Host: "ops-1"}

func take(t testing.TB, s *Store, h Holder) Lease {
	t.Helper()
	l, err := s.Take(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func read(t testing.TB, s *Store, c *runbook.Control) Live {
	t.Helper()
	lives, err := s.Read(t.Context(), []*runbook.Control{c})
	if err != nil {
		t.Fatal(err)
	}
	return lives[c.Name]
}

func plan(t testing.TB, s *Store, c *runbook.Control, to *runbook.Value) Plan {
	t.Helper()
	return NewPlan(runA, "a-step", c, read(t, s, c), to)
}

var stamp = Stamp{Actor: "ana", Steady: ptr("3200"), Absent: controls.Unlimited, Protects: "lower", Owner: "ops-1:123"}

func wantOutcome(t testing.TB, o Outcome, r Result, c Cause) Outcome {
	t.Helper()
	if o.Result != r || o.Cause != c {
		t.Fatalf("outcome %s %q: %s (%s), want %s %q", o.Result, o.Cause, o.Sentence, o.Hint, r, c)
	}
	if o.Sentence == "" {
		t.Fatalf("outcome %s has no sentence", o.Result)
	}
	return o
}

// testStore is what every Redis must do. Times that pass are written into the
// keys instead of waited for.
func testStore(t *testing.T, start func(t *testing.T) testServer) {
	for name, test := range map[string]func(t *testing.T, srv testServer){
		"flip writes value, meta, version and change": testFlip,
		"flip back to a missing field":                testDelete,
		"same plan twice is one flip":                 testTwice,
		"value moved":                                 testMoved,
		"absent is not empty":                         testAbsentIsNotEmpty,
		"bytes that are not UTF-8 are compared whole": testBytes,
		"another run commands":                        testOtherRun,
		"fence and run are both compared":             testFenceAndRun,
		"processes of one run are told apart":         testProcessesOfOneRun,
		"a commander that had gone is not obeyed":     testGoneCommander,
		"who took over stays known":                   testTakenOver,
		"fence never goes back":                       testFenceAfterFailover,
		"version never goes back":                     testVersionAfterFailover,
		"renewing keeps alive what lives":             testRenew,
		"dropping":                                    testDrop,
		"settle after it was done":                    testSettleDone,
		"settle after it was not done":                testSettleNotDone,
		"settle of a lost command":                    testSettleLost,
		"scripts forgotten":                           testScriptFlush,
		"hash of another type":                        testWrongType,
		"value that cannot be read":                   testUndecodable,
		"hash with a time to live":                    testTTL,
		"lapsed value":                                testLapsed,
		"hand edit is seen":                           testEdited,
		"damaged meta does not stop a brake":          testDamagedMeta,
		"since is kept until steady":                  testSince,
		"mirror":                                      testMirror,
		"mirror read":                                 testMirrored,
		"mirrors found":                               testMirroredRuns,
		"survey without a runbook":                    testSurvey,
		"history of changes":                          testChanges,
		"orders reach the run and answers come back":  testOrders,
		"an order is taken or recalled, not both":     testRecall,
		"a flooded inbox keeps the newest":            testFlood,
		"odd entries of an inbox":                     testOddLetters,
		"without an ACL a name is a claim":            testClaim,
		"who commands":                                testCommander,
		"check leaves nothing":                        testCheck,
		"identity":                                    testIdentity,
	} {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func testFlip(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	if p.Before != nil || *p.After != "3200" || p.Direction != runbook.Protecting {
		t.Fatalf("plan %+v", p)
	}
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if o.Version != 1 || *o.Found != "3200" || o.Hint != "" {
		t.Errorf("outcome %+v", o)
	}
	live := read(t, s, admission)
	m := live.Meta
	if *live.Raw != "3200" || live.Value.Number != 3200 || live.Edited || m == nil {
		t.Fatalf("live %+v", live)
	}
	if m.Version != 1 || m.Digest != p.Digest() || m.Run != runA || m.Fence != l.Fence || m.Step != "a-step" ||
		m.Actor != "ana" || m.Before != nil || *m.Steady != "3200" || m.Protects != "lower" || m.Owner != "ops-1:123" || m.At == 0 {
		t.Errorf("meta %+v", m)
	}
	if got := srv.do(t, "get", "rewarm:{catalog}:version"); got != "1" {
		t.Errorf("version %v", got)
	}
	entries, err := srv.raw.XRange(t.Context(), "rewarm:{catalog}:changes", "-", "+").Result()
	if err != nil || len(entries) != 1 || entries[0].Values["control"] != "origin.admission" || entries[0].Values["after"] != "3200" {
		t.Errorf("changes %v, %v", entries, err)
	}
}

func testDelete(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	p := plan(t, s, admission, nil)
	if p.After != nil || p.Direction != runbook.Releasing {
		t.Fatalf("plan %+v", p)
	}
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if o.Found != nil || read(t, s, admission).Raw != nil || o.Version != 2 {
		t.Errorf("outcome %+v", o)
	}
}

func testTwice(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if o.Version != 1 {
		t.Errorf("version %d after the same plan twice", o.Version)
	}
	// A hand edit in between is told and not undone.
	srv.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "100")
	o = wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if *o.Found != "100" || !strings.Contains(o.Sentence, "since") {
		t.Errorf("outcome %+v", o)
	}
}

func testMoved(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	srv.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "4000\x1b[2J")
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, Moved)
	if *o.Found != "4000\x1b[2J" || strings.Contains(o.Sentence, "\x1b") {
		t.Errorf("outcome %+v", o)
	}
	if srv.do(t, "exists", "rewarm:{catalog}:version") != int64(0) {
		t.Error("a refused flip raised the version")
	}
}

func testAbsentIsNotEmpty(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	srv.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "")
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, Moved)
	if o.Found == nil || *o.Found != "" {
		t.Errorf("outcome %+v", o)
	}
	p = plan(t, s, admission, number(3200))
	srv.do(t, "hdel", "rewarm:{catalog}:controls", "origin.admission")
	o = wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, Moved)
	if o.Found != nil {
		t.Errorf("outcome %+v", o)
	}
}

// https://github.com/golang/go/issues/56970
func testBytes(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	srv.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "a\xff\x00b")
	p := plan(t, s, admission, number(3200))
	if *p.Before != "a\xff\x00b" || p.Direction != runbook.Releasing {
		t.Fatalf("plan %+v", p)
	}
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	if m := read(t, s, admission).Meta; m.Before != nil || string(m.BeforeBase64) != "a\xff\x00b" {
		t.Errorf("meta %+v", m)
	}
}

// https://github.com/bsm/redislock/issues/93
func testOtherRun(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	_, err := s.Take(t.Context(), Holder{Run: runB, Actor: "ben", Host: "ops-2"})
	var c *Commanded
	if !errors.As(err, &c) || c.Run != runA || c.Actor != "ana" || c.Host != "ops-1" || c.Since.IsZero() {
		t.Fatalf("take: %v", err)
	}
	p := plan(t, s, admission, number(3200))
	srv.do(t, "hset", "rewarm:{catalog}:commander", "until", "1")
	take(t, s, Holder{Run: runB, Actor: "ben", Host: "ops-2"})
	o := wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, CommandLost)
	if o.Commander.Run != runB {
		t.Errorf("outcome %+v", o)
	}
	if _, err := s.Renew(t.Context(), l, nil); !errors.As(err, &c) {
		t.Errorf("renew: %v", err)
	}
	if read(t, s, admission).Raw != nil {
		t.Error("it was written")
	}
}

func testFenceAndRun(t *testing.T, srv testServer) {
	s := srv.open(t)
	old := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	now := take(t, s, ana)
	if now.Fence <= old.Fence || !now.Since.Equal(old.Since) {
		t.Fatalf("leases %+v, %+v", old, now)
	}
	wantOutcome(t, s.Apply(t.Context(), old, p, stamp), Refused, CommandLost)
	// A failover hands the same number out again, to another run.
	srv.do(t, "del", "rewarm:{catalog}:commander", "rewarm:{catalog}:fence")
	for range now.Fence {
		take(t, s, Holder{Run: runB, Actor: "ben", Host: "ops-2"})
	}
	o := wantOutcome(t, s.Apply(t.Context(), now, p, stamp), Refused, CommandLost)
	if o.Commander.Run != runB {
		t.Errorf("outcome %+v", o)
	}
}

// testProcessesOfOneRun: a Redis that comes back empty hands one number to two machines that go on with one run.
func testProcessesOfOneRun(t *testing.T, srv testServer) {
	s := srv.open(t)
	here, there := ana, ana
	here.Process, there.Process = "5f3a", "91c0"
	before := take(t, s, here)
	p := plan(t, s, admission, number(3200))
	srv.do(t, "del", "rewarm:{catalog}:commander", "rewarm:{catalog}:fence")
	now := take(t, s, there)
	if now.Fence != before.Fence {
		t.Fatalf("leases %+v, %+v", before, now)
	}
	wantOutcome(t, s.Apply(t.Context(), before, p, stamp), Refused, CommandLost)
	wantOutcome(t, s.Settle(t.Context(), before, p), Refused, CommandLost)
	var c *Commanded
	if _, err := s.Renew(t.Context(), before, nil); !errors.As(err, &c) {
		t.Errorf("renew: %v", err)
	}
	if err := s.Drop(t.Context(), before); err != nil {
		t.Error(err)
	}
	wantOutcome(t, s.Apply(t.Context(), now, p, stamp), Applied, "")
}

func testTakenOver(t *testing.T, srv testServer) {
	s := srv.open(t)
	take(t, s, ana)
	if by, err := s.TakenOver(t.Context(), ana.Run); by != nil || err != nil {
		t.Fatalf("nobody took over: %v, %v", by, err)
	}
	next := Holder{Run: runB, Actor: "ben", Host: "ops-2", Over: ana.Run, Why: "ana sleeps"}
	if err := s.Drop(t.Context(), take(t, s, next)); err != nil {
		t.Fatal(err)
	}
	by, err := s.TakenOver(t.Context(), ana.Run)
	_, told := s.Take(t.Context(), ana)
	if err != nil || by == nil || by.Run != runB || told == nil || by.Error() != told.Error() {
		t.Errorf("%v, %v; ana is told: %v", by, err, told)
	}
	srv.do(t, "hset", "rewarm:{catalog}:commander", "over:"+ana.Run, "nonsense")
	if by, err := s.TakenOver(t.Context(), ana.Run); by != nil || err == nil {
		t.Errorf("nonsense is read as %v", by)
	}
}

func testFenceAfterFailover(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	srv.do(t, "del", "rewarm:{catalog}:fence")
	if again := take(t, s, ana); again.Fence <= l.Fence {
		t.Errorf("fence %d after %d", again.Fence, l.Fence)
	}
}

func testVersionAfterFailover(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	srv.do(t, "del", "rewarm:{catalog}:version")
	o := wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(1600)), stamp), Applied, "")
	if o.Version != 2 || srv.do(t, "get", "rewarm:{catalog}:version") != "2" {
		t.Errorf("version %d", o.Version)
	}
}

func testRenew(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	mortal := Stamp{Actor: `a"until":5`, Steady: ptr("0"), Protects: "lower", DeadMan: true}
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, prewarm, number(3200)), mortal), Applied, "")
	before := read(t, s, prewarm).Meta
	if before.Until-before.At != 15000 {
		t.Fatalf("meta %+v", before)
	}
	shorten := func(ms int64) {
		raw := srv.do(t, "hget", "rewarm:{catalog}:meta", "prewarm.rate").(string)
		raw = strings.Replace(raw, fmt.Sprintf(`"until":%d`, read(t, s, prewarm).Meta.Until), fmt.Sprintf(`"until":%d`, ms), 1)
		srv.do(t, "hset", "rewarm:{catalog}:meta", "prewarm.rate", raw)
	}
	shorten(before.At + 5000)
	lapsed, err := s.Renew(t.Context(), l, []string{"prewarm.rate", "not.there"})
	if err != nil || len(lapsed) != 0 {
		t.Fatalf("renew: %v, %v", lapsed, err)
	}
	after := read(t, s, prewarm).Meta
	if after.Until < before.Until || after.Actor != mortal.Actor || after.Digest != before.Digest {
		t.Errorf("meta %+v", after)
	}
	shorten(before.At - 1)
	if lapsed, err = s.Renew(t.Context(), l, []string{"prewarm.rate"}); err != nil || len(lapsed) != 1 {
		t.Errorf("renew: %v, %v", lapsed, err)
	}
	if live := read(t, s, prewarm); !live.Lapsed {
		t.Errorf("a value that readers have left came back: %+v", live)
	}
}

func testDrop(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	if err := s.Drop(t.Context(), Lease{Run: runB, Fence: l.Fence}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Renew(t.Context(), l, nil); err != nil {
		t.Fatalf("another run dropped the command: %v", err)
	}
	if err := s.Drop(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	o := wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Refused, CommandLost)
	if !strings.Contains(o.Sentence, "nobody commands") {
		t.Errorf("sentence %q", o.Sentence)
	}
	take(t, s, Holder{Run: runB, Actor: "ben", Host: "ops-2"})
}

func testSettleDone(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Applied, "")
	o := wantOutcome(t, s.Settle(t.Context(), l, p), Applied, "")
	if o.Version != 1 || o.Lease != nil {
		t.Errorf("outcome %+v", o)
	}
}

func testSettleNotDone(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	o := wantOutcome(t, s.Settle(t.Context(), l, p), Refused, NotApplied)
	if o.Lease == nil || o.Lease.Fence <= l.Fence || o.Lease.Run != runA {
		t.Fatalf("outcome %+v", o)
	}
	// The write that was believed lost comes late, and must not count any more.
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, CommandLost)
	wantOutcome(t, s.Apply(t.Context(), *o.Lease, p, stamp), Applied, "")
}

func testSettleLost(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	srv.do(t, "hset", "rewarm:{catalog}:commander", "until", "1")
	take(t, s, Holder{Run: runB, Actor: "ben", Host: "ops-2"})
	wantOutcome(t, s.Settle(t.Context(), l, p), Refused, CommandLost)
}

// https://github.com/redis/go-redis/issues/3228
func testScriptFlush(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	srv.do(t, "script", "flush")
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
}

func testWrongType(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	p := plan(t, s, admission, number(3200))
	srv.do(t, "rpush", "rewarm:{catalog}:controls", "a")
	_, err := s.Read(t.Context(), []*runbook.Control{admission})
	var f *Failure
	if !errors.As(err, &f) || f.Cause != WrongType || f.Hint == "" ||
		f.Sentence != "redis key rewarm:{catalog}:controls is a list and not a hash" {
		t.Errorf("read: %v", err)
	}
	wantOutcome(t, s.Apply(t.Context(), l, p, stamp), Refused, WrongType)
	if err := s.Check(t.Context()); !errors.As(err, &f) || f.Cause != WrongType {
		t.Errorf("check: %v", err)
	}
	if srv.do(t, "exists", "rewarm:{catalog}:version") != int64(0) {
		t.Error("a refused flip raised the version")
	}
}

func testUndecodable(t *testing.T, srv testServer) {
	s := srv.open(t)
	srv.do(t, "hset", "rewarm:{catalog}:controls", "origin.admission", "3e3", "origin.bypass", "yes\x1b[8m")
	lives, err := s.Read(t.Context(), []*runbook.Control{admission, bypass})
	if err != nil {
		t.Fatal(err)
	}
	a, b := lives["origin.admission"], lives["origin.bypass"]
	if !strings.Contains(a.Invalid, "write 3000") || b.Invalid == "" || strings.Contains(b.Invalid, "\x1b") {
		t.Errorf("lives %+v", lives)
	}
	if p := NewPlan(runA, "s", admission, a, number(100)); p.Direction != runbook.Releasing || p.Nothing() {
		t.Errorf("plan %+v", p)
	}
}

func testTTL(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	srv.do(t, "hset", "rewarm:{catalog}:controls", "retries.budget", "10")
	srv.do(t, "expire", "rewarm:{catalog}:controls", 3600)
	if live := read(t, s, admission); live.Expires <= 0 || live.Expires > time.Hour {
		t.Errorf("expires %v", live.Expires)
	}
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	if live := read(t, s, admission); live.Expires != 0 {
		t.Errorf("a brake that expires in %v", live.Expires)
	}
}

func testLapsed(t *testing.T, srv testServer) {
	s := srv.open(t)
	srv.do(t, "hset", "rewarm:{catalog}:controls", "prewarm.rate", "3200")
	srv.do(t, "hset", "rewarm:{catalog}:meta", "prewarm.rate", `{"version":4,"until":1,"after":"3200"}`)
	live := read(t, s, prewarm)
	if !live.Lapsed || live.Value.Number != 0 || *live.Raw != "3200" {
		t.Fatalf("live %+v", live)
	}
	if p := NewPlan(runA, "s", prewarm, live, number(3200)); p.Direction != runbook.Releasing || p.Nothing() {
		t.Errorf("plan %+v", p)
	}
	if p := NewPlan(runA, "s", prewarm, live, number(0)); p.Direction != runbook.Protecting {
		t.Errorf("plan %+v", p)
	}
	srv.do(t, "hset", "rewarm:{catalog}:controls", "prewarm.rate", "100")
	if live := read(t, s, prewarm); live.Lapsed || live.Value.Number != 100 {
		t.Errorf("a hand edit does not count: %+v", live)
	}
}

func testEdited(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(3200)), stamp), Applied, "")
	srv.do(t, "hdel", "rewarm:{catalog}:controls", "origin.admission")
	if live := read(t, s, admission); !live.Edited || live.Raw != nil || !live.Value.Unlimited {
		t.Errorf("live %+v", live)
	}
}

func testDamagedMeta(t *testing.T, srv testServer) {
	for _, meta := range []string{"", "{", "[]", "7", `{"version":"x","digest":[]}`, "\xff"} {
		s := srv.open(t)
		l := take(t, s, ana)
		srv.do(t, "del", "rewarm:{catalog}:controls")
		srv.do(t, "hset", "rewarm:{catalog}:meta", "origin.admission", meta)
		wantOutcome(t, s.Settle(t.Context(), l, plan(t, s, admission, number(3200))), Refused, NotApplied)
		wantOutcome(t, s.Apply(t.Context(), take(t, s, ana), plan(t, s, admission, number(3200)), stamp), Applied, "")
	}
}

func testSince(t *testing.T, srv testServer) {
	s := srv.open(t)
	l := take(t, s, ana)
	flip := func(n float64) *controls.Meta {
		t.Helper()
		wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(n)), stamp), Applied, "")
		return read(t, s, admission).Meta
	}
	first := flip(1600)
	if first.Since != first.At {
		t.Errorf("meta %+v", first)
	}
	if second := flip(800); second.Since != first.Since {
		t.Errorf("meta %+v", second)
	}
	if steady := flip(3200); steady.Since != 0 {
		t.Errorf("meta %+v", steady)
	}
	remove := func(absent string) *controls.Meta {
		t.Helper()
		st := stamp
		st.Absent = absent
		wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, nil), st), Applied, "")
		return read(t, s, admission).Meta
	}
	if unlimited := remove(controls.Unlimited); unlimited.Since != unlimited.At || !unlimited.Away(nil) {
		t.Errorf("a removed field that leaves readers without a limit: meta %+v", unlimited)
	}
	flip(1600)
	if same := remove("3200"); same.Since != 0 || same.Away(nil) {
		t.Errorf("a removed field that leaves readers at the steady value: meta %+v", same)
	}
}

func testMirror(t *testing.T, srv testServer) {
	s := srv.open(t)
	lines := [][]byte{[]byte(`{"seq":1}`), []byte("{\"seq\":2,\"x\":\"\xff\"}")}
	if err := s.Mirror(t.Context(), runA, lines); err != nil {
		t.Fatal(err)
	}
	key := "rewarm:{catalog}:log:" + runA
	entries, err := srv.raw.XRange(t.Context(), key, "-", "+").Result()
	if err != nil || len(entries) != 2 || entries[1].Values["line"] != string(lines[1]) {
		t.Errorf("mirror %v, %v", entries, err)
	}
	if left := srv.raw.TTL(t.Context(), key).Val(); left < 6*24*time.Hour {
		t.Errorf("kept %v", left)
	}
}

// testMirrored reads a mirror page by page and from its end, with what a hand has put there.
func testMirrored(t *testing.T, srv testServer) {
	s := srv.open(t)
	if page, err := s.Mirrored(t.Context(), runA, ""); err != nil || len(page) != 0 {
		t.Errorf("no mirror: %v, %v", page, err)
	}
	var lines [][]byte
	for i := range mirrorPage + 40 {
		lines = append(lines, fmt.Appendf(nil, `{"seq":%d}`, i+1))
	}
	for some := range slices.Chunk(lines, 8) {
		if err := s.Mirror(t.Context(), runA, some); err != nil {
			t.Fatal(err)
		}
	}
	srv.do(t, "xadd", "rewarm:{catalog}:log:"+runA, "*", "other", "field")
	var all []Mirrored
	for pages, after := 0, ""; ; pages++ {
		page, err := s.Mirrored(t.Context(), runA, after)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		all, after = append(all, page...), page[len(page)-1].ID
	}
	if len(all) != len(lines)+1 || string(all[70].Line) != `{"seq":71}` || all[len(lines)].Line != nil {
		t.Errorf("%d entries, number 70 is %s", len(all), all[70].Line)
	}
	end, now, err := s.MirrorEnd(t.Context(), runA)
	if err != nil || len(end) != mirrorEnd || string(end[mirrorEnd-2].Line) != string(lines[len(lines)-1]) || now.Sub(end[6].At).Abs() > time.Minute {
		t.Errorf("the end is %v at %s, %v", end, now, err)
	}
	next, err := s.AwaitMirrored(t.Context(), runA, all[len(lines)-2].ID)
	if err != nil || len(next) != 2 || string(next[0].Line) != string(lines[len(lines)-1]) {
		t.Errorf("behind the last but one: %v, %v", next, err)
	}
}

func testMirroredRuns(t *testing.T, srv testServer) {
	s := srv.open(t)
	for _, run := range []string{runB, runA} {
		if err := s.Mirror(t.Context(), run, [][]byte{[]byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	srv.do(t, "set", "rewarm:{UPPER}:log:x", "1")
	srv.do(t, "set", "rewarm:{other}:changes", "1")
	found, err := MirroredRuns(t.Context(), Options{URL: srv.url, Dial: srv.dial, Clock: testClock{}})
	want := []MirroredRun{{"catalog", runA}, {"catalog", runB}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("found %v, %v", found, err)
	}
	srv.do(t, "hset", "rewarm:{shop}:controls", "a", "1")
	srv.do(t, "hset", "rewarm:{catalog}:controls", "a", "1")
	srv.do(t, "hset", "rewarm:{UPPER}:controls", "a", "1")
	services, err := Services(t.Context(), Options{URL: srv.url, Dial: srv.dial, Clock: testClock{}})
	if err != nil || !slices.Equal(services, []string{"catalog", "shop"}) {
		t.Errorf("found services %v, %v", services, err)
	}
}

func testCheck(t *testing.T, srv testServer) {
	s := srv.open(t)
	take(t, s, ana)
	before := srv.do(t, "keys", "*")
	if err := s.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := srv.do(t, "keys", "*"); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("keys %v became %v", before, after)
	}
}

func testIdentity(t *testing.T, srv testServer) {
	id, err := srv.open(t).Identity(t.Context())
	if err != nil || !strings.Contains(id, "keys") {
		t.Errorf("%q, %v", id, err)
	}
}

func TestPlanSurvivesJSON(t *testing.T) {
	for _, before := range []*string{nil, ptr(""), ptr("<3200>"), ptr("a\xff\x00b")} {
		p := Plan{Run: runA, Step: "s", Control: "c", Before: before, After: ptr("1"), Direction: runbook.Releasing, Unit: "reads/s"}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Plan
		if err := json.Unmarshal(text, &back); err != nil || back.Digest() != p.Digest() || !same(back.Before, before) {
			t.Errorf("%s came back as %+v, %v", text, back, err)
		}
	}
}

func testSurvey(t *testing.T, srv testServer) {
	s := srv.open(t)
	if empty, err := s.Survey(t.Context()); err != nil || empty.Commander != nil || len(empty.Controls) != 0 || empty.Now.IsZero() {
		t.Fatalf("%+v, %v", empty, err)
	}
	l := take(t, s, ana)
	overdue := stamp
	overdue.ReviewAt, overdue.Reason = time.UnixMilli(1), "drill"
	wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(1600)), overdue), Applied, "")
	srv.do(t, "hset", "rewarm:{catalog}:controls", "by.hand", "on")
	srv.do(t, "hset", "rewarm:{catalog}:commander", "until", "1")
	got, err := s.Survey(t.Context())
	if err != nil || len(got.Controls) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := got.Commander; c == nil || c.Run != runA || c.Actor != "ana" || c.Host != "ops-1" || !c.Lapsed() {
		t.Errorf("commander %+v", c)
	}
	hand, ours := got.Controls[0], got.Controls[1]
	if hand.Control != "by.hand" || *hand.Raw != "on" || hand.Meta != nil || !hand.Edited() || hand.Away() || hand.Overdue(got.Now) {
		t.Errorf("a hand's control %+v", hand)
	}
	if *ours.Raw != "1600" || ours.Edited() || !ours.Away() || ours.Since().IsZero() || !ours.Overdue(got.Now) || ours.Meta.Reason != "drill" {
		t.Errorf("our control %+v, %+v", ours, ours.Meta)
	}
	wantOutcome(t, s.Apply(t.Context(), take(t, s, ana), plan(t, s, admission, number(3200)), overdue), Applied, "")
	got, err = s.Survey(t.Context())
	if err != nil || got.Controls[1].Away() || got.Controls[1].Overdue(got.Now) || !got.Controls[1].Since().IsZero() {
		t.Errorf("back at its steady value: %+v, %v", got.Controls, err)
	}
}

func testChanges(t *testing.T, srv testServer) {
	s := srv.open(t)
	if none, err := s.Changes(t.Context(), 10); err != nil || len(none) != 0 {
		t.Fatalf("%+v, %v", none, err)
	}
	l := take(t, s, ana)
	why := stamp
	why.Reason = "drill"
	for _, to := range []float64{1600, 800} {
		wantOutcome(t, s.Apply(t.Context(), l, plan(t, s, admission, number(to)), why), Applied, "")
	}
	got, err := s.Changes(t.Context(), 10)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	first, second := got[0], got[1]
	if first.Before != nil || *first.After != "1600" || *second.Before != "1600" || *second.After != "800" || second.Version != 2 ||
		second.Run != runA || second.Fence != l.Fence || second.Actor != "ana" || second.Reason != "drill" || second.At.IsZero() {
		t.Errorf("changes %+v", got)
	}
	if latest, err := s.Changes(t.Context(), 1); err != nil || len(latest) != 1 || latest[0].ID != second.ID {
		t.Errorf("the latest %+v, %v", latest, err)
	}
	if next, err := s.AwaitChanges(t.Context(), first.ID); err != nil || len(next) != 1 || next[0].ID != second.ID {
		t.Errorf("after the first %+v, %v", next, err)
	}
}

// A failover may bring back the commander before this one. Whoever came after it may take
// the command again; a stranger may not.
func testGoneCommander(t *testing.T, srv testServer) {
	s := srv.open(t)
	take(t, s, Holder{Run: runB, Actor: "ben", Host: "ops-2"})
	key := "rewarm:{catalog}:commander"
	before := srv.do(t, "hmget", key, "fence", "since", "until").([]any)
	srv.do(t, "hset", key, "until", "1")
	l := take(t, s, ana)
	srv.do(t, "hset", key, "run", runB, "actor", "ben", "fence", before[0], "since", before[1], "until", before[2])
	var commanded *Commanded
	if _, err := s.Take(t.Context(), ana); !errors.As(err, &commanded) {
		t.Fatalf("a stranger took the command: %v", err)
	}
	again := ana
	again.Fence, again.Since = l.Fence, l.Since.Add(time.Millisecond)
	if got := take(t, s, again); got.Fence <= l.Fence {
		t.Errorf("fence %d after %d", got.Fence, l.Fence)
	}
}

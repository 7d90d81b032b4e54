package cli

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// mirrorSeat is a machine with a state directory and a Redis that has mirrors.
type mirrorSeat struct {
	t     *testing.T
	dir   string
	redis *miniredis.Miniredis
	url   string
}

const mirroredID = "20261129T100801Z-book-7f3a"

func newMirrorSeat(t *testing.T) *mirrorSeat {
	t.Helper()
	redis := miniredis.RunT(t)
	return &mirrorSeat{t: t, dir: t.TempDir(), redis: redis, url: "redis://" + redis.Addr()}
}

// records makes the records of one process of the run, behind those of others.
func (s *mirrorSeat) records(host string, fence int64, n int, earlier ...audit.Record) []audit.Record {
	s.t.Helper()
	dir := s.t.TempDir()
	options := audit.Options{Run: mirroredID}
	if len(earlier) > 0 {
		options.Earlier = []string{filepath.Join(dir, "earlier")}
		if err := audit.Place(options.Earlier[0], earlier); err != nil {
			s.t.Fatal(err)
		}
	}
	log, err := audit.Create(filepath.Join(dir, "log"), frozenClock{}, options)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	_, source, _ := readBundled(bundledBook)
	var first any = &steps.Resumed{Host: host, User: "ben", Fence: fence, Approve: steps.Manual}
	kind := steps.KindResumed
	if len(earlier) == 0 {
		kind, first = steps.KindBegun, &steps.Begun{Format: steps.FormatV1, Run: mirroredID, Service: "catalog", File: "book.yaml", Runbook: source,
			Parameters: map[string]string{"cell": "cell-c"}, Fence: fence, Host: host, Redis: s.url, Prometheus: "http://127.0.0.1:1"}
	}
	list := slices.Clone(earlier)
	for i := range n {
		record, err := log.Append("ana", kind, first)
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, record)
		kind, first = steps.KindNoted, &steps.Noted{By: host, Text: strings.Repeat("x", i)}
	}
	return list
}

// mirrors puts records into the mirror.
func (s *mirrorSeat) mirrors(records ...audit.Record) {
	s.t.Helper()
	for _, r := range records {
		s.mirrorsLine(r.Line())
	}
}

func (s *mirrorSeat) mirrorsLine(line []byte) {
	s.t.Helper()
	store, err := actions.Open(actions.Options{URL: s.url, Service: "catalog", Clock: wallClock{}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	if err := store.Mirror(context.Background(), mirroredID, [][]byte{line}); err != nil {
		s.t.Fatal(err)
	}
}

// keeps puts records on the disk.
func (s *mirrorSeat) keeps(records ...audit.Record) {
	s.t.Helper()
	if err := audit.Place(filepath.Join(s.dir, "runs", mirroredID, "audit.jsonl"), records); err != nil {
		s.t.Fatal(err)
	}
}

// says runs rewarm and demands an exit code and texts on either stream.
func (s *mirrorSeat) says(code exitCode, args string, texts ...string) {
	s.t.Helper()
	var out bytes.Buffer
	p := newProgram(strings.NewReader(""), &out, &out, madeUp(nil))
	words := append(strings.Fields(args), "--redis", s.url, "--state-dir", s.dir, "--plain")
	if got := p.run(words); exitCode(got) != code {
		s.t.Errorf("rewarm %s: exit code %d, want %d:\n%s", args, got, code, out.String())
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			s.t.Errorf("rewarm %s does not say %q:\n%s", args, text, out.String())
		}
	}
	if strings.ContainsFunc(out.String(), hidden) {
		s.t.Errorf("rewarm %s prints something raw: %q", args, out.String())
	}
}

// TestRunOfAnotherMachine: what reads a run reads it from its mirror, in whatever order and
// however often its records came, beside what a hand put there.
func TestRunOfAnotherMachine(t *testing.T) {
	s := newMirrorSeat(t)
	records := s.records("ops-1", 1, 6)
	s.mirrors(records[3], records[0], records[1], records[0], records[2], records[5], records[4])
	s.mirrorsLine([]byte("\x1b[2Jnonsense"))
	for _, name := range []string{"last", mirroredID, "7f3a", mirroredID + " --service catalog"} {
		s.says(exitDone, "status "+name, "records 1 to 6 come from the mirror in redis "+s.redis.Addr()+": the run has no log on this machine", "state interrupted",
			"1 entry of the mirror", "neither a record nor a signed head")
	}
	s.says(exitDone, "audit show last", ": xxxx")
	s.says(exitDone, "audit verify last --deep", "run "+mirroredID+" verifies", "6 records, head 6/")
	s.says(exitDone, "runs", mirroredID+" ", "interrupted catalog, of another machine")
	s.says(exitUsage, "status nothing", `there is no run "nothing"`)
	s.says(exitUsage, "status 20261129T100801Z-other-0000 --service catalog", "redis has no mirror of run 20261129T100801Z-other-0000")
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) != 0 {
		t.Errorf("looking has left %v (%v)", entries, err)
	}
}

// TestDiskThatLacksRecords: what a full disk did not take is taken from the mirror, also when
// it took not even the first record.
func TestDiskThatLacksRecords(t *testing.T) {
	for _, kept := range []int{0, 2, 6} {
		s := newMirrorSeat(t)
		records := s.records("ops-1", 1, 6)
		s.mirrors(records...)
		switch log := filepath.Join(s.dir, "runs", mirroredID, "audit.jsonl"); kept {
		case 0:
			if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o700), os.WriteFile(log, []byte(`{"seq":1,"pre`), 0o600)); err != nil {
				t.Fatal(err)
			}
			s.says(exitDone, "status last", "records 1 to 6 come from the mirror")
			s.says(exitDone, "runs", "interrupted catalog, 6 records of it only in redis")
		case 2:
			s.keeps(records[:2]...)
			s.says(exitDone, "status last", "records 3 to 6 come from the mirror", "this machine's disk lacks them")
			s.says(exitDone, "runs", "interrupted catalog, 4 records of it only in redis")
		case 6:
			s.keeps(records...)
			s.says(exitDone, "status last", "state interrupted")
			s.says(exitDone, "runs", "interrupted catalog\n")
		}
		s.says(exitDone, "audit verify last --deep", "6 records, head 6/")
	}
}

// TestRunThatWentOnElsewhere: the branch with the younger fence is the run. The machine that
// slept through it is told, and keeps its log; the run itself names the fork and goes on.
func TestRunThatWentOnElsewhere(t *testing.T) {
	s := newMirrorSeat(t)
	common := s.records("ops-1", 1, 4)
	here := append(slices.Clone(common), s.records("ops-1", 0, 3, common...)[4:]...)
	there := s.records("ops-2", 2, 2, common...)
	s.mirrors(slices.Concat(there, here[4:])...)
	s.keeps(here...)
	fork := "fork at record 5: "
	s.says(exitUnverified, "resume last", fork, "ben on ops-2 went on with the run in record 5", "hint: keep ")
	s.says(exitUnverified, "audit verify last", fork)
	s.says(exitDone, "status last", fork)
	old := filepath.Join(t.TempDir(), "old.jsonl")
	if err := os.Rename(filepath.Join(s.dir, "runs", mirroredID, "audit.jsonl"), old); err != nil {
		t.Fatal(err)
	}
	s.says(exitDone, "status last", "records 1 to 6 come from", "also has records 5 to 7 of another process, with an older fencing number, that went on from record 4: a fork")
	s.says(exitUnverified, "audit verify last --segment "+old, "fork at record 5")
}

// TestMirrorWithDamage: a run whose mirror has lost or changed records is not gone on with
// from there, and what is wrong is named.
func TestMirrorWithDamage(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(records []audit.Record) []audit.Record
		says  string
	}{
		"a record is missing": {func(r []audit.Record) []audit.Record { return slices.Delete(r, 3, 4) }, "records 4 to 4 are missing"},
		"the first is":        {func(r []audit.Record) []audit.Record { return r[1:] }, "records 1 to 1 are missing"},
		"one was changed":     {func(r []audit.Record) []audit.Record { r[3].Actor = "eve"; return r }, "its record 5 does not follow from its record 4"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMirrorSeat(t)
			s.mirrors(test.spoil(s.records("ops-1", 1, 6))...)
			s.says(exitUnverified, "resume last --service catalog", test.says)
		})
	}
}

// TestMirrorWithHeads: a signed head must fit, whoever signed it; a key that is known is named
// when it did not sign.
func TestMirrorWithHeads(t *testing.T) {
	s := newMirrorSeat(t)
	records := s.records("ops-1", 1, 6)
	key, err := audit.OpenKey(t.TempDir(), "ops-1")
	if err != nil {
		t.Fatal(err)
	}
	sign := func(seq uint64, hash string) {
		signed, err := audit.SignHead(audit.Head{Run: mirroredID, Seq: seq, Hash: hash}, key.Signer)
		if err != nil {
			t.Fatal(err)
		}
		s.mirrorsLine(signed)
	}
	s.mirrors(records...)
	sign(3, records[3].Prev)
	s.says(exitDone, "status last", "head 3/"+records[3].Prev[:12]+" fits; it is signed by ops-1+", "put that machine's head.pub into")
	if err := errors.Join(os.MkdirAll(filepath.Join(s.dir, "keys"), 0o700), os.WriteFile(filepath.Join(s.dir, "keys", "ops-1.pub"), []byte(key.Public+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.says(exitDone, "audit verify last", "6 records")
	sign(9, records[3].Prev)
	s.says(exitUnverified, "audit verify last", "3 records removed from its end")
	sign(4, records[3].Prev)
	s.says(exitUnverified, "audit verify last", "the log was rewritten")
}

// TestLogBehindItsHeadIsNotGoneOnWith: records that were removed from its end are not forgotten by a resume, which would
// sign a head without them; where the mirror has them, it takes them from there.
func TestLogBehindItsHeadIsNotGoneOnWith(t *testing.T) {
	for name, signer := range map[string]string{"signed here": "keys", "signed elsewhere": "elsewhere"} {
		t.Run(name, func(t *testing.T) {
			s := newMirrorSeat(t)
			records := s.ended(s.records("ops-1", 1, 6))
			s.keeps(records[:3]...)
			s.signs(signer, 6, records[6].Prev)
			was := s.kept()
			s.says(exitUnverified, "resume last", "the log ends at 3/"+records[3].Prev[:12]+" but its head is 6/"+records[6].Prev[:12],
				"3 records removed from its end", "hint: keep ", "rewarm takeover "+mirroredID)
			if got := s.kept(); !maps.Equal(got, was) {
				t.Errorf("resume has changed the run's folder:\n%q\nwas\n%q", got, was)
			}
			s.mirrors(records...)
			s.says(exitUsage, "resume last", "run "+mirroredID+" is aborted")
			s.signs(signer, 2, records[3].Prev)
			s.says(exitUnverified, "resume last", "the log was rewritten")
		})
	}
	s := newMirrorSeat(t)
	s.keeps(s.records("ops-1", 1, 3)...)
	if err := os.WriteFile(filepath.Join(s.dir, "runs", mirroredID, "head"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(exitUnverified, "resume last", "head: the signed head: ")
}

// TestLeaseOutlivesItsProcess: of a walk of this machine the lock tells that it is gone, when Redis knows it 15 s later.
func TestLeaseOutlivesItsProcess(t *testing.T) {
	for host, state := range map[string]string{"desk": "interrupted", "ops-2": "running"} {
		s := newMirrorSeat(t)
		s.keeps(s.records(host, 1, 3)...)
		store, err := actions.Open(actions.Options{URL: s.url, Service: "catalog", Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Take(t.Context(), actions.Holder{Run: mirroredID, Actor: "ben", Host: host}); err != nil {
			t.Fatal(err)
		}
		s.says(exitDone, "status last", "state "+state)
		s.says(exitDone, "runs", mirroredID, " "+state+" ")
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTakeoverOfALogThatIsNotWhole: what a person has said in what is missing is not known, which is said.
func TestTakeoverOfALogThatIsNotWhole(t *testing.T) {
	s := newMirrorSeat(t)
	records := s.records("ops-1", 1, 6)
	s.keeps(records[:3]...)
	s.mirrors(records[:3]...)
	for head, found := range map[uint64]int{3: 0, 6: 1} {
		s.signs("keys", head, records[3].Prev)
		p := newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, madeUp(nil))
		p.settings.stateDir, p.settings.redis = s.dir, s.url
		to, err := p.addressee(t.Context(), "last", "")
		if err != nil {
			t.Fatal(err)
		}
		_, over, err := p.overOf(t.Context(), to, "nobody answers")
		if err != nil || len(over.Found) != found || found > 0 && !strings.Contains(over.Found[0], "3 records removed from its end") {
			t.Errorf("head %d: %+v, %v", head, over, err)
		}
		for _, shut := range p.closers {
			_ = shut()
		}
	}
}

// TestLogBehindItsHeadIsShownWithAWarning: whoever only looks at it sees what is there, and what is not.
func TestLogBehindItsHeadIsShownWithAWarning(t *testing.T) {
	s := newMirrorSeat(t)
	records := s.ended(s.records("ops-1", 1, 6))
	s.keeps(records...)
	s.signs("keys", 9, records[6].Prev)
	for _, command := range []string{"status last", "watch last --plain"} {
		s.says(exitDone, command, "aborted", "warning: the log ends at 7/", "2 records removed from its end; keep ", "rewarm takeover "+mirroredID)
	}
	s.signs("keys", 7, records[6].Prev)
	s.says(exitDone, "watch last --plain", "aborted", "warning: record 7 is 7/", "the log was rewritten")
}

// ended puts an ending behind records.
func (s *mirrorSeat) ended(records []audit.Record) []audit.Record {
	s.t.Helper()
	dir := s.t.TempDir()
	earlier := filepath.Join(dir, "earlier")
	if err := audit.Place(earlier, records); err != nil {
		s.t.Fatal(err)
	}
	log, err := audit.Create(filepath.Join(dir, "log"), frozenClock{}, audit.Options{Run: mirroredID, Earlier: []string{earlier}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	end, err := log.Append("ana", steps.KindAborted, &steps.Ended{Reason: "enough", By: "ana"})
	if err != nil {
		s.t.Fatal(err)
	}
	return append(records, end)
}

// signs puts a head beside the log, signed with the key in a folder of the state directory.
func (s *mirrorSeat) signs(keys string, seq uint64, hash string) {
	s.t.Helper()
	key, err := audit.OpenKey(filepath.Join(s.dir, keys), "ops-1")
	if err != nil {
		s.t.Fatal(err)
	}
	signed, err := audit.SignHead(audit.Head{Run: mirroredID, Seq: seq, Hash: hash}, key.Signer)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "runs", mirroredID, "head"), signed, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// kept is what stands in the run's folder, by name.
func (s *mirrorSeat) kept() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(s.dir, "runs", mirroredID, "*")) // the pattern is well formed
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return files
}

// TestStoppedRepairIsNoDamage: a cut last line that a stopped repair has closed is one that the next repair explains.
func TestStoppedRepairIsNoDamage(t *testing.T) {
	s := newMirrorSeat(t)
	records := s.records("ops-1", 1, 4)
	s.keeps(records[:3]...)
	log := filepath.Join(s.dir, "runs", mirroredID, "audit.jsonl")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{1, 60, 120, len(records[3].Line()) - 1} {
		cut := append(slices.Clone(records[3].Line()[:length]), '\n')
		if err := os.WriteFile(log, append(slices.Clone(whole), cut...), 0o600); err != nil {
			t.Fatal(err)
		}
		s.says(exitDone, "status last", "state interrupted")
		s.says(exitDone, "audit verify last", "3 records, head 3/")
	}
	if err := os.WriteFile(log, append(slices.Clone(whole), "hello\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(exitUnverified, "audit verify last", "audit.jsonl:4: damaged (byte "+strconv.Itoa(len(whole))+")")
}

// TestRedisAwayHidesNothing: a log that is here is shown without its mirror, which is said.
func TestRedisAwayHidesNothing(t *testing.T) {
	s := newMirrorSeat(t)
	s.keeps(s.records("ops-1", 1, 3)...)
	s.redis.Close()
	s.says(exitDone, "status last", "state interrupted", "the mirror of the run was not looked at: redis ")
	s.says(exitDone, "runs", "interrupted", "was not looked at")
}

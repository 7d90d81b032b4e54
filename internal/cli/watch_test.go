package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/audit"
)

// TestAWatchCanGoBack: the records of a run can be had once more, from its log or from its mirror.
func TestAWatchCanGoBack(t *testing.T) {
	for name, watch := range map[string]func(*mirrorSeat, []audit.Record) *watching{
		"log": func(seat *mirrorSeat, records []audit.Record) *watching {
			seat.keeps(records...)
			return seat.watchesLog(false)
		},
		"mirror": func(seat *mirrorSeat, records []audit.Record) *watching {
			seat.mirrors(records...)
			return seat.watchesMirror()
		},
	} {
		t.Run(name, func(t *testing.T) {
			seat := newMirrorSeat(t)
			records := seat.records("ops-1", 1, 6)
			w := watch(seat, records)
			for w.seen < len(records) {
				w.looks(1)
			}
			var again []audit.Record
			for record, err := range w.source.again(2, 5) {
				if err != nil {
					t.Fatal(err)
				}
				record.Body = bytes.Clone(record.Body)
				again = append(again, record)
			}
			if diff := cmp.Diff(records[2:5], again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// watching looks on at a run as rewarm watch does, on a clock that goes on while it waits.
type watching struct {
	t      *testing.T
	source source
	seen   int
}

// watchesLog looks on at the log on the disk.
func (s *mirrorSeat) watchesLog(lab bool) *watching {
	p := s.program()
	folder := runFolder{dir: filepath.Join(s.dir, "runs", mirroredID), run: mirroredID}
	return &watching{t: s.t, source: newTailed(p, &runLog{folder: folder, lab: lab})}
}

// watchesMirror looks on at a run that has no log here.
func (s *mirrorSeat) watchesMirror() *watching {
	s.t.Helper()
	p := s.program()
	p.settings.redis = s.url
	_, source, err := p.watched(s.t.Context(), mirroredID, "")
	if err != nil {
		s.t.Fatal(err)
	}
	return &watching{t: s.t, source: source}
}

func (s *mirrorSeat) program() *program {
	p := newProgram(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, madeUp(nil))
	p.settings.stateDir, p.clock = s.dir, &modelClock{now: time.Now()}
	return p
}

// looks looks so many times, and gives what there is to say then.
func (w *watching) looks(times int) notice {
	w.t.Helper()
	for range times {
		records, err := w.source.next(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		w.seen += len(records)
	}
	return w.source.notice()
}

// says demands a notice and how many records were seen.
func (w *watching) says(n notice, want string, records int) {
	w.t.Helper()
	if want == "" && n.text != "" || !strings.Contains(n.text, want) || w.seen != records {
		w.t.Errorf("after %d records, want %d: %q, want %q", w.seen, records, n.text, want)
	}
	if strings.ContainsFunc(n.text, hidden) {
		w.t.Errorf("something is said raw: %q", n.text)
	}
}

// TestAWatchSaysThatNobodyWalks: a run whose process is gone without a word, until somebody goes on with it; an end is an
// end.
func TestAWatchSaysThatNobodyWalks(t *testing.T) {
	seat := newMirrorSeat(t)
	records := seat.records("ops-1", 1, 4)
	seat.keeps(records[:3]...)
	path := filepath.Join(seat.dir, "runs", mirroredID, "audit.jsonl")
	log, err := audit.Open(path, frozenClock{}, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := seat.watchesLog(false)
	w.says(w.looks(60), "", 3)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	n := w.looks(60)
	w.says(n, "nobody walks this run any more: its process is gone since record 3, ", 3)
	if !n.over || n.last || !strings.Contains(n.text, "rewarm resume "+mirroredID+" goes on with it") {
		t.Errorf("%+v", n)
	}
	appendTo(t, path, string(records[3].Line())+"\n")
	w.says(w.looks(2), "", 4)
	appendTo(t, path, string(seat.ended(records)[4].Line())+"\n")
	w.says(w.looks(60), "", 5)
}

// TestAWatchOfALabThatIsGoneEnds: nobody goes on with the run of a lab.
func TestAWatchOfALabThatIsGoneEnds(t *testing.T) {
	seat := newMirrorSeat(t)
	seat.keeps(seat.records("ops-1", 1, 3)...)
	w := seat.watchesLog(true)
	var said []notice
	f := following{from: w.source, printer: jsonLines{&bytes.Buffer{}}, untilEnd: true, says: func(n notice) { said = append(said, n) }}
	if err := f.follow(t.Context()); err != nil || len(said) != 1 || !said[0].last || !strings.Contains(said[0].text, "its lab has ended with it") {
		t.Errorf("%v: %+v", err, said)
	}
}

// TestAWatchSaysWhatIsWrongWithTheEnd of a log, and goes on when it has come right.
func TestAWatchSaysWhatIsWrongWithTheEnd(t *testing.T) {
	seat := newMirrorSeat(t)
	records := seat.records("ops-1", 1, 5)
	seat.keeps(records[:3]...)
	path := filepath.Join(seat.dir, "runs", mirroredID, "audit.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := seat.watchesLog(false)
	w.says(w.looks(2), "", 3)
	for _, end := range []string{"\x1b]52;c;eA==\a\u009b31m\n", "\x00\x00\x00", strings.Repeat("x", 5<<20)} {
		appendTo(t, path, end)
		w.says(w.looks(2), "what follows record 3 is shown when it has come right", 3)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		w.says(w.looks(2), "", 3)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	w.says(w.looks(2), "it is tried again", 3)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, string(records[3].Line())+"\n")
	w.says(w.looks(2), "", 4)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestAWatchOfAMirror says what cannot be read of it, that it is gone, and that nobody walks the run or nothing comes.
func TestAWatchOfAMirror(t *testing.T) {
	seat := newMirrorSeat(t)
	records := seat.records("ops-1", 1, 6)
	seat.mirrors(records[:3]...)
	w := seat.watchesMirror()
	m := w.source.(*mirrorTail)
	silent := func() {
		t.Helper()
		var err error
		if m.quiet, err = m.silence(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	w.says(w.looks(1), "", 3)
	silent()
	w.says(m.notice(), "nobody walks this run any more: nobody has its command, and the last entry of its mirror is of ", 3)
	seat.redis.HSet("rewarm:{catalog}:commander", "over:"+mirroredID,
		`{"run":"NEXT","actor":"bea\u001b[2J","host":"ops-2","since":"1","why":"it sleeps"}`)
	silent()
	w.says(m.notice(), `run "NEXT" has taken over: "bea\x1b[2J" on "ops-2", at `, 3)

	seat.mirrorsLine([]byte("\x1b[2Jnonsense"))
	w.says(w.looks(1), "the last 1 entry of the mirror in redis "+seat.redis.Addr()+" cannot be read", 3)
	seat.mirrors(records[4])
	w.says(w.looks(1), "records 4 to 4 are missing", 3)
	seat.mirrors(records[3])
	w.says(w.looks(1), "", 5)

	until := time.Now().Add(time.Hour)
	seat.redis.HSet("rewarm:{catalog}:commander", "run", mirroredID, "actor", "ana\x1b[2J", "host", "ops-1", "until", fmt.Sprint(until.UnixMilli()))
	silent()
	w.says(m.notice(), "", 5)
	seat.redis.SetTime(time.Now().Add(2 * silentFor))
	silent()
	w.says(m.notice(), `nothing new comes: ana\u001b[2J on ops-1 has the command of this run`, 5)
	seat.redis.Del("rewarm:{catalog}:log:" + mirroredID)
	silent()
	w.says(m.notice(), "is gone: it was deleted, or its server has lost it", 5)
	seat.mirrors(records[5])
	w.says(w.looks(1), "", 6)
	seat.mirrors(seat.ended(records)[6])
	w.says(w.looks(1), "", 7)
	silent()
	w.says(m.notice(), "", 7)
}

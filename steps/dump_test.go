package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dump writes down everything in a state that decides what comes next, in one order.
func dump(s *State) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s seq %d at %s approve %s modes %v undecided %v ending %q broken %v down %q", s.Stage, s.Seq, s.LastAt.UTC(), s.Approve, s.Modes, s.Undecided, s.Ending, s.Broken, s.RedisDown)
	line("abort %v idle %v stopping %v clear %s %d done %s offset %s polls %d+%d away %v", s.aborting != nil, s.toIdle, s.stopping, s.clearAt.UTC(), s.clearPoll, s.doneAt.UTC(), s.offset, s.pollBase, len(s.polls), s.away.tries)
	for step := range s.Doc.Steps() {
		st := *s.Step(step.Name)
		awaiting, undoing := flipText(st.Awaiting), flipText(st.Undoing)
		byHand := fmt.Sprint(st.ByHand)
		if st.ByHand != nil {
			byHand += fmt.Sprint(st.ByHand.At.UTC(), st.ByHand.TakenBack)
		}
		ordered := fmt.Sprint(st.Ordered)
		if st.Ordered != nil {
			ordered = fmt.Sprint(st.Ordered.By, st.Ordered.Reason, st.Ordered.At.UTC())
		}
		if st.NotMade != nil {
			ordered += "; not made: " + st.NotMade.String()
		}
		st.Awaiting, st.Undoing, st.Acted, st.ByHand, st.Ordered, st.NotMade = nil, nil, nil, nil, nil, nil
		st.EnteredAt, st.TargetAt = st.EnteredAt.UTC(), st.TargetAt.UTC()
		failed := shown(st.Failed)
		st.Failed = nil
		line("step %s %+v awaiting %s undoing %s failed %s by hand %s ordered %s", step.Name, st, awaiting, undoing, failed, byHand, ordered)
	}
	for _, name := range slices.Sorted(maps.Keys(s.controls)) {
		c := s.controls[name]
		if !c.Known && !c.Ours {
			continue
		}
		line("control %s known %v raw %s expected %s ours %v lapsed %v original %s order %d failed %s since %s", name, c.Known, shown(c.Raw), shown(c.Expected), c.Ours, c.Lapsed, shown(c.Original), c.Order, shown(c.Failed), c.Since.UTC())
	}
	for _, r := range s.Readings(time.Time{}) {
		line("reading %v %v %v of %d", r.Ask, r.Value, r.Manual, len(r.given))
	}
	for _, f := range s.flips {
		line("flip %s", flipText(f))
	}
	for _, i := range s.open {
		line("open %s %s", i.Target, i.Digest)
	}
	for _, a := range s.approvals {
		line("approval %s %s void %v at %s", a.Scope, a.Digest, a.Void, a.At.UTC())
	}
	for _, h := range s.holds {
		line("hold %s since %s", h.Cause, h.Since.UTC())
	}
	for _, name := range slices.Sorted(maps.Keys(s.guards)) {
		line("guard %s %v", name, s.guards[name])
	}
	for _, c := range s.calls {
		line("call %+v by hand %v", c.Called, c.ByHand)
	}
	for _, w := range s.watches() {
		if w.ID == exitID {
			continue
		}
		t := s.track(w)
		line("watch %s mark %s passes %d fails %d unknown %d since %s verdict %s", w.ID, w.Mark.UTC(), t.passes, t.fails, t.unknown, t.sinceWhen().UTC(), t.last.Verdict)
	}
	x := s.followExit()
	line("exit since %s held %s passes %v verdict %s green %d observed %d recovered %v", x.since.UTC(), x.held.UTC(), x.passesNow, x.last.Verdict, x.green, x.observed(s.exitWatch().Mark), s.Recovered != nil)
	return b.String()
}

func flipText(f *FlipState) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprintf("%+v version %d mark %s nothing %v undone %v idled %v", f.Target, f.Version, f.Mark.UTC(), f.Nothing, f.Undone, f.Idled)
}

// observed counts the latest two observations of the exit that are from after its mark.
func (x *exitTrack) observed(mark time.Time) int {
	n := 0
	for _, p := range []*poll{x.before, x.earlier} {
		if p != nil && p.at.After(mark) {
			n++
		}
	}
	return n
}

// shadow folds the records of a walk one by one, as an observer does that follows it. It goes on in clones, and none
// that it left behind may change any more.
type shadow struct {
	state *State
	taken int
	left  *State
	stood string // what was left behind
}

// cloneEvery is how many records lie between two clones, about.
const cloneEvery = 7

// goOn leaves a state behind and goes on in its clone.
func (f *shadow) goOn(t tester) {
	t.Helper()
	if f.left != nil {
		if diff := cmp.Diff(f.stood, dump(f.left)); diff != "" {
			t.Fatalf("up to record %d a state was changed by its clone:\n%s", f.taken, diff)
		}
	}
	f.left, f.stood = f.state, dump(f.state)
	f.state = f.state.Clone()
}

// follow takes in the records that have come, and wants the state of the walk.
func (f *shadow) follow(t tester, j *memoryJournal, live *State) {
	t.Helper()
	for _, r := range j.records[f.taken:] {
		body, err := DecodeBody(r.Kind, r.Body)
		if begun, ok := body.(*Begun); ok && err == nil {
			f.state, err = newState(begun)
		}
		if err == nil {
			err = f.state.apply(r, body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f.taken = len(j.records)
	compare(t, j, f.state, live)
	if f.taken%cloneEvery == 0 {
		f.goOn(t)
	}
}

// sameFold folds the records from the start and wants the state of the walk.
func sameFold(t tester, j *memoryJournal, live *State) {
	t.Helper()
	folded, err := Fold(j.all())
	if err != nil {
		t.Fatal(err)
	}
	compare(t, j, folded, live)
}

func compare(t tester, j *memoryJournal, folded, live *State) {
	t.Helper()
	if diff := cmp.Diff(dump(folded), dump(live)); diff != "" {
		t.Fatalf("after record %d the fold of the records is not the state of the walk (-fold +walk):\n%s", len(j.records), diff)
	}
}

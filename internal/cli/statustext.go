package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/steps"
)

// standing is where a run stands, as people are told.
type standing struct {
	state *steps.State
	now   time.Time
	past  bool       // nothing walks it: what others have changed since is not known
	words []string   // that can be typed now, nil where nothing can
	over  *takenOver // by another run, nil when none has
}

// text has what blocks, what can be typed and what waiting costs last, so that they stay
// on the screen.
func (v standing) text(width int) string {
	s := v.state
	rows := []string{fmt.Sprintf("run %s, service %s, stage %s", s.Begun.Run, s.Begun.Service, s.Stage)}
	if hand := s.Begun.Hand; hand != nil {
		rows[0] = fmt.Sprintf("run %s, service %s, %s by hand: %s", s.Begun.Run, s.Begun.Service, hand.Control, hand.Reason)
	}
	if s.Recovered != nil {
		rows = append(rows, recoveredText(s.Recovered))
	}
	rows = append(rows, olderThanRun(s)...)
	if since, out := s.OutAgain(); out && v.over == nil {
		rows = append(rows, "OUT OF BOUNDS again since "+clockTime(since, v.now))
	}
	if s.Shift != nil && s.Ending == "" && v.over == nil {
		rows = append(rows, "watch: "+s.Shift.String())
	}
	if declared := s.Declared(); declared != "" {
		rows = append(rows, declared)
	}
	for _, way := range s.First() {
		rows = append(rows, way.String())
	}
	rows = append(rows, v.flipped()...)
	for _, call := range s.FailedCalls() {
		rows = append(rows, call.NotDone())
	}
	if owed := s.Owed(); len(owed) > 0 && v.over == nil {
		rows = append(rows, "on, effect not proved yet: "+strings.Join(owed, ", "))
	}
	rows = append(rows, v.undos()...)
	for _, h := range s.DoneByHand() {
		rows = append(rows, "done by hand, for a person to take back: "+h.String())
	}
	if !v.past && v.over == nil {
		rows = append(rows, readingRows(s, v.now)...)
	}
	rows = append(rows, v.blocks()...)
	for i := range rows {
		rows[i] = oneLine(rows[i])
	}
	return wrapRows(rows, width)
}

// undos says what persons want put back and what it waits for, and what is not put back any more and why.
func (v standing) undos() []string {
	rows, takenBy := []string(nil), ""
	if v.over != nil {
		takenBy = v.over.run
	} else {
		rows = v.undosThatWait()
	}
	for _, l := range v.state.UndosNotMade(takenBy) {
		rows = append(rows, "undo not made: "+l.String())
	}
	return rows
}

func (v standing) undosThatWait() []string {
	var rows []string
	blocking := v.state.Blocking(v.now)
	for _, l := range v.state.Lifts() {
		rows = append(rows, "undo waits "+v.since(l.At)+": "+l.String()+"; "+l.Drop()+" drops it")
		if stands := v.state.Stands(l, v.now); !strings.Contains(blocking, stands) { // which is said below
			rows = append(rows, "  for:  "+stands)
		}
	}
	return rows
}

// blocks says what blocks, what may be done about it, and what waiting costs.
func (v standing) blocks() []string {
	switch {
	case v.state.Ending != "":
		return nil
	case v.over != nil:
		return []string{"TAKEN OVER: " + v.over.sentence}
	}
	var rows []string
	for _, hold := range v.state.Holds() {
		rows = append(rows, "held "+v.since(hold.Since)+": "+hold.Sentence)
		if hold.Can != "" {
			rows = append(rows, "  may:  "+hold.Can)
		}
	}
	if stands := v.state.Standing(v.now); stands.Blocking != "" && len(rows) == 0 {
		label := "blocks: "
		if stands.Early {
			label = "waits for samples from after the flip: "
		}
		rows = append(rows, label+stands.Blocking)
	}
	rows = append(rows, v.approvals()...)
	if len(v.words) > 0 {
		rows = append(rows, "may:    "+strings.Join(v.words, ", "))
	}
	if v.past && v.state.Begun.Lab { // nothing is left that could run out
		return rows
	}
	return append(rows, costRows(v.state, v.now)...)
}

// approvals says how each approval that waits is given from elsewhere. Where words can be typed the question says it.
func (v standing) approvals() []string {
	if v.past || v.words != nil {
		return nil
	}
	q := offered(v.state)
	var rows []string
	for _, offer := range q.Offers {
		what := fmt.Sprintf("%s %s: %s", offer.Scope, offer.Short(), strings.Join(changeRows(v.state.Doc, offer.Covers), ", "))
		if p := q.Planned; p != nil && p.Digest == offer.Digest {
			what = plannedText(p)
		}
		rows = append(rows, fmt.Sprintf("waits:  %s; rewarm approve %s %s", what, v.state.Begun.Run, offer.Short()))
	}
	return rows
}

// since says for how long something has been so or, where nobody walks, since when.
func (v standing) since(at time.Time) string {
	if v.past {
		return "since " + clockTime(at, v.now)
	}
	return "for " + ago(at, v.now)
}

// costRows says what waiting costs now.
func costRows(s *steps.State, now time.Time) []string {
	if costs := s.Costs(now); costs != "" {
		return []string{"costs:  " + costs}
	}
	return nil
}

// flipped lists what is not at its steady value, a row a control.
func (v standing) flipped() []string {
	overrides := v.state.OverridesAt(v.now)
	switch {
	case len(overrides) == 0 && v.past:
		return []string{"every control that the run flipped was at its steady value"}
	case len(overrides) == 0:
		return []string{"every control that the run flipped is at its steady value"}
	}
	longest := 0
	for _, o := range overrides {
		longest = max(longest, utf8.RuneCountInString(o.Control))
	}
	rows := []string{"not at its steady value:"}
	if v.over != nil {
		rows[0] = "not at its steady value when run " + v.over.run + " took over, whose they are now:"
	}
	for _, o := range overrides {
		rows = append(rows, fmt.Sprintf("  %-*s  %s", longest, o.Control, v.override(o)))
	}
	return rows
}

// override is one control: its value, its steady one, how long it has been so, by whom
// when not by this run, and when it is to be looked at again.
func (v standing) override(o steps.Override) string {
	lasts := ago(o.Since, v.now)
	if v.past {
		lasts = "since " + clockTime(o.Since, v.now)
	}
	text := fmt.Sprintf("%s (steady %s) %s", o.Value, withoutUnitOf(o.Steady, o.Value), lasts)
	switch o.By {
	case v.state.Begun.Run:
	case setByHand:
		text += ", " + setByHand
	default:
		text += also(", by ", o.By)
	}
	text += also(", LAPSED: readers obey ", o.Obeyed)
	return text + also(", owner ", o.Owner) + reviewText(o.ReviewAt, v.now)
}

// withoutUnitOf leaves out a unit that the other value names already.
func withoutUnitOf(value, other string) string {
	if number, unit, ok := strings.Cut(value, " "); ok && strings.HasSuffix(other, " "+unit) {
		return number
	}
	return value
}

func reviewText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case now.After(at):
		return ", OVERDUE for review since " + clockTime(at, now)
	}
	return ", review " + clockTime(at, now)
}

// clockTime is a time of day, with its date when that is not close to now; all in UTC.
func clockTime(at, now time.Time) string {
	const close = 12 * time.Hour
	if at.Sub(now).Abs() > close {
		return at.UTC().Format("2006-01-02 15:04")
	}
	return at.UTC().Format("15:04")
}

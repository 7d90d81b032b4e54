package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/steps"
)

// holdSection is every hold with what there is to know about it; what may be typed and what its gate reads now stand in
// the foot.
func (d *drawing) holdSection(width int) section {
	var rows []string
	if d.s.Ending != "" {
		return section{}
	}
	for _, hold := range d.s.Holds() {
		text := "HELD " + lasts(d.now.Sub(hold.Since)) + ": " + d.s.HeldFor(hold)
		rows = append(rows, d.paintedWrap(d.ink.bad, text, width, 2)...)
		if about := hold.About(); about != "" {
			rows = append(rows, d.paintedWrap(ink{}, "  "+about, width, 4)...)
		}
	}
	return section{rows: rows, least: min(2, len(rows)), flows: true}
}

// owedSection names the ways out that come before any mode, the calls that failed, what persons want put back, all of it
// where the screen ends first, and the steps whose effect has not been seen yet.
func (d *drawing) owedSection(width int) section {
	var rows, rest, names []string
	if !d.question.Modes {
		rows = d.firstRows(width)
	}
	if left, before, older := d.s.FoundLeft(); older {
		rows = append(rows, d.paintedWrap(d.ink.doubt, "the incident is older than this run: "+left.Control+" was left "+lasts(before)+
			" before it began", width, 6)...)
	}
	for _, call := range d.s.FailedCalls() {
		rows = append(rows, d.paintedWrap(d.ink.bad, d.signs.failed+" "+call.NotDone(), width, 6)...)
	}
	before := len(rows)
	for _, l := range d.s.Lifts() {
		text := fmt.Sprintf("undo waits %s: %s; \"%s\" drops it", lasts(d.now.Sub(l.At)), l, l.Drop())
		rows = append(rows, d.paintedWrap(d.ink.doubt, text, width, 6)...)
		names = append(names, l.Step)
	}
	if len(names) > 1 {
		rows, rest = append(rows[:before:before], d.paintedWrap(d.ink.doubt, "undo waits: "+strings.Join(names, ", "), width, 6)...), rows[before:]
	}
	least := len(rows)
	if owed := d.s.Owed(); len(owed) > 0 {
		rows = append(rows, d.paintedWrap(d.ink.doubt, unproved(owed, width), width, 6)...)
		least++
	}
	return section{rows: slices.Concat(rows, rest, d.undoRows(width)), least: least, flows: true}
}

// unproved names the brakes that are on and whose effect was not seen yet.
func unproved(owed []string, width int) string {
	names := strings.Join(owed, ", ")
	if text := "on, effect not proved yet: " + names; cells(text) <= width {
		return text
	}
	return "on, unproved: " + names
}

// undoRows say what an undo waits for, and which are not made any more and why.
func (d *drawing) undoRows(width int) []string {
	var rows []string
	for _, l := range d.s.Lifts() {
		if stands := d.s.Stands(l, d.now); !strings.Contains(d.blocking, stands) { // which the foot says
			rows = append(rows, d.paintedWrap(ink{}, "undo of "+l.Step+" waits for: "+stands, width, 6)...)
		}
	}
	for _, l := range d.s.UndosNotMade("") {
		rows = append(rows, d.paintedWrap(ink{}, "undo not made: "+l.String(), width, 6)...)
	}
	return rows
}

// controlSection is what is not at its steady value, with owner and age.
func (d *drawing) controlSection(width int) section {
	overrides := d.s.OverridesAt(d.now)
	hands := d.s.DoneByHand()
	if len(overrides)+len(hands) == 0 {
		return section{title: "controls", rows: []string{d.ink.quiet.paint(d.fit("all that this run flipped are at their steady value", width))}}
	}
	longest := 0
	for _, o := range overrides {
		longest = max(longest, cells(o.Control))
	}
	longest = min(longest, width/2)
	var rows []string
	for _, o := range overrides {
		rows = append(rows, d.overrideRow(o, longest, width))
	}
	for _, h := range hands {
		rows = append(rows, d.ink.doubt.paint(d.fit("BY HAND "+h.String(), width)))
	}
	return section{title: fmt.Sprintf("controls not at their steady value: %d", len(rows)), rows: rows, counted: true}
}

func (d *drawing) overrideRow(o steps.Override, nameWidth, width int) string {
	since, by := "", ""
	if !o.Since.IsZero() {
		since = " " + lasts(d.now.Sub(o.Since))
	}
	if o.By != d.s.Begun.Run {
		by = also(", by ", o.By)
	}
	state := d.fit(o.Value+" (steady "+withoutUnit(o.Steady, o.Value)+")"+since+also(", LAPSED: readers obey ", o.Obeyed)+by+also(", owner ", o.Owner), width-nameWidth-1)
	if !o.ReviewAt.IsZero() && d.now.After(o.ReviewAt) {
		state = d.ink.bad.paint(d.fit("REVIEW OVERDUE "+lasts(d.now.Sub(o.ReviewAt))+": "+state, width-nameWidth-1))
	}
	name := d.fit(o.Control, nameWidth)
	return name + spaces(nameWidth-cells(name)+1) + state
}

// withoutUnit leaves out a unit that the other value names already.
func withoutUnit(value, other string) string {
	if at := strings.IndexByte(value, ' '); at >= 0 && strings.HasSuffix(other, value[at:]) {
		return value[:at]
	}
	return value
}

// eventSection is what happened last, as far as a screen of that height can show it.
func (d *drawing) eventSection(width, height int) section {
	return section{title: "events", rows: d.story.latest.of(d.story, width, height), last: true}
}

// eventRows are the rows of the events that happened last, as they were drawn last: few records say anything.
type eventRows struct {
	told, width, height int
	rows                []string
}

func (r *eventRows) of(s *Story, width, height int) []string {
	if r.told != s.told || r.width != width || r.height != height {
		*r = eventRows{s.told, width, height, s.latestRows(width, height)}
	}
	return r.rows
}

func (s *Story) latestRows(width, height int) []string {
	var rows []string
	for i := len(s.events) - 1; i >= 0 && len(rows) < height; i-- {
		lines := wrapped(s.events[i].brief(width), width, len(briefTime)+1)
		slices.Reverse(lines)
		rows = append(rows, lines...)
	}
	slices.Reverse(rows)
	return rows
}

const briefTime = "15:04:05"

// brief is an event on as few rows as can be.
func (h *happening) brief(width int) string {
	where := h.where
	if width < wideEnough {
		where = h.step
	}
	return h.at.UTC().Format(briefTime) + " " + where + ": " + h.text
}

// saidSection is what the walk has said to a person lately.
func (d *drawing) saidSection(said []saying, width int) section {
	var rows []string
	for _, s := range said {
		rows = append(rows, d.paintedWrap(d.ink.strong, s.text, width, 2)...)
	}
	return section{rows: rows, least: min(2, len(rows)), wanted: min(4, len(rows)), flows: true}
}

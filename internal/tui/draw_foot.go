package tui

import (
	"slices"
	"strings"

	"github.com/rewarm/rewarm/steps"
)

// foot is what is always there: what blocks and which way it moves, what may be done now, and what
// waiting costs. On one row there is only what a person is asked for, else what blocks.
func (d *drawing) foot(width, most int) []string {
	if d.behind != "" {
		return d.alarm([]string{d.behind}, width, 1)
	}
	if rows := d.noticed(width, most); rows != nil {
		return rows
	}
	if most == 1 {
		return d.alarm([]string{d.oneRow(width)}, width, 1)
	}
	var last []string
	if may := d.may(width); may != "" {
		last = d.alarm([]string{clean(may)}, width, 1)
	}
	left := most - len(last)
	if costs := d.costs(); costs != "" && most > 2 {
		last, left = append(last, d.alarm(wrapped(clean(costs), width, 2), width, d.costRows)...), left-1
	}
	return append(d.alarm(wrapped(clean(d.blocks()), width, 2), width, left), last...)
}

// noticed is what whoever watches has to know first, with what else there is room for; nil for nothing. A walk that says
// itself how it ended or was left needs nobody else to say it.
func (d *drawing) noticed(width, most int) []string {
	if d.notice.text == "" || d.notice.over && (d.s.Ending != "" || d.s.Stopped() != nil) {
		return nil
	}
	lines := wrapped(d.notice.text, width, 2)
	rows := d.alarm(lines, width, most)
	for _, text := range []string{d.blocks(), d.costs()} {
		if text != "" && len(rows) < most {
			rows = append(rows, d.alarm([]string{clean(text)}, width, 1)...)
		}
	}
	return rows
}

// oneRow is what a person needs most on a small screen.
func (d *drawing) oneRow(width int) string {
	switch {
	case d.watching || d.s.Ending != "":
		return clean(d.blocks())
	case d.s.PersonsHold() != nil || len(d.question.Offers) > 0:
		return clean(d.may(width))
	case d.question.Asks != "":
		return clean("answer: " + d.question.Asks)
	}
	return clean(d.blocks())
}

// costs says what waiting costs; while nothing has to wait, what readers lose all the same.
func (d *drawing) costs() string {
	switch {
	case d.s.Ending != "":
		return ""
	case d.s.Stopped() != nil && d.s.Begun.Lab: // the lab has ended with it
		return ""
	case d.blocking == "":
		return also("readers lose: ", d.s.Lost())
	}
	if d.past {
		return also("waiting cost then: ", d.s.Costs(d.now))
	}
	return also("waiting costs: ", d.s.Costs(d.now))
}

// alarm paints rows so that they stand out, with a mark where some are left out.
func (d *drawing) alarm(rows []string, width, most int) []string {
	more := len(rows) > most
	rows = rows[:max(min(len(rows), most), 0)]
	for i, row := range rows {
		if more && i == len(rows)-1 {
			row = d.goesOn(row, width)
		}
		rows[i] = d.ink.alarm.paint(pad(cut(row, width, d.signs.more), width))
	}
	return rows
}

// blocks says what blocks the next release.
func (d *drawing) blocks() string {
	if d.s.Ending != "" {
		return "ended: " + string(d.s.Ending)
	}
	if stopped := d.s.Stopped(); stopped != nil {
		return "stopped: " + stopped.Sentence
	}
	switch {
	case d.past && d.blocking == "":
		return "nothing blocked then"
	case d.past:
		return "blocked then: " + d.blocking
	case d.blocking == "":
		return "nothing blocks"
	case d.early:
		return "waits for samples from after the flip: " + d.blocking
	}
	return "blocks: " + d.blocking
}

// may are the words that count now, those that answer first. Where there is no room for all, those that stop come first.
func (d *drawing) may(width int) string {
	switch {
	case d.s.Ending != "":
		return ""
	case d.s.Stopped() != nil:
		return "may: " + d.s.Stopped().Can
	case d.watching && d.s.Begun.Lab:
		return "may: look; " + labIsAlone
	case d.watching:
		return "may: look; to act, at any terminal: rewarm hold, approve, takeover; ? says how"
	}
	words := d.s.May(d.question)
	text := "may: " + strings.Join(words, ", ")
	if cells(text) <= width {
		return text
	}
	slices.SortStableFunc(words, func(a, b string) int { return stopsFirst(a) - stopsFirst(b) })
	return "may: " + strings.Join(words, ", ")
}

// labIsAlone says why a watch of a lab has no commands.
const labIsAlone = "on the lab nobody acts from another terminal"

// stopsFirst orders the words that stop a walk before all others.
func stopsFirst(word string) int {
	switch steps.OrderKind(word) {
	case steps.OrderHold:
		return 0
	case steps.OrderAbort:
		return 1
	}
	return 2
}

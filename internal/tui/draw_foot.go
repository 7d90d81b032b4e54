package tui

import "strings"

// foot is what is always there: what blocks and which way it moves, what may be done now, and what
// waiting costs. On one row there is only what a person is asked for, else what blocks.
func (d *drawing) foot(width, most int) []string {
	last := "may: " + d.may()
	if costs := d.s.Costs(d.now); costs != "" && d.s.Ending == "" {
		last += "; waiting costs: " + costs
	}
	switch {
	case d.may() == "":
		return d.alarm(wrapped(clean(d.blocks()), width, 2), width, most)
	case most == 1 && len(d.question.Offers) > 0:
		return d.alarm([]string{clean("type: " + d.question.Offers[0].Word)}, width, 1)
	case most == 1 && d.question.Asks != "":
		return d.alarm([]string{clean("answer: " + d.question.Asks)}, width, 1)
	case most == 1:
		return d.alarm([]string{clean(d.blocks())}, width, 1)
	}
	return append(d.alarm(wrapped(clean(d.blocks()), width, 2), width, most-1), d.alarm([]string{clean(last)}, width, 1)...)
}

// alarm paints rows so that they stand out, with a mark where some are left out.
func (d *drawing) alarm(rows []string, width, most int) []string {
	more := len(rows) > most
	rows = rows[:min(len(rows), most)]
	for i, row := range rows {
		if more && i == len(rows)-1 {
			row = cut(row, width-1, d.signs.more) + d.signs.more
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
	if blocking := d.s.Blocking(d.now); blocking != "" {
		return "blocks: " + blocking
	}
	return "nothing blocks"
}

// may are the words that count now, those that answer first.
func (d *drawing) may() string {
	if d.s.Ending != "" || d.watching {
		return ""
	}
	var words []string
	for _, offer := range d.question.Offers {
		words = append(words, `"`+offer.Word+`"`)
	}
	if d.question.Asks != "" {
		words = append(words, "an answer")
	}
	hold := "hold"
	for _, h := range d.s.Holds() {
		if strings.Contains(h.Can, "release") {
			hold = "release"
		}
	}
	return strings.Join(append(words, hold, "abort"), ", ")
}

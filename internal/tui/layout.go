package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// section is a part of the screen: rows that are drawn already. The first least of them are what it
// must show to be of use.
type section struct {
	title   string
	rows    []string
	least   int  // rows without which it says nothing; 0 when it can be left out
	wanted  int  // rows that come before the rest of others; 0 for none
	counted bool // the last row says how many more there are
	last    bool // when there is no room for all, the last rows are shown instead of the first
	flows   bool // the rows are one text: where it does not end there is a mark
	hangs   bool // the rows are texts that go on in rows which are set in: where one does not end there is a mark
}

// height is how many rows of the screen a section takes with so many rows of its own.
func (s *section) height(rows int) int {
	if rows > 0 && s.title != "" {
		return rows + 1
	}
	return rows
}

// share gives each section a number of rows so that all fit into a height. Those before others in
// the list come first: each gets its least, then each what it wants, then each what it can use.
func share(sections []section, height int) []int {
	given := make([]int, len(sections))
	for i := range sections {
		switch s := &sections[i]; {
		case s.least > 0 && s.height(s.least) <= height:
			given[i] = s.least
			height -= s.height(s.least)
		case s.title == "" && s.least > height: // a part of it is better than nothing
			given[i], height = height, 0
		}
	}
	for i := range sections {
		height -= sections[i].grow(&given[i], sections[i].wanted, height)
	}
	for i := range sections {
		height -= sections[i].grow(&given[i], len(sections[i].rows), height)
	}
	return given
}

// grow gives a section up to so many rows, out of a height, and says how much of that it took.
func (s *section) grow(given *int, rows, height int) int {
	if *given == 0 && s.title != "" {
		height--
	}
	more := min(min(rows, len(s.rows))-*given, height)
	if more <= 0 {
		return 0
	}
	took := s.height(*given+more) - s.height(*given)
	*given += more
	return took
}

// stack draws sections below each other in the order of places, which names them by their index,
// and fills up to the height.
func (d *drawing) stack(sections []section, places []int, width, height int) []string {
	given := share(sections, height)
	lines := make([]string, 0, height)
	for _, i := range places {
		s := &sections[i]
		if given[i] == 0 {
			continue
		}
		if s.title != "" {
			lines = append(lines, d.heading(s.title, width))
		}
		rows := s.rows[:given[i]]
		switch hidden := len(s.rows) - given[i]; {
		case s.last:
			rows = lastOf(s.rows, given[i])
		case hidden > 0 && (s.flows || s.hangs && strings.HasPrefix(ansi.Strip(s.rows[given[i]]), " ")):
			rows = append(rows[:given[i]-1:given[i]-1], d.goesOn(rows[given[i]-1], width))
		}
		if hidden := len(s.rows) - given[i]; s.counted && hidden > 0 {
			rows = append(rows[:given[i]-1:given[i]-1], d.ink.quiet.paint(d.fit(fmt.Sprintf("and %d more, ^O has all", hidden+1), width)))
		}
		lines = append(lines, rows...)
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}

// lastOf gives the last rows. Of an event that there is no room for they have its beginning, which says more than its
// end. Rows that are set in go on with the one before.
func lastOf(rows []string, given int) []string {
	first := len(rows) - given
	begin, next := first, first
	for begin > 0 && strings.HasPrefix(rows[begin], " ") {
		begin--
	}
	for next < len(rows) && strings.HasPrefix(rows[next], " ") {
		next++
	}
	return slices.Concat(rows[begin:begin+next-first], rows[next:])
}

// goesOn marks a row, which may be painted, behind which something is left out. It ends with a whole word where it can.
func (d *drawing) goesOn(row string, width int) string {
	text, mark := ansi.Strip(row), " "+d.signs.more
	room := width - cells(mark)
	switch {
	case strings.HasSuffix(text, d.signs.more):
		return row
	case ansi.StringWidth(text) > room:
		kept := ansi.Truncate(text, room, "")
		if space := strings.LastIndexByte(kept, ' '); space > 0 && text[len(kept)] != ' ' {
			room = ansi.StringWidth(kept[:space])
		}
	}
	return ansi.Truncate(row, room, "") + mark
}

// beside puts two columns next to each other with a rule between them.
func (d *drawing) beside(left, right []string, width int) []string {
	rule := d.ink.quiet.paint(d.signs.mark)
	var all strings.Builder // of which each row is a part, so that they are one piece of memory
	ends, size := make([]int, len(left)), 0
	for i := range left {
		size += len(left[i]) + width + len(rule) + len(right[i])
	}
	all.Grow(size)
	for i := range left {
		all.WriteString(left[i])
		all.WriteString(spaces(width - ansi.StringWidth(left[i])))
		all.WriteString(rule)
		all.WriteString(right[i])
		ends[i] = all.Len()
	}
	text, begin := all.String(), 0
	for i, end := range ends {
		left[i], begin = text[begin:end], end
	}
	return left
}

package tui

// key is what one key does. The keys are data: the help, the line at the bottom and the program
// read the same list. Letters are not among them, they go into the line.
type key struct {
	names []string // as the terminal library calls them
	shown string
	does  string
	brief string // in the line at the bottom; "" where it stands only in the help
	act   func(*model)
}

// viewKind is what the middle of the screen shows.
type viewKind int

const (
	viewBoard viewKind = iota
	viewEvents
	viewProbes
	viewPlots
	viewControls
	viewHelp
	viewLeaf // what the walk has opened to be read
)

// keys are those of a walk, or of a watch, which goes back and forth in time instead of in a line.
func keys(watching bool) []key {
	list := lookKeys()
	if watching {
		return append(list,
			key{[]string{"left"}, "Left, Right", "to the event before, to the next, and behind the last back to now", "", func(m *model) { m.scrub(-1) }},
			key{[]string{"right"}, "", "", "", func(m *model) { m.scrub(1) }},
			key{[]string{"end"}, "End", "back to now, as Esc on the board", "", (*model).present},
			key{[]string{"q", "ctrl+c"}, "q or ^C", "leaves; the run goes on", "", (*model).interrupt})
	}
	return append(list, key{[]string{"ctrl+c"}, "^C", "stop the walk: what adds load is idled, brakes stay; again leaves at once", "^C stop", (*model).interrupt})
}

// lookKeys are those that show something.
func lookKeys() []key {
	show := func(kind viewKind) func(*model) { return func(m *model) { m.show(kind) } }
	scroll := func(rows int) func(*model) { return func(m *model) { m.scroll(rows) } }
	return []key{
		{[]string{"f1", "?"}, "? or F1", "this help; ? only while the line is empty", "? help", show(viewHelp)},
		{[]string{"ctrl+e", "f2"}, "^E or F2", "everything that happened", "^E events", show(viewEvents)},
		{[]string{"ctrl+p", "f3"}, "^P or F3", "every probe with its query and readings", "^P probes", show(viewProbes)},
		{[]string{"ctrl+g", "f4"}, "^G or F4", "plots of the last minutes", "^G plots", show(viewPlots)},
		{[]string{"ctrl+o", "f5"}, "^O or F5", "every control that is not at its steady value", "^O controls", show(viewControls)},
		{[]string{"esc"}, "Esc", "clears the line, then goes back to the board", "Esc back", (*model).back},
		{[]string{"up"}, "Up, Down", "move by a row", "", scroll(-1)},
		{[]string{"down"}, "", "", "", scroll(1)},
		{[]string{"pgup"}, "PgUp, PgDn", "move by a screen", "", scroll(-page)},
		{[]string{"pgdown"}, "", "", "", scroll(page)},
	}
}

// page stands for a screenful in a scroll.
const page = 1 << 16

// find gives what a key does, nil when it goes into the line.
func find(list []key, name string, emptyLine bool) *key {
	for i := range list {
		for _, n := range list[i].names {
			if n == name && (n != "?" || emptyLine) {
				return &list[i]
			}
		}
	}
	return nil
}

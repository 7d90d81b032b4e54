package tui

// wideEnough is from how many columns on there are two next to each other.
const wideEnough = 110

// tallEnough is from how many rows on there is room for whole sentences.
const tallEnough = 30

// board is the one screen that says where the incident stands. Sections are listed by how much a
// person needs them, and drawn in the order of their places.
func (d *drawing) board(said []saying, width, height int) []string {
	if width >= wideEnough {
		left := width * 11 / 20
		right := width - left - 1
		return d.beside(
			d.stack([]section{d.holdSection(left), d.stepSection(left), d.saidSection(said, left), d.gateSection(left, height), d.exitSection(left), d.guideSection(left)}, []int{5, 0, 1, 3, 4, 2}, left, height),
			d.stack([]section{d.owedSection(right), d.budgetSection(right), d.controlSection(right), d.eventSection(right, height)}, []int{1, 0, 2, 3}, right, height),
			left)
	}
	sections := []section{
		d.stepSection(width), d.saidSection(said, width), d.holdSection(width), d.gateSection(width, height), d.exitSection(width),
		d.owedSection(width), d.budgetSection(width), d.controlSection(width), d.eventSection(width, height), d.guideSection(width),
	}
	for i := 6; i < len(sections); i++ { // each shows something before any shows all
		sections[i].least = min(2, len(sections[i].rows))
	}
	return d.stack(sections, []int{9, 2, 0, 3, 4, 5, 6, 7, 8, 1}, width, height)
}

// costRows is how many rows of the foot what waiting costs may take: from 24 on what readers lose now has one more than
// the copies that run out.
func costRows(height int) int {
	if height < 24 {
		return 1
	}
	return 2
}

// footRows is how many rows the foot may take on a screen of a height.
func footRows(height int) int {
	switch {
	case height < 16:
		return 1
	case height < 30:
		return 3
	}
	return 4
}

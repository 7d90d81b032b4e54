package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

func itoa(n int) string { return strconv.Itoa(n) }

// allEvents is every line that is kept, broken to the width.
func (d *drawing) allEvents(width int) []string {
	var rows []string
	for i := range d.story.events {
		e := &d.story.events[i]
		stamp := e.at.UTC().Format("15:04:05.0Z") + fmt.Sprintf(" %8s  ", fmt.Sprintf("+%.1fs", e.t.Seconds()))
		rows = append(rows, wrapped(stamp+e.where+": "+e.text, width, len(stamp))...)
		for _, row := range e.rows {
			rows = append(rows, wrapped(spaces(len(stamp))+row, width, len(stamp)+2)...)
		}
	}
	return rows
}

// probeRows is every probe with its query and the readings of its latest answer.
func (d *drawing) probeRows(width int) []string {
	var rows []string
	for i := range d.s.Doc.Probes {
		rows = append(rows, d.probeRow(&d.s.Doc.Probes[i], width)...)
	}
	return rows
}

func (d *drawing) probeRow(p *runbook.Probe, width int) []string {
	rows := []string{d.ink.strong.paint(d.fit(p.Name+also(" in ", p.Unit), width))}
	rows = append(rows, d.paintedWrap(d.ink.quiet, "  "+p.Query, width, 4)...)
	asked := false
	for _, ask := range d.asksOf(p.Name) {
		if a := d.s.Latest(ask); a != nil {
			asked = true
			rows = append(rows, d.answerRows(a, p, width)...)
		}
	}
	if !asked {
		rows = append(rows, "  not asked yet")
	}
	return rows
}

// asksOf are the questions that were put for a probe, one for each rung.
func (d *drawing) asksOf(probe string) []probes.Ask {
	asks := []probes.Ask{{Probe: probe}}
	for ask := range d.story.pasts {
		if ask.Probe == probe && ask != asks[0] {
			asks = append(asks, ask)
		}
	}
	slices.SortFunc(asks[1:], func(a, b probes.Ask) int { return slices.Compare([]string{a.From, a.To}, []string{b.From, b.To}) })
	return asks
}

func (d *drawing) answerRows(a *probes.Answer, p *runbook.Probe, width int) []string {
	title := "  at " + a.At.UTC().Format("15:04:05.0Z") + also(", from ", a.Ask.From) + also(" to ", a.Ask.To) + also(", samples ", d.age(a)) + also(" old", "")
	if a.Reason != "" {
		title += ": unknown, " + string(a.Reason) + also(": ", a.Detail)
	}
	rows := []string{d.fit(title, width)}
	const most = 4
	for i, r := range a.Readings {
		if i == most {
			rows = append(rows, fmt.Sprintf("    and %d more", a.Count-most))
			break
		}
		rows = append(rows, d.fit("    "+runbook.FormatQuantity(r.Value, p.Unit)+"  "+r.Series, width))
	}
	return rows
}

// also adds a part to a text when there is one.
func also(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// helpRows are the words, what holds back first, and the keys.
func (m *model) helpRows(d *drawing) []string {
	rows := m.wordRows(d)
	rows = append(rows, "", d.ink.strong.paint("keys"))
	for _, k := range m.keys {
		if k.shown != "" {
			rows = append(rows, "  "+d.column(k.shown, 12)+d.fit(k.does, m.width-14))
		}
	}
	rows = append(append(rows, ""), m.signRows(d)...)
	rows = append(rows, "", d.ink.strong.paint("exit"))
	rows = append(rows, wrapped("  the runbook's bounds of recovery: once they have held for their intervals the service has recovered; "+
		"brakes are lifted while they hold", m.width, 2)...)
	rows = append(rows, "", d.ink.strong.paint("review"))
	rows = append(rows, wrapped("  until when somebody looks whether a control still has to be away from its steady value; nothing is "+
		"lifted then, it is only shown as overdue", m.width, 2)...)
	rows = append(rows, "", d.ink.strong.paint("modes, where a question asks after them"))
	return append(rows, wrapped("  "+strings.Join(modeNames(), ", "), m.width, 2)...)
}

// signRows explain the signs.
func (m *model) signRows(d *drawing) []string {
	s := d.signs
	rows := []string{d.ink.strong.paint("signs")}
	for _, text := range []string{
		s.done + " behind  " + s.here + " here  " + s.next + " to come  " + s.skipped + " the runbook skips it  " + s.failed + " a call failed: not done",
		s.pass + " pass  " + s.fail + " FAIL  " + s.unknown + " unknown, which lets nothing go",
		"+46% inside its bound, -23% outside, x12 twelve times the bound",
		s.flip + " a flip in a graph of the last three minutes; in the budget " + s.full + " live, " + s.part + " prewarm, " + s.free + " room, " + s.mark + " the limit; it ends at the knee",
	} {
		rows = append(rows, wrapped("  "+text, m.width, 4)...)
	}
	return rows
}

// wordRows are the words that can be typed, in a watch the commands that give them.
func (m *model) wordRows(d *drawing) []string {
	title := "words, each with Enter"
	switch {
	case m.options.Watching && d.s.Begun.Lab:
		return []string{d.ink.strong.paint("commands"), d.fit("  "+labIsAlone, m.width)}
	case m.options.Watching:
		title = "commands, at any terminal that reaches redis"
	}
	rows := []string{d.ink.strong.paint(title)}
	for _, text := range m.options.Words {
		rows = append(rows, wrapped(clean(text), m.width, 6)...)
	}
	return rows
}

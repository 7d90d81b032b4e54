package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/rewarm/rewarm/probes"
)

// ink is a style as the two sequences around a text. A frame paints hundreds of texts, so they
// are worked out once.
type ink struct{ on, off string }

func (i ink) paint(text string) string {
	if i.on == "" || text == "" {
		return text
	}
	return i.on + text + i.off
}

// theme is what a screen is drawn with. Colours are the sixteen of the terminal, which people have
// set for their own background; none carries a meaning that a word or a sign does not carry too.
type theme struct {
	title, quiet, good, bad, doubt, strong, alarm ink
	words, verdicts                               [probes.Fail + 1]string // a sign with its word, and as wide as a column
	signs                                         signs
	ascii                                         bool
}

// signs are the marks on a screen, in a set for terminals without Unicode too.
type signs struct {
	pass, fail, unknown, here, done, next, skipped, failed string
	rule, more, full, part, free, mark                     string
	levels                                                 []string // of a small graph, from low to high
	flip                                                   string   // where a graph has a flip
	level                                                  rune     // of a plot's level, at every other column
}

var unicodeSigns = signs{
	pass: "✓", fail: "✗", unknown: "?", here: "▶", done: "✓", next: "·", skipped: "-", failed: "!",
	rule: "─", more: "…", full: "█", part: "▒", free: "░", mark: "│",
	levels: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, flip: "╎", level: '╌',
}

var asciiSigns = signs{
	pass: "+", fail: "x", unknown: "?", here: ">", done: "+", next: ".", skipped: "-", failed: "!",
	rule: "-", more: "~", full: "#", part: "=", free: ".", mark: "|",
	levels: []string{"_", ".", "-", "~", "=", "*", "%", "#"}, flip: "|", level: '-',
}

// newTheme makes a theme for an output. Plain has no colour, ascii no sign beyond ASCII.
func newTheme(out io.Writer, plain, ascii bool) theme {
	renderer := lipgloss.NewRenderer(out)
	if plain {
		renderer.SetColorProfile(termenv.Ascii)
	} else {
		renderer.SetColorProfile(termenv.ANSI)
	}
	inkOf := func(style lipgloss.Style) ink {
		on, off, _ := strings.Cut(style.Render("x"), "x")
		return ink{on, off}
	}
	style := renderer.NewStyle
	t := theme{
		title: inkOf(style().Bold(true)), strong: inkOf(style().Bold(true)),
		quiet: inkOf(style().Faint(true)),
		good:  inkOf(style().Foreground(lipgloss.Color("2"))),
		bad:   inkOf(style().Foreground(lipgloss.Color("1")).Bold(true)),
		doubt: inkOf(style().Foreground(lipgloss.Color("3"))),
		alarm: inkOf(style().Reverse(true).Bold(true)),
		signs: unicodeSigns,
	}
	if ascii {
		t.signs, t.ascii = asciiSigns, true
	}
	t.words = [...]string{
		probes.Unknown: t.doubt.paint(t.signs.unknown + " unknown"),
		probes.Pass:    t.good.paint(t.signs.pass + " pass"),
		probes.Fail:    t.bad.paint(t.signs.fail + " FAIL"),
	}
	for v, word := range t.words {
		t.verdicts[v] = padPainted(word, verdictWidth+1)
	}
	return t
}

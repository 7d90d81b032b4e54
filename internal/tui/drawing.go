package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/rewarm/rewarm/steps"
)

// drawing is one frame: what is drawn, at which time, with what.
type drawing struct {
	story *Story
	s     *steps.State
	now   time.Time // of the run
	ink   *theme
	signs *signs

	question steps.Question
	blocking string // what blocks the next release
	early    bool   // that is no more than the wait for samples from after a flip
	gates    []steps.GateView
	past     bool   // an earlier moment of the run is shown
	watching bool   // nobody can say anything here
	behind   string // how far the screen has come with a log that is there already
	notice   notice
	tall     bool   // there are rows enough for whole sentences
	costRows int    // that what waiting costs may take
	speed    string // of the time of the run, "" for real time

	cells [mostGraph]mark // of the graph that is being drawn
}

func newDrawing(story *Story, now time.Time, ink *theme, watching bool) *drawing {
	d := &drawing{story: story, s: story.State, now: now, ink: ink, signs: &ink.signs, watching: watching}
	if d.s.Ending == "" {
		stands := story.stands(now)
		d.question, d.blocking, d.early = stands.Question, stands.Blocking, stands.Early
		d.gates = d.s.Gates()
	}
	return d
}

// heading is the line above a section.
func (d *drawing) heading(title string, width int) string {
	title = cut(title, width-4, d.signs.more)
	rest := max(width-cells(title)-4, 0)
	return d.ink.quiet.paint(d.signs.rule+d.signs.rule) + " " + d.ink.title.paint(title) + " " + d.ink.quiet.paint(strings.Repeat(d.signs.rule, rest))
}

// fit is clean text cut to a width.
func (d *drawing) fit(text string, width int) string { return cut(clean(text), width, d.signs.more) }

// column is clean text in exactly so many cells.
func (d *drawing) column(text string, width int) string { return pad(d.fit(text, width), width) }

// padPainted fills up a text that has colours in it.
func padPainted(text string, width int) string {
	return text + spaces(width-ansi.StringWidth(text))
}

// verdictWidth is how many cells the longest verdict takes.
const verdictWidth = 9

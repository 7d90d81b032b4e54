package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/rewarm/rewarm/steps"
)

// model is the screen as the terminal library drives it. Only its goroutine touches the story.
type model struct {
	options  *Options
	queue    *queue
	ink      theme
	keys     []key
	story    *Story
	came     int         // events of a watch so far
	tellings []telling   // of those that said something
	at       int         // events that the story has seen
	past     bool        // the story stands at an earlier moment
	left     checkpoint  // where it followed the run last
	far      checkpoints // over the whole run, of a watch
	near     checkpoints // close to where the story stands
	decoder  *steps.Decoder
	trouble  error    // the records could not be followed
	said     []saying // to the person
	heard    uint64   // how many were ever said
	line     textinput.Model
	hand     hand
	view     viewKind
	leaf     leaf // what was opened last to be read
	notice   notice
	offset   int // rows that a view is scrolled from its end, or its start for those that begin at the top
	pane     int // rows that the view had when it was drawn last
	width    int
	height   int
	shown    string    // the latest frame
	shownAt  time.Time // by the clock of the person; zero when something has changed since
}

func newModel(o *Options, q *queue, story *Story) *model {
	line := textinput.New()
	line.Prompt = "> "
	line.CharLimit = 1024
	line.Focus()
	return &model{options: o, queue: q, ink: newTheme(o.Out, o.NoColour, o.ASCII), keys: keys(o.Watching), story: story, line: line, width: 80, height: 24,
		far: checkpoints{every: firstCheckpoints}, near: checkpoints{every: 1}, decoder: steps.NewDecoder()}
}

// woken says that the queue has something, redraw that time has passed.
type (
	woken  struct{}
	redraw struct{}
)

func (m *model) Init() tea.Cmd { return tea.Batch(m.awaitQueue, m.awaitTime) }

func (m *model) awaitQueue() tea.Msg {
	if !m.queue.wait() {
		return tea.Quit()
	}
	return woken{}
}

// awaitTime lets the clocks on the screen move.
func (m *model) awaitTime() tea.Msg {
	if err := m.options.Pause(); err != nil {
		return nil
	}
	return redraw{}
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(redraw); !ok || m.options.Hand().Sub(m.shownAt) >= freshFor {
		m.shownAt = time.Time{}
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.line.Width = max(msg.Width-4, 1)
	case woken:
		m.take()
		return m, m.awaitQueue
	case redraw:
		return m, m.awaitTime
	case tea.KeyMsg:
		return m, m.pressed(msg)
	}
	return m, nil
}

// mostRecords is how many records are followed between two frames: a long log is read with the screen alive.
const mostRecords = 100

// take follows what has come in.
func (m *model) take() {
	came := m.queue.take(mostRecords)
	if !m.past {
		m.follow(came.events)
	}
	if m.options.Watching {
		m.note(came.events)
	}
	m.hear(came.said)
	if came.opened != nil {
		m.leaf, m.view, m.offset = *came.opened, viewLeaf, 0
	}
	if came.notice != nil {
		m.notice = *came.notice
	}
}

func (m *model) follow(events []Event) {
	for i := range events {
		m.followOne(&events[i])
	}
}

func (m *model) followOne(e *Event) {
	if m.trouble != nil {
		return
	}
	m.trouble = m.story.Follow(*e)
	if m.at++; m.options.Watching && m.trouble == nil {
		m.far.pass(m.at, m.story)
		if m.past {
			m.near.pass(m.at, m.story)
		}
	}
}

func (m *model) pressed(msg tea.KeyMsg) tea.Cmd {
	if k := find(m.keys, msg.String(), m.line.Value() == "" && !msg.Paste); k != nil {
		k.act(m)
		return nil
	}
	if m.options.Watching {
		return nil
	}
	if msg.Type == tea.KeyEnter {
		m.send()
		return nil
	}
	if msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace {
		m.hand.feel(msg, m.options.Hand(), m.story.question, m.heard)
	}
	var cmd tea.Cmd
	m.line, cmd = m.line.Update(msg)
	m.unsent()
	return cmd
}

// unsent tells what stands in the line.
func (m *model) unsent() {
	if m.options.Unsent != nil {
		m.options.Unsent(m.hand.sofar(strings.TrimSpace(m.line.Value()), m.options.Hand()))
	}
}

// send gives the line to whoever drives the walk.
func (m *model) send() {
	text := strings.TrimSpace(m.line.Value())
	m.line.SetValue("")
	typed := m.hand.line(text, m.options.Hand())
	m.unsent()
	if text == "" {
		m.show(viewBoard)
		return
	}
	if strings.EqualFold(text, "help") {
		m.show(viewHelp)
		return
	}
	m.said = nil                    // what was said before belongs to an earlier word
	m.view, m.offset = viewBoard, 0 // what is said to this one stands there
	m.options.Typed(typed)
}

func (m *model) show(kind viewKind) {
	if m.view == kind {
		kind = viewBoard
	}
	m.view, m.offset = kind, 0
}

func (m *model) back() {
	if m.line.Value() != "" {
		m.line.SetValue("")
		m.hand = hand{}
		m.unsent()
		return
	}
	if m.view == viewBoard {
		m.present()
	}
	m.view, m.offset = viewBoard, 0
}

func (m *model) scroll(rows int) {
	switch rows {
	case page:
		rows = m.pane
	case -page:
		rows = -m.pane
	}
	m.offset = max(0, m.offset+rows*m.direction())
}

// direction is -1 for views that show their end first.
func (m *model) direction() int {
	if m.view == viewEvents {
		return -1
	}
	return 1
}

func (m *model) interrupt() { m.options.Interrupt() }

// now is the time of a frame: that of the last record where time does not go on.
func (m *model) now() time.Time {
	s := m.story.State
	if m.past || s.Ending != "" || m.options.Watching && s.Begun.Lab {
		return s.LastAt
	}
	return m.options.Now()
}

// freshFor is how long a frame stands when nothing but time has gone on: its clocks show seconds.
const freshFor = 900 * time.Millisecond

// View gives the latest frame, and draws it anew when it has become old.
func (m *model) View() string {
	if m.shownAt.IsZero() {
		m.shown, m.shownAt = strings.Join(m.frame(), "\n"), m.options.Hand()
	}
	return m.shown
}

func (m *model) frame() []string {
	if m.story.State == nil || m.trouble != nil {
		return m.empty()
	}
	d := newDrawing(m.story, m.now(), &m.ink, m.options.Watching)
	d.past, d.behind, d.tall, d.costRows = m.past, m.behind(), m.height >= tallEnough, costRows(m.height)
	m.forget(d)
	if !m.past {
		d.notice = m.notice
	}
	if m.options.Speed != nil && !m.past {
		d.speed = m.options.Speed()
	}
	top := []string{d.head(m.width)}
	if m.height >= 8 {
		top = append(top, d.stages(m.width)...)
	}
	bottom := append(d.foot(m.width, footRows(m.height)), m.bottom(d)...)
	room := max(m.height-len(top)-len(bottom), 0)
	lines := append(append(top, m.middle(d, room)...), bottom...)
	lines = lines[:min(len(lines), max(m.height, 1))]
	for i, line := range lines {
		if ansi.StringWidth(line) > m.width { // only on a screen that is narrower than a column
			lines[i] = ansi.Truncate(line, m.width, "")
		}
	}
	return lines
}

// behind says how far the screen has come with a log that was there already, "" when it is not behind.
func (m *model) behind() string {
	due, seq := m.queue.due.Load(), uint64(0)
	if m.story.State != nil {
		seq = m.story.State.Seq
	}
	if m.past || seq >= due {
		return ""
	}
	return fmt.Sprintf("reading the log: record %d of %d, this is not now", seq, due)
}

func (m *model) empty() []string {
	if m.trouble != nil {
		return wrapped(clean("this log cannot be followed any further: "+m.trouble.Error()), m.width, 2)
	}
	if m.notice.text != "" {
		return wrapped(m.notice.text, m.width, 2)
	}
	if behind := m.behind(); behind != "" {
		return []string{cut(behind, m.width, "")}
	}
	if m.options.Before != "" {
		return wrapped(clean(m.options.Before), m.width, 0)
	}
	return []string{cut("waiting for the first record", m.width, "")}
}

// bottom is the line of a person and the keys.
func (m *model) bottom(d *drawing) []string {
	rows := []string{}
	if !m.options.Watching {
		rows = append(rows, m.line.View())
	}
	return append(rows, m.ink.quiet.paint(d.fit(m.keyLine(), m.width)))
}

func (m *model) keyLine() string {
	var parts []string
	for _, k := range m.keys {
		if k.brief != "" {
			parts = append(parts, k.brief)
		}
	}
	if m.options.Watching {
		return m.watchLine() + "  " + strings.Join(parts, "  ")
	}
	return strings.Join(parts, "  ")
}

// middle is the board or what is shown in its place.
func (m *model) middle(d *drawing, height int) []string {
	switch m.view {
	case viewEvents:
		return m.window(d, "events", d.allEvents(m.width), height)
	case viewProbes:
		return m.window(d, "probes", d.probeRows(m.width), height)
	case viewControls:
		return m.window(d, "controls", d.controlSection(m.width).rows, height)
	case viewHelp:
		return m.window(d, "help", m.helpRows(d), height)
	case viewLeaf:
		return m.window(d, m.leaf.title, m.leaf.wrapped(m.width), height)
	case viewPlots:
		var rows []string
		rows, m.pane = d.plots(m.width, height, &m.offset) // a page is so many plots
		return fill(rows, height)
	}
	return d.board(m.said, m.width, height)
}

// window shows as many rows as there is room for, from the offset on.
func (m *model) window(d *drawing, title string, rows []string, height int) []string {
	if height < 2 {
		return fill(nil, height)
	}
	room := height - 1
	m.pane = room
	m.offset = min(m.offset, max(0, len(rows)-room))
	first := m.offset
	if m.direction() < 0 {
		first = max(0, len(rows)-room-m.offset)
	}
	shown := rows[first:min(len(rows), first+room)]
	return fill(append([]string{d.heading(title+place(first, len(shown), len(rows)), m.width)}, shown...), height)
}

func place(first, shown, all int) string {
	if shown >= all {
		return ""
	}
	return " (rows " + itoa(first+1) + " to " + itoa(first+shown) + " of " + itoa(all) + ")"
}

func fill(rows []string, height int) []string {
	for len(rows) < height {
		rows = append(rows, "")
	}
	return rows[:max(height, 0)]
}

var _ tea.Model = (*model)(nil)

package tui

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rewarm/rewarm/audit"
)

// Options are what a console is built on. All functions are called from the console's goroutine
// and must not block.
type Options struct {
	In  io.Reader
	Out io.Writer

	Now   func() time.Time // on the clock of the run
	Hand  func() time.Time // on the clock of the person
	Pause func() error     // waits until the screen should be drawn again; an error when it never will be

	Typed     func(Typed)   // a line that a person typed
	Unsent    func(Typed)   // the line as it stands, whenever that changes and it is not sent; may be nil
	Interrupt func()        // a person asks the walk to stop
	Words     []string      // what can be typed, for the help
	Speed     func() string // how fast the time of the run goes, "" for real time; may be nil
	Watching  bool          // read-only: no line to type
	Before    string        // what happens before the first record, "" for nothing but the wait for it

	// Again reads records of a watch once more, to go back in time: from the how manyth that was shown on, 0 for the
	// first, up to another that is not among them. The body of a record is valid until the next one.
	Again func(from, to int) iter.Seq2[audit.Record, error]

	NoColour bool
	ASCII    bool // no sign beyond ASCII
}

// Console is a screen that follows one run.
type Console struct {
	options Options
	queue   *queue
	story   *Story
	said    atomic.Uint64 // lines
}

// New makes a console. Nothing is drawn before Run.
func New(o Options) *Console {
	return &Console{options: o, queue: newQueue(), story: &Story{}}
}

// Replay takes the records from before the console was opened. It must not be called after Run.
func (c *Console) Replay(e Event) error { return c.story.Follow(e) }

// Due says up to which record the log goes already: until the screen has come to that one it says that it is behind.
func (c *Console) Due(seq uint64) { c.queue.due.Store(seq) }

// Show hands over the next record. It never blocks.
func (c *Console) Show(e Event) { c.queue.put(e) }

// Feed hands over the next record of a log that is read faster than it is shown: it waits until the screen has come
// closer, or is closed.
func (c *Console) Feed(e Event) {
	c.queue.await()
	c.Show(e)
}

// Write takes what the walk says to a person, a line each.
func (c *Console) Write(p []byte) (int, error) { return c.says(p, false) }

// Answers takes what the walk answers to a word that was typed: it stands until what it is about has changed.
func (c *Console) Answers() io.Writer { return answers{c} }

type answers struct{ *Console }

func (a answers) Write(p []byte) (int, error) { return a.says(p, true) }

func (c *Console) says(p []byte, answers bool) (int, error) {
	for line := range strings.Lines(string(p)) {
		if text := strings.TrimPrefix(strings.TrimRight(line, "\n"), "rewarm: "); text != "" {
			c.queue.say(said{text, answers})
			c.said.Add(1)
		}
	}
	return len(p), nil
}

// Notice says until the next one, of which "" is none, what stands in the way of seeing more of a watched run, or with
// over that nobody walks it.
func (c *Console) Notice(text string, over bool) { c.queue.notice(&notice{clean(text), over}) }

// notice is what whoever watches has to know beside the records.
type notice struct {
	text string
	over bool // nobody walks the run any more
}

// Open shows a text to be read, in the place of the board, until the person goes back.
func (c *Console) Open(title, text string) {
	l := leaf{title: clean(title)}
	for row := range strings.Lines(text) {
		l.rows = append(l.rows, clean(strings.TrimRight(row, "\n")))
	}
	c.queue.open(&l)
}

// Said is how many lines the walk has said.
func (c *Console) Said() uint64 { return c.said.Load() }

// Close ends Run.
func (c *Console) Close() { c.queue.close() }

// framesPerSecond is how often the terminal library looks whether there is a new frame: a key is seen to act at once,
// and a screen on which nothing happens hardly wakes the processor.
const framesPerSecond = 30

// ErrGone says that the terminal is gone.
var ErrGone = errors.New("the terminal is gone")

// Run draws until Close, or until whoever watches leaves. The terminal is given back as it was. The error is
// ErrGone when that is gone.
func (c *Console) Run(ctx context.Context) error {
	defer c.Close()
	var gone atomic.Bool
	input := watched(c.options.In, func() { gone.Store(true); c.Close() })
	program := tea.NewProgram(newModel(&c.options, c.queue, c.story), tea.WithFPS(framesPerSecond),
		tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(c.options.Out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	_, err := program.Run()
	if gone.Load() {
		return ErrGone
	}
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// queue brings records and answers to the console without holding anybody up.
type queue struct {
	mu     sync.Mutex
	events []Event
	said   []said
	opened *leaf         // that is to be shown, nil for none
	stands *notice       // the latest, nil for no new one
	due    atomic.Uint64 // the last record that was in the log when it was opened
	closed bool
	wake   chan struct{}
	room   *sync.Cond // few events wait, or nobody looks any more
}

func newQueue() *queue {
	q := &queue{wake: make(chan struct{}, 1)}
	q.room = sync.NewCond(&q.mu)
	return q
}

// mostWaiting is how many events wait for the screen, of a log that is read faster than it is shown.
const mostWaiting = 2 * mostRecords

// await returns when there is room for another event.
func (q *queue) await() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) >= mostWaiting && !q.closed {
		q.room.Wait()
	}
}

// said is a line that the walk says, and whether that answers a word that was typed.
type said struct {
	text    string
	answers bool
}

func (q *queue) put(e Event) { q.bring(func() { q.events = append(q.events, e) }) }

func (q *queue) say(s said) { q.bring(func() { q.said = append(q.said, s) }) }

func (q *queue) notice(n *notice) { q.bring(func() { q.stands = n }) }

func (q *queue) open(l *leaf) { q.bring(func() { q.opened = l }) }

// bring adds something while anybody looks.
func (q *queue) bring(add func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		add()
		q.ring()
	}
}

func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.room.Broadcast()
	q.ring()
}

// wait returns when there is something to take; false when the console is to end.
func (q *queue) wait() bool {
	<-q.wake
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed
}

// taken is what has come to the console.
type taken struct {
	events []Event
	said   []said
	opened *leaf
	notice *notice
}

// take gives the next events, at most so many of them, and everything else. When there are more events it rings again.
func (q *queue) take(most int) taken {
	q.mu.Lock()
	defer q.mu.Unlock()
	came := taken{q.events, q.said, q.opened, q.stands}
	q.events, q.said, q.opened, q.stands = nil, nil, nil, nil
	if len(came.events) > most {
		came.events, q.events = came.events[:most:most], came.events[most:]
		q.ring()
	}
	q.room.Broadcast()
	return came
}

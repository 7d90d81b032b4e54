package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/tui"
)

// screen is a person at the console: what is typed there goes where lines of a plain terminal
// go, and the answers come back to it.
type screen struct {
	console *tui.Console
	post    func(mail)
	keys    chan string               // interrupts that were typed
	line    atomic.Pointer[typedLine] // as it stands, not sent yet
	gone    context.CancelFunc
	ended   chan struct{}
}

// redrawEvery is how often a screen is drawn again when nothing happens: its clocks show seconds.
const redrawEvery = time.Second

// newWatchScreen makes a console for who only watches a run, and types nothing there; the words are for another
// terminal.
func (p *program) newWatchScreen(in io.Reader, out io.Writer, log *runLog, from source) *screen {
	spells := p.command
	if len(log.files) == 0 {
		spells = func(words, about string) string { return p.elsewhereCommand(words, about, log.service) }
	}
	return p.newScreen(in, out, tui.Options{Now: p.clock.Now, Watching: true, Words: commandsFor(log.folder.run, spells),
		Again: from.again})
}

// newScreen makes a console on a terminal. The options say what it shows; what is the same for all is put in here.
func (p *program) newScreen(in io.Reader, out io.Writer, o tui.Options) *screen {
	ctx, cancel := context.WithCancel(context.Background())
	s := &screen{keys: make(chan string, 2), gone: cancel, ended: make(chan struct{})}
	o.In, o.Out, o.Hand = in, out, p.clock.Now
	o.Pause = func() error { return p.clock.Wait(ctx, p.clock.Now().Add(redrawEvery)) }
	o.Typed = func(t tui.Typed) { s.post(lineOf(t)) }
	o.Unsent = func(t tui.Typed) { line := lineOf(t); s.line.Store(&line) }
	o.Interrupt = s.interrupt
	o.NoColour = p.where.getenv("NO_COLOR") != ""
	o.ASCII = !unicodeLocale(p.where.getenv)
	s.console = tui.New(o)
	return s
}

func lineOf(t tui.Typed) typedLine {
	line := typedLine{text: t.Text, number: t.Heard + 1, screen: true, asked: t.Asked.Key()}
	if t.Burst {
		line.burst = tooFast
	}
	return line
}

// interrupt never blocks: who has asked twice need not ask again.
func (s *screen) interrupt() {
	select {
	case s.keys <- "interrupt":
	default:
	}
}

// fullScreen reports whether a walk may take the whole terminal.
func (p *program) fullScreen(person *terminal) bool {
	kind := p.where.getenv("TERM")
	return person != nil && !p.settings.plain && !p.settings.json() && kind != "" && kind != "dumb" &&
		p.screenFile() != nil
}

// screenFile is the terminal that results go to, nil when they go elsewhere.
func (p *program) screenFile() *os.File {
	out, ok := p.out.(printableWriter)
	if !ok {
		return nil
	}
	file, ok := out.to.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return file
}

// unicodeLocale reports whether the locale says that the terminal shows more than ASCII.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// listen draws until the console is closed. A terminal that is gone ends it too.
func (s *screen) listen(post func(mail)) {
	s.post = post
	err := s.console.Run(context.Background())
	close(s.ended)
	if err != nil {
		post(terminalGone{})
	}
}

// ask gives how much was said: a line that was begun before that has a lower number. Which question stood on it then,
// the screen knows itself.
func (s *screen) ask() uint64 { return s.console.Said() }

// unsent is what stands in the line, the zero line for nothing.
func (s *screen) unsent() typedLine {
	if line := s.line.Load(); line != nil {
		return *line
	}
	return typedLine{}
}

// shows reports that the screen draws questions itself.
func (s *screen) shows() bool { return true }

func (s *screen) interrupts() <-chan string { return s.keys }

func (s *screen) out() io.Writer { return s.console }

func (s *screen) answers() io.Writer { return s.console.Answers() }

func (s *screen) opens(title, text string) bool {
	s.console.Open(title, text)
	return true
}

// leave gives the terminal back.
func (s *screen) leave() {
	s.console.Close()
	s.gone()
	<-s.ended
}

// screenPrinter hands records to a console, with what a plain walk would print of them.
type screenPrinter struct {
	console *tui.Console
	words   *transcript
	feeds   bool // a log that is read: its bodies are handed over, as nobody else has them, no faster than they are shown
}

func newScreenPrinter(console *tui.Console) *screenPrinter {
	return &screenPrinter{console: console, words: briefWords()}
}

func (s *screenPrinter) print(record audit.Record, body any) error {
	if event := s.event(record, body); s.feeds {
		s.console.Feed(event)
	} else {
		s.console.Show(event)
	}
	return nil
}

func (s *screenPrinter) event(record audit.Record, body any) tui.Event {
	event := tui.Event{Record: record}
	if s.feeds {
		event.Body = body
	}
	for _, e := range s.words.heard(record, body) {
		event.Lines = append(event.Lines, tui.Line{Where: e.where, Text: e.text, Rows: e.rows})
	}
	return event
}

// replayed takes a record from before the screen was open.
func (s *screenPrinter) replayed(record audit.Record, body any) error {
	return s.console.Replay(s.event(record, body))
}

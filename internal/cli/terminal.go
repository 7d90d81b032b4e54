package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminal hears a person. It stays in the line mode of the system: a program that
// dies leaves nothing behind, and a screen reader sees plain lines.
type terminal struct {
	file  *os.File
	clock clock
	read  atomic.Uint64 // lines read so far
	hear  sync.Once     // it is listened to once: a read cannot be called back
}

// typedLine is one line that a person typed.
type typedLine struct {
	text   string
	number uint64 // counts lines of a terminal from 1; on a screen one more than what was said when it was begun
	screen bool   // it was typed at a screen, which draws questions itself
	asked  string // the key of the question that stood there when it was begun
	burst  string // why no hand has typed it in answer to anything, "" when one may have
}

// how a line comes in that no hand has typed.
const (
	severalLines = "several lines came at once"
	tooFast      = "it was pasted, or came faster than a hand types"
)

// burstGap is how close lines must follow each other to be one burst. No person
// types a line in it.
const burstGap = 60 * time.Millisecond

// longestLine bounds what is kept of one line, in bytes.
const longestLine = 4096

// terminalOf gives the terminal behind a stream, nil when it is none.
func terminalOf(stream io.Reader) *terminal {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &terminal{file: file, clock: wallClock{}}
}

// eofs is how many ends of file in a row mean that the terminal is gone. One is a
// Ctrl-D; a terminal that was hung up gives them without end.
const eofs = 3

// listen posts every line until the terminal is gone, and says so. It is run in a
// goroutine of its own, which ends with the process: a read from a terminal cannot
// be called back. Whoever listens a second time leaves it to the first.
func (t *terminal) listen(post func(mail)) { t.hear.Do(func() { t.listens(post) }) }

func (t *terminal) listens(post func(mail)) {
	var rest []byte
	for ended := 0; ended < eofs; {
		lines, more, err := t.lines(rest)
		rest = more
		for err == nil && len(lines) > 0 && waiting(t.file, burstGap) {
			var next []string
			next, rest, err = t.lines(rest)
			lines = append(lines, next...)
		}
		t.post(lines, post)
		switch {
		case errors.Is(err, io.EOF):
			ended++
		case err != nil:
			ended = eofs
		default:
			ended = 0
		}
	}
	post(terminalGone{})
}

// lines reads once: whole lines, and what follows them.
func (t *terminal) lines(rest []byte) ([]string, []byte, error) {
	chunk := make([]byte, longestLine)
	n, err := t.file.Read(chunk)
	lines, rest := splitTyped(append(rest, chunk[:n]...))
	t.read.Add(uint64(len(lines)))
	return lines, rest, err
}

func (t *terminal) post(lines []string, post func(mail)) {
	first := t.read.Load() - uint64(len(lines))
	burst := ""
	if len(lines) > 1 {
		burst = severalLines
	}
	for i, line := range lines {
		post(typedLine{text: line, number: first + uint64(i) + 1, burst: burst})
	}
}

// splitTyped takes whole lines off what was read.
func splitTyped(input []byte) (lines []string, rest []byte) {
	for {
		line, after, ok := strings.Cut(string(input), "\n")
		if !ok {
			return lines, input[:min(len(input), longestLine)]
		}
		lines = append(lines, plainLine(line))
		input = []byte(after)
	}
}

// plainLine takes the marks of a bracketed paste off a line and trims it.
func plainLine(line string) string {
	line = strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "").Replace(line)
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, "\uFFFD")
	}
	return strings.TrimSpace(line)
}

// ask drops a line that was begun before a question appears, and gives the number of the
// last line that cannot be an answer to it. Whole lines are read first: one of them may be
// the word that puts a brake on.
func (t *terminal) ask() uint64 {
	for range mostReading / readingTakes {
		if !waiting(t.file, 0) {
			break
		}
		_ = t.clock.Wait(context.Background(), t.clock.Now().Add(readingTakes))
	}
	drain(t.file)
	return t.read.Load()
}

// readingTakes is how soon listen has read what was typed, and mostReading how long it may
// take on a busy machine; a terminal that was hung up always has something to read.
const (
	readingTakes = time.Millisecond
	mostReading  = 2 * time.Second
)

package cli

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// progress tells a person how far something long has come: one line on the terminal behind standard error, with its
// share, its rate and the time that is left. It comes after a second, so what is short says nothing, and end takes it
// away. Where nobody could read it nothing is written. It is for one goroutine; all methods do nothing on nil.
type progress struct {
	to    io.Writer
	width int
	clock clock
	what  string  // what is done, as "checking the chain"
	unit  string  // what is counted, as "records"
	total float64 // of them; 0 when it is not known

	done    float64
	began   time.Time
	written time.Time // when the line was written last; zero before
}

const (
	progressAfter = time.Second            // how long something takes before it tells
	progressEvery = 250 * time.Millisecond // how often the line is written anew at most
)

// progress begins to tell of something long; nil where nobody could read it: no terminal, one that cannot write a
// line anew, or --plain, under which lines are read aloud or kept.
func (p *program) progress(what, unit string, total float64) *progress {
	writer, _ := p.err.(printableWriter)
	file, ok := writer.to.(*os.File)
	kind := p.where.getenv("TERM")
	if !ok || kind == "" || kind == "dumb" || p.settings.plain || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &progress{to: file, width: writer.columns(), clock: p.clock, what: what, unit: unit, total: total,
		began: p.clock.Now()}
}

// add says that so much more is done.
func (g *progress) add(n float64) {
	if g != nil {
		g.reach(g.done + n)
	}
}

// reach says how much is done.
func (g *progress) reach(done float64) {
	if g == nil {
		return
	}
	g.done = done
	now := g.clock.Now()
	if now.Sub(g.began) < progressAfter || now.Sub(g.written) < progressEvery {
		return
	}
	g.written = now
	line := []rune(oneLine("rewarm: " + g.text(now.Sub(g.began))))
	if g.width > 0 && len(line) > g.width-1 {
		line = line[:max(g.width-1, 0)]
	}
	fmt.Fprintf(g.to, "\r%s\x1b[K", string(line))
}

// again begins anew: the same is done once more.
func (g *progress) again() {
	if g != nil {
		g.done, g.began = 0, g.clock.Now()
	}
}

// text is the line after so much time: "checking the chain: 62 %, 21000 records/s, 3s left".
func (g *progress) text(took time.Duration) string {
	var parts []string
	if g.total > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", min(100*g.done/g.total, 100)))
	}
	rate := g.done / took.Seconds()
	parts = append(parts, fmt.Sprintf("%.*f %s/s", decimals(rate), rate, g.unit))
	switch left := (g.total - g.done) / max(rate, 1e-9); {
	case g.total == 0:
		parts = append(parts, steps.Lasts(took)+" so far")
	case g.done > 0:
		parts = append(parts, steps.Lasts(time.Duration(max(left, 0)*float64(time.Second)))+" left")
	}
	return g.what + ": " + strings.Join(parts, ", ")
}

// decimals shows a small rate with as many decimals as it needs.
func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// end takes the line away.
func (g *progress) end() {
	if g != nil && !g.written.IsZero() {
		g.written = time.Time{}
		fmt.Fprint(g.to, "\r\x1b[K")
	}
}

// megabyte is what bytes are told in.
const megabyte = 1e6

// progressOfFiles tells of reading files, by their size.
func (p *program) progressOfFiles(what string, files []string) *progress {
	var size int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return p.progress(what, "MB", float64(size)/megabyte)
}

// reader tells of what is read through it; it is the reader itself where nobody could read that.
func (g *progress) reader(from io.ReadCloser) io.ReadCloser {
	if g == nil {
		return from
	}
	return toldReader{from, g}
}

type toldReader struct {
	io.ReadCloser
	progress *progress
}

func (r toldReader) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.progress.add(float64(n) / megabyte)
	return n, err
}

// records tells of going over records up to the last, by their numbers.
func (g *progress) records(all iter.Seq2[audit.Record, error]) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for record, err := range all {
			if !yield(record, err) {
				return
			}
			g.reach(float64(record.Seq))
		}
	}
}

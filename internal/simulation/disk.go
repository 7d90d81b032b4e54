package simulation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// disk is where the log of a run lies: lines in a page cache, of which some are surely on
// the disk. What a broken disk does not take goes to an emergency log, if there is one.
type disk struct {
	lines     []line
	full      bool // takes no more bytes
	failing   bool // fails to sync
	emergency bool // there is another disk to go on with
}

type line struct {
	text   []byte // without its newline
	hash   string // of the text
	record audit.Record
	body   any           // what the record was made of
	safe   bool          // survives a loss of power
	at     time.Time     // the true time
	shift  time.Duration // of the wall clock of who wrote it
}

// lose is a loss of power: the lines that are not surely on disk are gone, but for the
// first few. A line that was cut leaves a record of its kind when the log is opened again.
func (d *disk) lose(keeps int) {
	end := len(d.lines)
	for end > 0 && !d.lines[end-1].safe {
		end--
	}
	d.lines = d.lines[:min(len(d.lines), end+keeps)]
}

// records gives what is there now, for a fold by another process.
func (d *disk) records() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for r := range d.marked() {
			r.Emergency = false // it is no part of a line
			if !yield(r, nil) {
				return
			}
		}
	}
}

// marked gives the records as the process got them that wrote them.
func (d *disk) marked() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for _, l := range d.lines {
			if !yield(l.record, nil) {
				return
			}
		}
	}
}

// log is the log of one process, as package audit keeps it.
type log struct {
	p      *process
	disk   *disk
	broken bool // for good: the first failure of a write or a sync
}

// Append writes a record into the page cache.
func (l *log) Append(actor, kind string, body any) (audit.Record, error) {
	return l.add(actor, kind, body, false)
}

// Commit also waits for the disk.
func (l *log) Commit(actor, kind string, body any) (audit.Record, error) {
	return l.add(actor, kind, body, true)
}

func (l *log) add(actor, kind string, body any, commit bool) (audit.Record, error) {
	w := l.p.w
	w.boundary()
	if w.warp.body != nil {
		body = w.warp.body(body)
	}
	r, err := l.next(actor, kind, body)
	if err != nil {
		return r, err
	}
	if w.warp.unsynced {
		commit = false
	}
	d := l.disk
	switch {
	case l.broken:
	case d.full:
		l.broken = true
	default:
		d.lines = append(d.lines, l.line(r, body))
		if commit && d.failing {
			l.broken = true
			d.lines = d.lines[:len(d.lines)-1]
		} else if commit {
			d.sync()
		}
	}
	if l.broken {
		if !d.emergency {
			return audit.Record{}, audit.ErrBroken
		}
		r.Emergency = true
		d.lines = append(d.lines, l.line(r, body))
		d.sync() // what the disk may lose goes to the emergency log as well
	}
	w.boundary()
	return r, nil
}

func (l *log) line(r audit.Record, body any) line {
	text := r.Line()
	return line{text: text, hash: hashOf(text), record: r, body: body, at: l.p.w.now, shift: l.p.shift}
}

func (d *disk) sync() {
	for i := len(d.lines) - 1; i >= 0 && !d.lines[i].safe; i-- {
		d.lines[i].safe = true
	}
}

func (l *log) next(actor, kind string, body any) (audit.Record, error) {
	raw, err := encode(body)
	if err != nil {
		return audit.Record{}, err
	}
	if l.p.w.warp.odd {
		return audit.Record{}, errors.New("the log fails for no reason")
	}
	r := audit.Record{Seq: 1, Prev: strings.Repeat("0", 64), At: l.p.clock().Now(), Actor: actor, Kind: kind, Body: raw}
	if n := len(l.disk.lines); n > 0 {
		last := l.disk.lines[n-1]
		r.Seq, r.Prev = last.record.Seq+1, last.hash
		r.T = max(last.record.T, l.p.w.now.Sub(start).Milliseconds())
		if len(raw) > audit.MaxBody {
			return audit.Record{}, &audit.TooLongError{Kind: kind, Size: len(raw), Limit: audit.MaxBody}
		}
	}
	if l.p.w.warp.forked && r.Seq == 9 {
		r.Prev = strings.Repeat("f", 64)
	}
	return r, nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func encode(body any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// start is when every incident begins.
var start = time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)

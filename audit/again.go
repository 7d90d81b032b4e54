package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
)

// placed is where a line stands that was read.
type placed struct {
	path   string
	line   int
	offset int64
	hash   digest
}

// index knows where the lines stand that were read, in order.
type index struct {
	mu    sync.Mutex
	lines []placed
}

func (x *index) add(p placed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lines = append(x.lines, p)
}

// part gives the places of the lines from the how manyth on, 0 for the first, up to another that is not among them.
// What is given does not change any more.
func (x *index) part(from, to int) []placed {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lines[min(from, len(x.lines)):min(to, len(x.lines))]
}

// Again reads records once more that [Tail.Read] has given: from the how manyth on, 0 for the first, up to another
// that is not among them. It may be called while another goroutine reads on. The body of a record is valid until
// the next one is yielded. A line that is not what it was is a [*DamagedError], behind which nothing is yielded.
func (t *Tail) Again(from, to int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		again := reading{}
		defer again.close()
		for i, p := range t.index.part(from, to) {
			record, err := again.record(p, from+i+1)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// reading reads lines whose places are known. Those of one file follow each other.
type reading struct {
	path string
	file *os.File
	at   int64
	ends *bufio.Reader // at that offset
	line []byte
}

func (r *reading) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// record reads the how manyth record of a log, 1 for the first.
func (r *reading) record(p placed, nth int) (Record, error) {
	if err := r.open(p.path); err != nil {
		return Record{}, err
	}
	if err := r.read(p.offset); err != nil {
		return Record{}, fmt.Errorf("read record %d of %s again: %w", nth, show(p.path), err)
	}
	if sha256.Sum256(r.line) != p.hash {
		return Record{}, &DamagedError{Path: p.path, Line: p.line, Offset: p.offset,
			Reason: fmt.Sprintf("record %d is not what it was when it was read", nth)}
	}
	return SplitRecord(r.line)
}

func (r *reading) open(path string) error {
	if r.file != nil && r.path == path {
		return nil
	}
	r.close()
	file, err := OpenRegular(path)
	if err != nil {
		r.file = nil
		return err
	}
	r.path, r.file, r.at, r.ends = path, file, 0, bufio.NewReaderSize(file, 64<<10)
	return nil
}

// read reads the line at an offset, without its newline. Between two lines there may be bytes that are no record.
func (r *reading) read(offset int64) error {
	if offset != r.at {
		if _, err := r.file.Seek(offset, io.SeekStart); err != nil {
			return err
		}
		r.ends.Reset(r.file)
		r.at = offset
	}
	r.line = r.line[:0]
	for {
		part, err := r.ends.ReadSlice('\n')
		r.line = append(r.line, part...)
		r.at += int64(len(part))
		if err == nil || err == io.EOF {
			r.line = bytes.TrimSuffix(r.line, []byte{'\n'})
			return nil
		}
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}

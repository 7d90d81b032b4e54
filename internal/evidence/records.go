package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// entry is a record with its decoded body in the place of its own.
type entry struct {
	audit.Record
	body any // nil for a kind that carries nothing a walk needs
}

// decodeLog goes over the records of a log in order, each once. Lines that are no record, as a torn tail, are passed
// over: whether they may be there is for Verify to say.
func decodeLog(segments []Source, visit func(e entry) error) error {
	last := uint64(0)
	for _, segment := range segments {
		err := decodeSegment(segment, func(e entry, err error) error {
			if e.Seq <= last {
				return nil
			}
			if err != nil {
				return fmt.Errorf("record %d: %w", e.Seq, err)
			}
			last = e.Seq
			return visit(e)
		})
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("the log behind record %d: %w", last, err)
		}
		if err != nil {
			return err
		}
	}
	if last == 0 {
		return errors.New("the log has no records")
	}
	return nil
}

// batch is some lines that follow each other, and then what they say.
type batch struct {
	text    []byte
	entries []entry
	errs    []error // of their bodies
	decoded chan struct{}
}

// batchBytes is about how long the lines of a batch are together: few enough that the batches on their way take
// little room.
const batchBytes = 128 << 10

// decodeSegment decodes the lines of a segment on every processor, and hands them on in their order. It holds no
// more than the batches that are on their way.
func decodeSegment(segment Source, visit func(e entry, err error) error) error {
	from, err := segment.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	processors := runtime.GOMAXPROCS(0)
	stop, todo, inOrder := make(chan struct{}), make(chan *batch), make(chan *batch, 2*processors)
	used := make(rooms, 4*processors)
	var reading error
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(inOrder)
		defer close(todo)
		reading = readBatches(from, used, func(b *batch) bool {
			for _, to := range []chan *batch{inOrder, todo} {
				select {
				case to <- b:
				case <-stop:
					return false
				}
			}
			return true
		})
	})
	for range processors {
		workers.Go(func() {
			decoder := steps.NewDecoder()
			for b := range todo {
				b.decode(decoder)
				used.keep(b.text)
				close(b.decoded)
			}
		})
	}
	err = visitBatches(inOrder, visit)
	close(stop)
	workers.Wait()
	return cmp.Or(err, reading)
}

func visitBatches(inOrder <-chan *batch, visit func(e entry, err error) error) error {
	for b := range inOrder {
		<-b.decoded
		for i, e := range b.entries {
			if err := visit(e, b.errs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// rooms keeps the memory of batches that are decoded for those that come.
type rooms chan []byte

func (r rooms) keep(room []byte) {
	select {
	case r <- room[:0]:
	default:
	}
}

func (r rooms) next() []byte {
	select {
	case room := <-r:
		return room
	default:
		return make([]byte, 0, batchBytes)
	}
}

// readBatches cuts a segment into batches until they are not wanted any more.
func readBatches(from io.Reader, used rooms, give func(*batch) bool) error {
	text := used.next()
	for {
		var err error
		text, err = fill(from, text)
		end := bytes.LastIndexByte(text, '\n') + 1
		switch {
		case err != nil:
			give(&batch{text: text, decoded: make(chan struct{})})
			if err == io.EOF {
				return nil
			}
			return err
		case end == 0 && len(text) >= longestLine:
			return bufio.ErrTooLong
		case end == 0:
			text = slices.Grow(text, len(text))
			continue
		}
		next := append(used.next(), text[end:]...)
		if !give(&batch{text: text[:end], decoded: make(chan struct{})}) {
			return nil
		}
		text = next
	}
}

// fill reads until there is no room any more. Unlike [io.ReadFull] it tells the end of what is read from a file that is
// shorter than its zip says.
func fill(from io.Reader, text []byte) ([]byte, error) {
	for len(text) < cap(text) {
		n, err := from.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err != nil {
			return text, err
		}
	}
	return text, nil
}

func (b *batch) decode(decoder *steps.Decoder) {
	for line := range bytes.Lines(b.text) {
		record, err := audit.SplitRecord(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil {
			continue
		}
		body, err := decoder.Body(record.Kind, record.Body)
		if (err != nil || body == nil) && !json.Valid(record.Body) {
			continue
		}
		record.Body = nil // what it says is in the body
		b.entries, b.errs = append(b.entries, entry{record, body}), append(b.errs, err)
	}
}

// walkLog goes over the records of a log and folds the run beside it.
func walkLog(segments []Source, visit func(e entry, s *steps.State) error) error {
	var s *steps.State
	return decodeLog(segments, func(e entry) (err error) {
		if s, err = steps.Follow(s, e.Record, e.body); err != nil {
			return err
		}
		return visit(e, s)
	})
}

// errFound ends a walk over a log early.
var errFound = errors.New("found")

// longestLine is more than any record takes: the first holds a runbook of up to 2 MiB.
const longestLine = 8 << 20

package evidence

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// entry is a record with its decoded body.
type entry struct {
	audit.Record
	body any // nil for a kind that carries nothing a walk needs
}

// decodeLog goes over the records of a log in order, each once, and holds one at a time. Lines that are no
// record, as a torn tail, are passed over: whether they may be there is for Verify to say.
func decodeLog(segments []Source, visit func(e entry) error) error {
	last := uint64(0)
	for _, segment := range segments {
		if err := decodeSegment(segment, &last, visit); err != nil {
			return err
		}
	}
	if last == 0 {
		return errors.New("the log has no records")
	}
	return nil
}

func decodeSegment(segment Source, last *uint64, visit func(e entry) error) error {
	from, err := segment.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 256<<10), longestLine)
	for lines.Scan() {
		record, err := audit.ParseRecord(lines.Bytes())
		if err != nil || record.Seq <= *last {
			continue
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			return fmt.Errorf("record %d: %w", record.Seq, err)
		}
		*last = record.Seq
		if err := visit(entry{record, body}); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return fmt.Errorf("the log behind record %d: %w", *last, lines.Err())
	}
	return nil
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

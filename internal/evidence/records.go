package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// entry is a record with its decoded body and the state of the run behind it.
type entry struct {
	audit.Record
	body any // nil for a kind that carries nothing a walk needs
}

// walkLog goes over the records of a log in order, each once, and folds the run beside it. Lines that are
// no record, as a torn tail, are passed over: whether they may be there is for Verify to say.
func walkLog(segments [][]byte, visit func(e entry, s *steps.State) error) error {
	var s *steps.State
	for _, segment := range segments {
		lines := bufio.NewScanner(bytes.NewReader(segment))
		lines.Buffer(make([]byte, 64<<10), longestLine)
		for lines.Scan() {
			record, err := audit.ParseRecord(lines.Bytes())
			if err != nil || s != nil && record.Seq <= s.Seq {
				continue
			}
			body, err := steps.DecodeBody(record.Kind, record.Body)
			if err != nil {
				return fmt.Errorf("record %d: %w", record.Seq, err)
			}
			if s, err = steps.Follow(s, record, body); err != nil {
				return err
			}
			if err := visit(entry{record, body}, s); err != nil {
				return err
			}
		}
		if lines.Err() != nil {
			return fmt.Errorf("the log behind record %d: %w", seqOf(s), lines.Err())
		}
	}
	if s == nil {
		return fmt.Errorf("the log has no records")
	}
	return nil
}

func seqOf(s *steps.State) uint64 {
	if s == nil {
		return 0
	}
	return s.Seq
}

// errFound ends a walk over a log early.
var errFound = errors.New("found")

// longestLine is more than any record takes: the first holds a runbook of up to 2 MiB.
const longestLine = 8 << 20

package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/audit"
)

var errKilled = errors.New("killed")

// memoryJournal keeps records as the log does, and refuses what the log refuses. Its
// disk can fill up, and the process that writes can be killed at any record.
type memoryJournal struct {
	now       func() time.Time
	records   []audit.Record
	durable   int  // records that are on disk
	full      bool // the disk takes nothing more
	emergency bool // there is another place to write to
	killAt    int  // the process dies at this record, 0 never
	killAfter bool // once the record is written, else before
}

func (j *memoryJournal) Append(actor, kind string, body any) (audit.Record, error) {
	return j.write(actor, kind, body)
}

func (j *memoryJournal) Commit(actor, kind string, body any) (audit.Record, error) {
	r, err := j.write(actor, kind, body)
	if err == nil {
		j.durable = len(j.records)
	}
	return r, err
}

func (j *memoryJournal) write(actor, kind string, body any) (audit.Record, error) {
	dies := j.killAt == len(j.records)+1
	if dies && !j.killAfter {
		return audit.Record{}, errKilled
	}
	if j.full && !j.emergency {
		return audit.Record{}, audit.ErrBroken
	}
	raw, err := encodeStrictly(body)
	if err != nil {
		return audit.Record{}, fmt.Errorf("record of kind %s: %w", kind, err)
	}
	if len(raw) > audit.MaxBody && len(j.records) > 0 {
		return audit.Record{}, &audit.TooLongError{Kind: kind, Size: len(raw), Limit: audit.MaxBody}
	}
	r := audit.Record{Seq: uint64(len(j.records) + 1), At: j.now(), Actor: actor, Kind: kind, Body: raw, Emergency: j.full}
	j.records = append(j.records, r)
	if dies {
		j.durable = len(j.records)
		return audit.Record{}, errKilled
	}
	return r, nil
}

func encodeStrictly(body any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !utf8.Valid(raw) || bytes.Contains(raw, []byte(`\ufffd`)) {
		return nil, audit.ErrNotUTF8
	}
	return raw, nil
}

func (j *memoryJournal) all() iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for _, r := range j.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// intended reports an error unless the intent of this plan is the open one, and safe.
func (j *memoryJournal) intended(digest string) error {
	for i := len(j.records) - 1; i >= 0; i-- {
		body, err := DecodeBody(j.records[i].Kind, j.records[i].Body)
		if err != nil {
			return err
		}
		switch b := body.(type) {
		case *Intended:
			switch {
			case b.Digest != digest:
			case i >= j.durable && !j.records[i].Emergency:
				return errors.New("its intent is not on disk")
			default:
				return nil
			}
		case *Settled:
			if b.Digest == digest {
				return errors.New("its intent is settled already")
			}
		}
	}
	return errors.New("it has no intent")
}

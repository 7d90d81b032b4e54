package cli

import (
	"log/slog"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// journal is the log of a walk with what follows from a record that is in it: the mirror
// gets its line, and at stage changes, holds and ends, when they are on disk, the head is
// signed and published. The mirror may be ahead of a disk that loses its power; then a
// resume takes from there what the disk lacks.
type journal struct {
	log     *audit.Log
	mirror  func(lines ...[]byte) // takes lines without making the walk wait
	key     *audit.Key
	logger  *slog.Logger
	publish func(head audit.Head, signed []byte) // shows a head

	headDue bool
}

// Append writes a record without waiting for the disk.
func (j *journal) Append(actor, kind string, body any) (audit.Record, error) {
	record, err := j.log.Append(actor, kind, body)
	if err == nil {
		j.note(record)
	}
	return record, err
}

// Commit waits for the disk.
func (j *journal) Commit(actor, kind string, body any) (audit.Record, error) {
	record, err := j.log.Commit(actor, kind, body)
	if err != nil {
		return record, err
	}
	j.note(record)
	if j.headDue && !record.Emergency {
		j.sign()
	}
	return record, nil
}

func (j *journal) note(record audit.Record) {
	j.mirror(record.Line())
	switch record.Kind {
	case steps.KindStage, steps.KindHeld, steps.KindRecovered, steps.KindAborted, steps.KindClosed:
		j.headDue = true
	}
}

// sign signs the head that is on disk. A key or a file that fails must not stop a
// walk: the log is what counts.
func (j *journal) sign() {
	if j.key == nil {
		return
	}
	signed, err := j.log.Sign(j.key.Signer)
	if err == nil {
		err = j.log.StoreHead(signed)
	}
	if err != nil {
		j.logger.Warn("the head was not signed", "error", err)
		return
	}
	j.headDue = false
	j.mirror(signed)
	if head, err := audit.OpenHead(signed, j.key.Verifier); err == nil {
		j.publish(head, signed)
	}
}

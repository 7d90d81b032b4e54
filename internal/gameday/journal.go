package gameday

import (
	"encoding/json"
	"iter"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// Journal is the log of one run.
type Journal interface {
	steps.Journal
	// Reopen goes on with the log after its process was killed, and gives what it holds.
	Reopen() (iter.Seq2[audit.Record, error], error)
	Close() error
}

// FileJournal keeps the log of a run on disk, as a real walk does.
func FileJournal(path string, clock Clock) (Journal, error) {
	log, err := audit.Create(path, clock, audit.Options{})
	if err != nil {
		return nil, err
	}
	return &fileJournal{Log: log, clock: clock}, nil
}

type fileJournal struct {
	*audit.Log
	clock Clock
}

func (j *fileJournal) Reopen() (iter.Seq2[audit.Record, error], error) {
	path := j.Path()
	if err := j.Log.Close(); err != nil {
		return nil, err
	}
	log, err := audit.Open(path, j.clock, audit.Options{})
	if err != nil {
		return nil, err
	}
	j.Log = log
	return log.Records(), nil
}

// memory is a log that nothing outlives. It keeps its records only where somebody may have
// to go on with it.
type memory struct {
	now     func() time.Time
	began   time.Time
	seq     uint64
	keeps   bool
	records []audit.Record
}

func (m *memory) Append(actor, kind string, body any) (audit.Record, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return audit.Record{}, err
	}
	now := m.now()
	if m.began.IsZero() {
		m.began = now
	}
	m.seq++
	r := audit.Record{Seq: m.seq, At: now.UTC(), T: now.Sub(m.began).Milliseconds(), Actor: actor, Kind: kind, Body: raw}
	if m.keeps {
		m.records = append(m.records, r)
	}
	return r, nil
}

func (m *memory) Commit(actor, kind string, body any) (audit.Record, error) {
	return m.Append(actor, kind, body)
}

func (m *memory) Reopen() (iter.Seq2[audit.Record, error], error) {
	records := m.records
	return func(yield func(audit.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}, nil
}

func (m *memory) Close() error { return nil }

package audit

import (
	"crypto/sha256"
	"errors"
	"iter"
)

// Records goes over the records of a log, given as its segments in order, and
// checks the chain as it goes. It yields each record once and stops behind the
// first error; a torn tail ends it without one. What follows a record may still
// turn out to be damaged, so a reader that must not act on a log that does not
// verify runs [Verify] first; [Open] has done so.
func Records(paths ...string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		c := &chain{}
		c.visit = func(e envelope, _ digest) error {
			r, err := e.record()
			if err != nil {
				return c.at.damaged("%s", err)
			}
			if !yield(r, nil) {
				return errStop
			}
			return nil
		}
		for _, path := range paths {
			if err := c.add(path); err != nil {
				if !errors.Is(err, errStop) {
					yield(Record{}, err)
				}
				return
			}
		}
	}
}

// Against goes over the records of a log that ought to have the one a head names. Where it has another in its place
// the error is [*RewrittenError], and behind the last record of a log that ends before it [*TruncatedError].
func Against(head Head, records iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var last Record
		for record, err := range records {
			if err == nil && record.Seq == head.Seq {
				if hash := digest(sha256.Sum256(record.Line())); !head.names(hash) {
					yield(Record{}, &RewrittenError{Found: Head{Seq: record.Seq, Hash: hash.String()}, Want: head})
					return
				}
			}
			if !yield(record, err) || err != nil {
				return
			}
			last = record
		}
		if last.Seq > 0 && last.Seq < head.Seq {
			hash := digest(sha256.Sum256(last.Line()))
			yield(Record{}, &TruncatedError{Last: Head{Run: head.Run, Seq: last.Seq, Hash: hash.String()}, Want: head})
		}
	}
}

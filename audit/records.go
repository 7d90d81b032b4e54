package audit

import (
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

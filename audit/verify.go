package audit

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// VerifyOptions is what is known about a log from outside.
type VerifyOptions struct {
	// Head is a position that was published or read out. A log that is ahead of
	// it is normal; one that ends before it, or has another record there, was
	// tampered with. Give a signed one through [OpenHead].
	Head *Head
	// Run, when given, is the run that a head must be of.
	Run string
	// Open, when given, reads the segments from somewhere else than files: a name that is not there is
	// fs.ErrNotExist. A segment may be opened more than once.
	Open func(path string) (io.ReadCloser, error)
}

// Report is what a log that verifies looks like.
type Report struct {
	Segments []Segment
	Head     Head // of the last record
	First    time.Time
	Last     time.Time
	Ended    string // closed or aborted; empty for a run that has not ended
	ClockSet int    // times it was set back: records whose wall clock is behind the record before
	Compared *Head  // the head from outside, if there was one
}

// Verify checks a log, given as its segments in order: the shape of every line,
// the numbers, the hashes, run time, and the head if there is one. It does not
// decode bodies; [Records] does. It reads at about the speed of SHA-256 and its
// memory does not grow with the log.
//
// The errors are [ErrMissing], [ErrEmpty], [*DamagedError], [*TruncatedError],
// [*RewrittenError], [*StartError], [*GapError], [*ForkError] and those of
// reading. A torn tail and a run that has not ended are no errors: they are in
// the report.
func Verify(paths []string, o VerifyOptions) (Report, error) {
	if len(paths) == 0 {
		return Report{}, ErrMissing
	}
	if o.Head != nil && o.Run != "" && o.Head.Run != "" && o.Head.Run != o.Run {
		return Report{}, fmt.Errorf("head %s is of run %q, not of run %q", o.Head, o.Head.Run, o.Run)
	}
	v := verifier{head: o.Head}
	c := &chain{open: o.Open, visit: v.visit}
	for _, path := range paths {
		if err := c.add(path); err != nil {
			return Report{}, err
		}
	}
	end := Head{Run: o.Run, Seq: c.end.seq, Hash: c.end.hash.String()}
	if o.Head != nil && o.Head.Seq > end.Seq {
		return Report{}, &TruncatedError{Last: end, Want: *o.Head}
	}
	return v.report(c, end)
}

// verifier gathers the report while the chain is walked.
type verifier struct {
	head        *Head
	first, last [len(atLayout)]byte
	ended       string
	clockSet    int
}

func (v *verifier) visit(e envelope, hash digest) error {
	if v.head != nil && e.seq == v.head.Seq && !v.head.names(hash) {
		return &RewrittenError{Found: Head{Seq: e.seq, Hash: hash.String()}, Want: *v.head}
	}
	at := [len(atLayout)]byte(e.at)
	if e.seq == 1 {
		v.first = at
	} else if string(at[:]) < string(v.last[:]) {
		v.clockSet++
	}
	v.last = at
	switch string(e.kind) {
	case "closed":
		v.ended = "closed"
	case "aborted":
		v.ended = "aborted"
	case "resumed":
		v.ended = ""
	}
	return nil
}

func (v *verifier) report(c *chain, end Head) (Report, error) {
	r := Report{Segments: c.segments, Head: end, Ended: v.ended, ClockSet: v.clockSet, Compared: v.head}
	var err, lastErr error
	r.First, err = parseAt(v.first[:])
	r.Last, lastErr = parseAt(v.last[:])
	if err := errors.Join(err, lastErr); err != nil {
		return Report{}, fmt.Errorf("%s: %w", show(c.path), err)
	}
	return r, nil
}

// Sentences says what was found and what could not be, each in one sentence.
func (r Report) Sentences() []string {
	last := r.Segments[len(r.Segments)-1]
	said := []string{fmt.Sprintf("%s, head %s: the chain holds", counted(r.Head.Seq, "record"), r.Head)}
	if r.Compared != nil {
		said = append(said, fmt.Sprintf("the log has the record that head %s names", r.Compared))
	} else {
		said = append(said, "no head from outside was given: records removed from the end, or a log rewritten as a whole, cannot be seen without one")
	}
	for _, s := range r.Segments {
		if s.Repaired > 0 {
			said = append(said, fmt.Sprintf("%s: %s repaired and named by a record", show(s.Path),
				counted(s.Repaired, "torn tail")))
		}
	}
	if last.Tail != nil {
		said = append(said, fmt.Sprintf("%s: no whole record in the last %s: it is being written now, or a writer was stopped; resuming repairs it", show(last.Path), counted(last.Tail.Length, "byte")))
	}
	if r.ClockSet > 0 {
		said = append(said, fmt.Sprintf("the wall clock was set back %s: the order is that of the numbers",
			counted(r.ClockSet, "time")))
	}
	if r.Ended == "" {
		said = append(said, "the run has not ended: it goes on, was interrupted, or its end was removed")
	} else {
		said = append(said, "the run is "+r.Ended)
	}
	return said
}

package audit

import (
	"errors"
	"fmt"
)

// Errors to test for with errors.Is.
var (
	// ErrBroken latches: a write or a sync failed, so what is on the disk is not
	// known until the log is opened and checked again. It comes with the cause.
	ErrBroken = errors.New("the log is broken and takes no more records")
	// ErrClosed is what a log answers after Close.
	ErrClosed = errors.New("the log is closed")
	// ErrMissing is what a log file gets that is not there. Missing is not valid.
	ErrMissing = errors.New("the log is missing")
	// ErrEmpty is what a log file gets that holds not one whole record.
	ErrEmpty = errors.New("the log holds no whole record")
)

// LockedError says that another process, or another Log of this one, is writing.
type LockedError struct {
	Path string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is being written by another process: wait for it to end, or end it", show(e.Path))
}

// DamagedError says where a log stops being the log that was written.
type DamagedError struct {
	Path   string
	Line   int   // from 1
	Offset int64 // of the line, in bytes
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s:%d: damaged (byte %d): %s", show(e.Path), e.Line, e.Offset, e.Reason)
}

// TruncatedError says that a head from outside names a record that the log no
// longer has.
type TruncatedError struct {
	Last, Want Head
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("the log ends at %s but its head is %s: %s removed from its end", e.Last, e.Want,
		counted(e.Want.Seq-e.Last.Seq, "record"))
}

// RewrittenError says that a head from outside names another record at its
// position.
type RewrittenError struct {
	Found, Want Head
}

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("record %d is %s but its head says %s: the log was rewritten, or this is the head of another run",
		e.Want.Seq, e.Found, e.Want)
}

// StartError says that a log begins in the middle.
type StartError struct {
	Path string
	Seq  uint64
}

func (e *StartError) Error() string {
	return fmt.Sprintf("%s begins at record %d: an earlier segment is missing, or the segments are in the wrong order",
		show(e.Path), e.Seq)
}

// GapError says that records are missing between two segments.
type GapError struct {
	Path        string // the later segment
	First, Last uint64 // the missing records
}

func (e *GapError) Error() string {
	return fmt.Sprintf("%s does not follow the segment before it: records %d to %d are missing", show(e.Path),
		e.First, e.Last)
}

// ForkError says that two segments go on differently from the same record.
type ForkError struct {
	Earlier, Later string // paths
	Seq            uint64 // the first record that differs
}

func (e *ForkError) Error() string {
	return fmt.Sprintf("%s and %s fork at record %d: two writers went on from the same record, or one of both was changed",
		show(e.Earlier), show(e.Later), e.Seq)
}

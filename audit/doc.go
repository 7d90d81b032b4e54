// Package audit keeps the log of a run: records that are only ever appended, each
// naming the hash of the one before, so that a log that was cut, altered or forked
// does not pass for the one that was written. It knows nothing of runbooks: who
// writes decides on kinds and bodies.
//
// # Format
//
// A log is a text file of JSON objects, one a line, with these keys in this order:
//
//	seq    number of the record, from 1
//	prev   SHA-256 of the line before without its newline, 64 hex digits; zeros first
//	at     wall clock, UTC, always nine decimals
//	t      run time in whole milliseconds: monotonic, without sleeps, going on after a resume
//	actor  who: a person or the program
//	kind   what, in lower-case letters
//	body   a JSON object of at most 16 KiB, 2 MiB in record 1
//
// The hash is taken of the bytes that stand in the file, never of a re-encoding.
// Each field has one spelling, and [ParseRecord] refuses any other. The order of
// records is that of seq: the wall clock is written down as it was, also when it
// was set back.
//
// A whole log:
//
//	{"seq":1,"prev":"0000000000000000000000000000000000000000000000000000000000000000","at":"2026-11-29T10:08:01.000000000Z","t":0,"actor":"ana","kind":"begun","body":{"run":"20261129T100801Z-hot-key-collapse-7f3a"}}
//	{"seq":2,"prev":"1a09ad23d4801d63e0da68859b0653a3af72c92654c3e91e2e7ea8d88ecfc3f7","at":"2026-11-29T10:08:02.250000000Z","t":1250,"actor":"rewarm","kind":"noted","body":{"text":"p99 > 800ms"}}
//	{"seq":3,"prev":"82e681942213cb8b3637b45ff5ebc4fc7f3e610a9f594838ad25ffe169df829e","at":"2026-11-29T10:08:03.500000000Z","t":2500,"actor":"ana","kind":"closed","body":{}}
//
// # Writing
//
// [Create] begins a log and [Open] goes on with one; both take the writer's lock,
// and the second writer gets a [*LockedError]. The lock is the kernel's (flock), so
// it ends with the process; on NFS it holds between machines only where the mount
// carries flock to the server, see [NetworkFilesystem].
//
// [Log.Append] does not wait for the disk: it is for observations. [Log.Commit]
// waits, and takes along what was appended before: it is for whatever must be known
// after a power cut, such as an intent before its effect.
//
// A body that cannot be recorded is an error that changes nothing. A failed write or
// sync is final: after it nobody knows what is on the disk, and a later sync that
// succeeds proves nothing, so the log takes no more records ([ErrBroken]) until it
// is opened and checked again. The way out is Options.Emergency, a sink on another
// disk or machine: numbers and chain go on there, and records come back marked
// Emergency.
//
// # Torn tails
//
// A writer that is stopped in the middle of a line leaves a torn tail. Open closes
// it with a newline and a record of kind torn that gives offset, length and SHA-256
// of the skipped bytes and whose prev names the last whole record. A line that only
// lacks its newline is whole. A damaged middle is not repaired and never appended to.
//
// # Segments
//
// A run that goes on in another file (on another machine, or in the emergency log)
// is a log of several segments. The first record of a segment says by seq and prev
// where it began. Segments may overlap where they agree; where they do not, the log
// forks, and [Verify] says at which record.
//
// # What a check finds
//
// [Verify] finds any change to any record but the last, records removed, added or
// moved in the middle, and a log that is missing or empty. Whoever can write the
// file can also rewrite it as a whole, or remove records from its end: only a [Head]
// that was kept elsewhere tells. Heads are short enough to read out, and signed
// ones ([Log.Sign], [OpenHead]) prove who published them.
package audit

// Package notify tells others what happens in a run: it picks the records that people wait for, writes them in the
// format of a receiver, and delivers them beside the run.
//
// What is told and how it is written follow from the records alone. A [Courier] delivers to one receiver; it is
// handed its time and its transport, never makes the run wait, and keeps a bounded number of events. An event is
// delivered at least once: its ID is that of its record, so a receiver can tell a second copy.
//
// Addresses and tokens are secrets. They are in no error, and what a server echoes of them is taken out.
package notify

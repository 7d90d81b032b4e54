// Package controls holds the controls of a service in Redis: the names of their
// keys, the spelling of their values, and the Reader that the service embeds to
// obey them. It needs nothing else of rewarm.
//
// # Keys
//
// All keys of a service begin with rewarm:{SERVICE}: where the braces are
// literal, so that a cluster keeps them in one slot. The hash :controls holds
// the values; a missing field is a value too. The hash :meta holds what is known
// about the last flip of each control (Meta), :changes is a stream of the flips,
// :version counts them. Keys gives the names, docs/controls.md the whole story.
//
// # Values
//
// A value has one spelling: numbers in shortest decimal ("3200", "0.25"),
// durations in seconds ("120"), percents from 0 to 100 ("10"), switches "on" and
// "off", a choice by its name, lists as JSON (["a","b"]). Format and Parse stand
// in pairs; Parse refuses what does not print back identically.
//
// # Reading
//
// A Reader obeys the hash itself, so an edit by hand counts at once. It starts
// with compiled-in protecting values while Redis has never been reached, and
// keeps the last values for ever when Redis is gone. Load that a recovery adds
// ends by itself: such a value has a time in its meta that its run keeps pushing
// on, and when it has passed, the reader falls back to the dead man's value.
//
//	Redis                              Reader answers with
//	never reached                      Fallback
//	reached, field there               the field
//	reached, field missing             Absent
//	field there, its run died          DeadMan
//	gone, or came back empty           what it answered before
package controls

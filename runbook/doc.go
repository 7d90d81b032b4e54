// Package runbook reads runbooks: what an on-call engineer does about a cache
// collapse, as a document that a machine can walk.
//
// A runbook is one YAML file for one service. It has the numbers the service was
// measured at (figures), what the service obeys (controls), what is asked about
// it (probes), when the collapse is over (exit), what must hold meanwhile
// (guards), and steps under nine stages that are always walked in one order:
// first whatever takes load off the origin, then, gated, what adds to it.
//
//	controls:
//	  origin.admission: {kind: rate, unit: attempts/s, absent: unlimited, steady: 3200, protects: lower}
//	probes:
//	  queue-age: {query: max(origin_queue_age_seconds), unit: s}
//	stages:
//	  protect-origin:
//	    - step: enforce-admission
//	      flip: {control: origin.admission, to: 3200}
//	      expect: [{probe: queue-age, at_most: 500ms}]
//
// [Parse] is strict. It gives a [Document] in which every name is resolved, every
// value typed, in the unit of what it is compared with, and every default filled
// in; or it gives [Problems], which are all that is wrong, each with its place and
// a way out. Nothing is looked up elsewhere: the package reads no file and knows
// no network, and the same bytes always give the same answer. All texts of a
// document are printable.
//
// [Lint] goes on where validity ends: it knows what recoveries have taught.
// [TimeFloor] adds up the least time that the gates of a runbook take.
//
// A [Control] also knows its own values: how people write them, which of two is
// higher, and whether a change protects the origin or releases it.
//
// docs/runbook.md is the reference for those who write runbooks.
package runbook

// Package steps is the step machine: it alone knows the order gate, approval, intent,
// act, settle, judge.
//
// The journal is the state. [State] is a fold over the records of a run, and [Next]
// decides from that state and the time alone what comes next; it reads nothing else and
// changes nothing. A [Machine] performs one move, writes down what happened, folds the
// record and is asked again. It starts no goroutine and never sleeps: whoever drives it
// calls [Machine.Step], waits when that returns a [Wait], and hands in what persons say
// ([Machine.Order]) and how calls ended ([Machine.Called]). A run that was killed is
// resumed by folding its records; nothing else is kept.
//
// # The order of rights
//
// Next asks its rules in one fixed order, and the first that has a move wins:
//
//  1. an ended run does nothing;
//  2. an intent without an outcome is settled by its digest;
//  3. what adds load is idled, after an abort, an interrupt or a resume;
//  4. brakes: undoing what failed, putting back what drifted, harder brakes, guards;
//  5. the protecting stages, step after step, without waiting for their effect;
//  6. decisions that follow from what was observed: drift, undos that it has made moot,
//     expectations, guards, recovery, holds and their end;
//  7. the next poll, when it is due;
//  8. the releasing stages, one step at a time, behind everything that blocks.
//
// So nothing can stand before a brake, and a release stands behind everything: holds,
// unknown outcomes, owed expectations, drift, a Redis that cannot be read, a broken log,
// its own gate and its approval.
//
// # Gates
//
// A gate that is watched is a [Watch]. Its passes in a row are counted from the polls
// that the state keeps, so an observation serves every gate that it can serve, also one
// that begins to watch later: the when of the next release is watched while the
// expectation before it is. A gate after a flip counts only what lies after the flip's
// mark: since when the service obeyed it. A release's when also counts from the poll on
// that cleared the last owed expectation. What a bound compares with is kept with the
// poll, so a gate is judged once, and the same whoever folds the records. A resume
// forgets the polls: every gate starts anew, and so does every timeout.
//
// # Holds
//
// A hold has one cause and says what blocks, what a person may type, when it lifts by
// itself and what waiting costs. Guards that one cause keeps from being judged share a
// hold. [State.Blocking] and [State.Costs] say the same at any later moment.
//
// # Ends
//
// A walk that closes, aborts, is interrupted, was told to stop or has nobody to ask gives
// the command back after its last record, so that another run can begin at once. One that
// is killed keeps it until the lease ends.
//
// # Failing
//
// A release whose expectation fails is undone, its approvals are void, and the next try
// goes half way; after three failures a person has to look. A brake is never undone for
// that. When a guard's brake or a hand has tightened what a release had moved, nothing is
// met, and a ladder goes on from where the control really is. A brake never loosens a
// value that can be read: whatever is tighter meanwhile stays.
package steps

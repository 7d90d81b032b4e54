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
//  6. decisions that follow from what was observed: drift, expectations, guards,
//     recovery, holds and their end;
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
// that begins to watch later. A gate after a flip counts only what lies after the flip's
// mark: since when the service obeyed it.
package steps

// Package actions changes the world for a run: it flips controls in Redis and
// runs calls.
//
// A flip is planned against what Redis holds (Store.Read, NewPlan), approved by
// the plan's digest, and applied exactly as planned (Store.Apply): one script
// checks that the run still commands and that the value is still the one that
// was read, writes value and meta, raises the version and appends the change.
// It is sent once. Whoever gets no answer does not know whether it was done, and
// finds out with Store.Settle, by the plan's digest in Redis. Nothing here
// repeats a write on its own.
//
// Only the commander of a service may flip: Store.Take gives a lease with a
// fencing number, which the scripts compare together with the run, because a
// failover can hand the same number out twice.
//
// The scripts are in scripts/, the keys and the spelling of values in package
// controls; docs/controls.md describes both for other programs.
package actions

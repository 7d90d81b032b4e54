// Package simulation plays whole incidents from one number, with faults at every
// boundary of the step machine, and checks after every move what may never happen.
//
// A seed draws a [Plan]: a runbook, how releases are approved, and a list of faults.
// Everything else follows from the plan: the world has one goroutine, its own clock and
// no other source of chance, so a plan that fails fails again, on any machine. The
// machine under test, the parser of its runbook, its plans and digests are the real ones;
// what they act on are models that are small enough for hundreds of incidents a second:
//
//   - a service that collapses and warms, scraped by a Prometheus once a second;
//   - a Redis with the five scripts of package actions, held against the real store by a
//     conformance test, that can fall over and lose what it has acknowledged;
//   - a log with a page cache and a disk that fills up, fails to sync and tears lines;
//   - persons where the walk is and elsewhere, calls, a rival run, one that takes over, and
//     a second process of the same run elsewhere.
//
// Boundaries are counted: every append, commit, poll, exchange with Redis and sleep is
// one, before and after. A fault names the boundary at which it strikes, so the faults of
// a plan can be left out one by one; that is how a plan that fails is shrunk. A process is
// killed by a panic that unwinds the machine in the middle of whatever it does.
//
// After its faults a plan becomes quiet: the world heals and persons do what the walk
// asks of them. Then the walk must come to its end.
//
// [Invariants] lists what is checked. Every one of them is shown to be alive by a world
// that breaks it.
package simulation

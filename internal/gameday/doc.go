// Package gameday plays scripts on a virtual clock: a scenario of the lab, a runbook, an
// operator, and what must come true.
//
// A day is a file of kind GameDay (docs/gamedays.md), read by [Parse]. [Day.Play] lets it
// happen: the lab goes on tick by tick, the step machine walks the same runbook as in an
// incident, events of the timeline befall the service, the tools and the people, and once
// a second every expectation is judged, by the judge that gates are judged by, so that what
// is unknown is never taken for true. The judge asks past the faults of the tools: it sees
// the service even while the walk is blind.
//
// One seed always plays alike. Nothing here reads a clock of its own or a file.
package gameday

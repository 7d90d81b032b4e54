//go:build !race

package gameday

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/runbook"
)

// trials are days with some events each, and what shows that they have happened.
var trials = []struct{ timeline, expect string }{
	{`{at: 20s, event: slow-words, for: 25s}, {at: 36s, event: prometheus-away, for: 20s}`, `
  - {name: no answer in time, finally: [{records: confirmed, where: {answered: true, answer: undeclared}, equals: 1}]}
  - {name: nothing is released blindly, at: 55s, holds: [{records: settled, where: {plan.direction: releasing}, equals: 0}]}`},
	{`{at: 31s, event: prometheus-stale, for: 29s}, {at: 10s, event: declare, modes: [hot-shard]}`, `
  - {name: another answer, finally: [{records: confirmed, where: {answered: true, answer: hot-shard}, equals: 1}]}
  - {name: nothing is released on old samples, at: 59s, holds: [{records: settled, where: {plan.direction: releasing}, equals: 0}]}`},
	{`{at: 36s, event: prometheus-partial, for: 20s}, {at: 37s, event: second-run}`, `
  - {name: nothing is released on holes, at: 55s, holds: [{records: settled, where: {plan.direction: releasing}, equals: 0}]}
  - {name: a second run is refused, finally: [{records: event, where: {event: second-run, outcome: refused}, equals: 1}]}`},
	{`{at: 20s, event: redis-away, for: 15s}, {at: 38s, event: take-over, reason: she knows}`, `
  - {name: the brakes wait for Redis, at: 34s, holds: [{records: settled, where: {result: applied}, equals: 0}]}
  - {name: and go then, eventually: [{records: settled, where: {result: applied}, at_least: 3}]}
  - {name: the first walk ends, finally: [{records: event, where: {event: walk, outcome: ended}, equals: 1}, {records: begun, equals: 2}]}`},
	{`{at: 20s, event: redis-refuses, for: 15s, with: read-only}, {at: 55s, event: restore-all}`, `
  - {name: nothing is written, at: 34s, holds: [{records: settled, where: {result: applied}, equals: 0}]}
  - {name: and then it is, eventually: [{records: settled, where: {result: applied}, at_least: 3}], within: 45s}
  - {name: all at once, at: 56s, holds: [{control: stale.product-detail, equals: 10s}, {control: jobs.background, equals: on}]}`},
	{`{at: 42s, event: redis-failover, lost: 10s}, {at: 50s, event: kill-operator, for: 5s}`, `
  - {name: what was lost is found, eventually: [{records: drifted, at_least: 1}]}
  - {name: the walk goes on, eventually: [{records: event, where: {event: walk, outcome: resumed}, equals: 1}], within: 60s}`},
	{`{at: 45s, event: edit, control: origin.admission, to: 4000}, {when: [{score: protected, above: 0}], after: 2s, event: add-clients, processes: 48}`, `
  - {name: drift holds, eventually: [{records: drifted, where: {control: origin.admission, decision: holds releases}, at_least: 1}]}
  - {name: more clients, eventually: [{probe: processes, at_least: 288}]}`},
	{`{at: 10s, event: ignore-holds}, {at: 45s, event: order, order: hold, text: wait}`, `
  - {name: held, finally: [{records: held, where: {cause: person, lifted: false}, equals: 1}, {score: holds, at_least: 1}]}
  - {name: cleared away, finally: [{records: held, where: {cause: person, lifted: true}, equals: 1}]}`},
}

func TestEveryEvent(t *testing.T) {
	var all strings.Builder
	for i, trial := range trials {
		all.WriteString(trial.timeline)
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			r := play(t, short+"operator: {approve: person}\ntimeline: ["+trial.timeline+"]\nexpect:"+trial.expect+"\n", Options{})
			for _, v := range r.Verdicts {
				if !v.Held {
					t.Errorf("%s: %s: %q", v.Name, v.Why, v.Readings)
				}
			}
			if t.Failed() {
				t.Logf("%+v, %s", r.Events, r.Ending)
			}
		})
	}
	if i := slices.IndexFunc(runbook.DayEvents, func(e runbook.DayEvent) bool {
		return e.Name != runbook.CallProgram && !strings.Contains(all.String(), e.Name) // nothing is called on the lab
	}); i >= 0 {
		t.Errorf("no day tries the event %s", runbook.DayEvents[i].Name)
	}
}

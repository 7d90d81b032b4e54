package evidence

import (
	"fmt"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// watched remembers the gate before each step's releases as it was last seen.
func (t *tally) watched(b *steps.Observed) {
	for _, gate := range b.Gates {
		t.seen[gate.Gate] = gate
	}
}

// released tells what the gate read before a release: its own record does not.
func (t *tally) released(e entry, b *steps.Intended) {
	if b.Plan.Direction == runbook.Releasing {
		t.went(e, b.Target.Step, fmt.Sprintf("go, %s to %s", b.Target.Control, b.After))
	}
}

// went takes the gate's last sight: the next release has one of its own.
func (t *tally) went(e entry, step, decision string) {
	gate, seen := t.seen["when "+step]
	if !seen {
		return
	}
	delete(t.seen, gate.Gate)
	t.f.Decisions = append(t.f.Decisions, Decision{Seq: e.Seq, At: e.At, T: e.T, Step: step, Gate: gate.Gate,
		Verdict: fmt.Sprintf("%s %d/%d", gate.Verdict, gate.Passes, gate.Of), Decision: decision,
		Readings: readings(gate.Findings)})
}

// recovered notes the exit where it was found to have held.
func (t *tally) recovered(e entry, b *steps.Recovered) {
	f := t.f
	f.RecoveredAt, f.TookMS, f.WithinMS, f.Late = b.RecoveredAt.UTC(), b.TookMS, b.WithinMS, b.Late
	f.IncidentMS = b.IncidentMS
	f.RecoveredIn = &Moment{Seq: e.Seq, At: e.At, T: e.T,
		Text: fmt.Sprintf("at %s, %s after the run began", utc(b.RecoveredAt), ms(b.TookMS))}
	f.Decisions = append(f.Decisions, Decision{Seq: e.Seq, At: e.At, T: e.T, Gate: "exit", Verdict: "pass",
		Decision: "recovered", Readings: readings(b.Gate)})
}

package evidence

import (
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Replay is what another runbook would have said of a run.
type Replay struct {
	Run     string         `json:"run"`
	Runbook string         `json:"runbook"`
	SHA256  string         `json:"runbook_sha256"`
	Same    bool           `json:"same_runbook"` // it is the one that the run was walked by
	Gates   []ReplayedGate `json:"gates"`
	Limits  []string       `json:"limits"` // what a replay cannot know
}

// ReplayedGate is one gate in one of its turns. Times are UTC, on the clock of Prometheus.
type ReplayedGate struct {
	Gate     string        `json:"gate"`
	From     string        `json:"from,omitempty"` // of the rung or lift
	To       string        `json:"to,omitempty"`
	Change   Change        `json:"change"`
	ByMS     int64         `json:"by_ms,omitempty"` // how much earlier or later
	Recorded *ReplayMoment `json:"recorded,omitempty"`
	Would    *ReplayMoment `json:"would,omitempty"`
	After    bool          `json:"after,omitempty"`  // by readings from after what the recorded gate led to
	Why      string        `json:"why,omitempty"`    // why it cannot be answered
	Passes   int           `json:"passes,omitempty"` // in a row, when the one of the two passed that was earlier
	Needed   int           `json:"needed,omitempty"`
	Findings []string      `json:"findings,omitempty"` // of then: what did not pass
}

// ReplayMoment is when a gate passed, a guard was breached or the exit had held.
type ReplayMoment struct {
	At      time.Time `json:"at"`
	Seq     uint64    `json:"seq"`
	T       int64     `json:"t_ms"`
	Verdict string    `json:"verdict,omitempty"` // of a gate that is judged once
}

// Change is how the two runbooks differ about a gate.
type Change string

// The changes.
const (
	ChangeNone       Change = "same"
	ChangeEarlier    Change = "earlier"
	ChangeLater      Change = "later"
	ChangeNever      Change = "never"     // it passed, and would not have
	ChangeOnlyHere   Change = "only here" // it did not pass, and would have
	ChangeNeither    Change = "neither"   // it did not pass, and would not have
	ChangeVerdict    Change = "verdict"   // of a gate that is judged once
	ChangeUnanswered Change = "unanswered"
)

// replayLimits are true of every replay.
var replayLimits = []string{
	"what the service would have done after another decision is not known: each gate is judged alone, along the run as it really went, " +
		"with its flips, its marks and its approvals",
	"what would have passed after what the recorded gate led to is judged by readings of a service that had been flipped already",
	"a gate is answered only where the run asked the same query in the same way; of many series the log has the ten lowest and the ten highest",
	"timeouts, holds and approvals are not judged again",
}

// ReplayLog judges the records of a log under another runbook.
func ReplayLog(m Material, doc *runbook.Document) (Replay, error) {
	r := steps.NewReplay(doc)
	err := decodeLog(m.Segments, func(e entry) error { return r.Follow(e.Record, e.body) })
	if err != nil {
		return Replay{}, err
	}
	out := Replay{Run: m.Run, Runbook: doc.Name, SHA256: doc.Sum(), Same: doc.Sum() == r.State().Doc.Sum(),
		Limits: replayLimits, Gates: []ReplayedGate{}}
	for _, g := range r.Gates() {
		out.Gates = append(out.Gates, replayed(g))
	}
	return out, nil
}

func replayed(g steps.Replayed) ReplayedGate {
	out := ReplayedGate{Gate: g.Gate, From: g.From, To: g.To, After: g.After, Why: g.Unanswered, Change: changeOf(g),
		Recorded: replayMoment(g.Recorded, g.RecordedVerdict), Would: replayMoment(g.Would, g.WouldVerdict)}
	if out.Change == ChangeEarlier || out.Change == ChangeLater {
		out.ByMS = g.Would.At.Sub(g.Recorded.At).Abs().Milliseconds()
	}
	if out.Change != ChangeNone && out.Change != ChangeUnanswered {
		out.Passes, out.Needed, out.Findings = g.Passes, g.Needed, readings(against(g.Findings))
	}
	return out
}

// against are the findings that do not pass.
func against(findings []probes.Finding) (list []probes.Finding) {
	for _, f := range findings {
		if f.Verdict != probes.Pass {
			list = append(list, f)
		}
	}
	return list
}

func changeOf(g steps.Replayed) Change {
	did, would := !g.Recorded.Never(), !g.Would.Never()
	switch {
	case g.Unanswered != "":
		return ChangeUnanswered
	case g.RecordedVerdict != g.WouldVerdict:
		return ChangeVerdict
	case did && !would:
		return ChangeNever
	case !did && would:
		return ChangeOnlyHere
	case !did:
		return ChangeNeither
	case g.Would.At.Before(g.Recorded.At):
		return ChangeEarlier
	case g.Would.At.After(g.Recorded.At):
		return ChangeLater
	}
	return ChangeNone
}

func replayMoment(p steps.Passing, verdict string) *ReplayMoment {
	if p.Never() {
		return nil
	}
	return &ReplayMoment{At: p.At.UTC(), Seq: p.Seq, T: p.T, Verdict: verdict}
}

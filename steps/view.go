package steps

import (
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// GateView is a gate that is being watched, as it stands after the latest poll.
type GateView struct {
	Watch
	Verdict  probes.Verdict
	Passed   int              // observations that passed in a row
	Findings []probes.Finding // one for each bound; none before the first poll
	Since    time.Time        // when the present row of like verdicts began, on our clock; zero before it
	Pace     string           // how fast what fails comes closer, and how long it takes yet; "" when it does not
}

// Gates gives every gate that is being watched now: those of the steps in walk order, then the
// guards, then the exit, of which Passed counts whole intervals.
func (s *State) Gates() []GateView {
	watches := s.watches()
	views := make([]GateView, len(watches))
	for i, w := range watches {
		if w.ID == exitID {
			views[i] = s.exitView(w)
			continue
		}
		t := s.track(w)
		views[i] = GateView{Watch: w, Verdict: t.last.Verdict, Passed: t.passes, Findings: t.last.judgement().Findings,
			Since: t.sinceWhen(), Pace: s.pace(w, t)}
	}
	return views
}

func (s *State) exitView(w Watch) GateView {
	x := s.followExit()
	w.Passes = s.Doc.Exit.Intervals
	view := GateView{Watch: w, Verdict: x.last.Verdict, Findings: x.last.judgement().Findings, Pace: s.pace(w, x.track())}
	switch {
	case !x.held.IsZero():
		view.Passed = w.Passes
	case !x.since.IsZero():
		view.Passed = int(x.latest.at.Sub(x.since) / s.Doc.Exit.Interval)
		view.Since = x.since.Add(-s.offset)
	}
	return view
}

// OutAgain says since when, on our clock, the service is out of the bounds of its exit again, after it had recovered;
// false while it is not. That the exit cannot be measured does not change what it was.
func (s *State) OutAgain() (since time.Time, out bool) {
	x := s.followExit()
	return x.knownAt, s.Recovered != nil && x.known == probes.Fail
}

// Question is what the walk waits for a person to say at a time. Waits is false while it has
// something else to do first: then what was asked before may still be asked.
func (s *State) Question(now time.Time) (q Question, waits bool) {
	n, waits := lookAt(s, now)
	return n.asks(waits), waits
}

// Live gives the value of a control as last seen; false when it is not known or not readable.
func (s *State) Live(c *runbook.Control) (runbook.Value, bool) { return s.live(c) }

// CurrentStep is the step that the walk stands in: the last that was entered and is not done,
// nil when there is none.
func (s *State) CurrentStep() *runbook.Step {
	var current *runbook.Step
	for step := range s.Doc.Steps() {
		if st := s.steps[step.Name]; st != nil && st.Phase == StepEntered {
			current = step
		}
	}
	return current
}

// Approvals gives every approval of the run, oldest first, also those that are void.
func (s *State) Approvals() []*ApprovalState { return s.approvals }

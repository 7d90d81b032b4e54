package gameday

import (
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Deed is something that whoever walks has decided, or who gave an order from elsewhere, or that was done past the
// walk.
type Deed struct {
	Seconds float64         `json:"seconds"` // since the start of the day
	Deed    steps.OrderKind `json:"deed"`    // an order, DeedEdit or DeedLift
	By      string          `json:"by,omitempty"`
	About   string          `json:"about,omitempty"`
	Text    string          `json:"text,omitempty"`
	Modes   []runbook.Mode  `json:"modes,omitempty"` // that were declared
}

// DeedEdit is a control that was loosened past the walk, DeedLift a brake that an undo has lifted.
const (
	DeedEdit steps.OrderKind = "edit"
	DeedLift steps.OrderKind = "lift"
)

// said reports whether it was said to the run.
func (d Deed) said() bool { return d.Deed != DeedEdit && d.Deed != DeedLift }

// word reports whether it was a word: whoever stops the walk says none, nor does the end of the day.
func (d Deed) word() bool { return d.said() && d.Deed != steps.OrderInterrupt }

// answers reports whether it was said because a question waited for it.
func (d Deed) answers() bool { return d.Deed == steps.OrderApprove || d.Deed == steps.OrderAnswer }

// deedOf finds what a record tells of people; every word to a run becomes one.
func deedOf(body any) (Deed, bool) {
	switch b := body.(type) {
	case *steps.Approved:
		return Deed{Deed: steps.OrderApprove, About: b.Step, Text: string(b.Scope)}, b.How != steps.HowAuto
	case *steps.ConfirmedBody:
		return Deed{Deed: steps.OrderAnswer, About: b.Step, Text: b.Answer, Modes: b.Modes}, b.Answered && b.By != ""
	case *steps.Drifted:
		return driftDeed(b)
	case *steps.Held:
		if b.Lifted {
			return Deed{Deed: steps.OrderRelease, About: b.Cause, Text: b.Sentence}, b.By != ""
		}
		return Deed{Deed: steps.OrderHold, About: b.Cause, Text: b.Sentence}, b.By != ""
	case *steps.ManualBody:
		return Deed{Deed: steps.OrderReading, About: b.Ask.Probe, Text: b.Value + " from " + b.Source}, true
	case *steps.OrderedBody:
		return Deed{Deed: b.Order, About: b.Step, Text: b.Reason}, b.Follows()
	case *steps.Settled:
		lifts := b.Target.Purpose == steps.PurposeUndo && b.Plan.Direction == runbook.Releasing &&
			b.Result == steps.ResultApplied
		return Deed{Deed: DeedLift, About: b.Target.Step, Text: b.Plan.Control + " to " + b.After}, lifts
	case *steps.Skipped:
		return Deed{Deed: steps.OrderSkip, About: b.Step, Text: b.Reason}, b.By != ""
	}
	return Deed{}, false
}

// driftDeed tells who loosened a control from who adopted that and who had it put back. What tightens is
// adopted without a word.
func driftDeed(b *steps.Drifted) (Deed, bool) {
	d := Deed{About: b.Control, Text: "absent"}
	if b.Found != nil {
		d.Text = *b.Found
	}
	switch b.Decision {
	case steps.DriftHolds:
		d.Deed = DeedEdit
	case steps.DriftAdopted:
		d.Deed = steps.OrderAdopt
	case steps.DriftPutBack:
		d.Deed = steps.OrderPutBack
	default:
		return d, false
	}
	return d, b.Direction == runbook.Releasing
}

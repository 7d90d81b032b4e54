package demand

import "fmt"

// admissionSentence names the predicted demand and the limit.
func (in Inputs) admissionSentence(c Check, unbounded Figure) string {
	asked := fmt.Sprintf("%s asks the origin for %s", c.State, c.Predicted.Text())
	switch {
	case !c.Affordable:
		return fmt.Sprintf("%s, over the limit of %s", asked, in.limit().shown)
	case unbounded.Value.above(in.Limit):
		return fmt.Sprintf("%s, inside the limit of %s, but only while equal refreshes stay bounded: if every read refreshes it is %s",
			asked, in.limit().shown, unbounded.Text())
	}
	return fmt.Sprintf("%s, inside the limit of %s", asked, in.limit().shown)
}

// correctness says whether every read can be answered, and how those that admission
// turns away are answered without a lie.
func (in Inputs) correctness(c Check, refill Figure, ends bool) (answerable bool, sentence string) {
	if c.Affordable {
		return true, "no read needs a stale answer or a refusal"
	}
	away := c.Predicted.term().minus(in.limit()).figure("", "", unitReads).Text()
	declared := fmt.Sprintf("%s get a copy that says how old it is and why, or a refusal", away)
	window := lasting(in.StaleWindow, "").shown
	switch {
	case in.StaleWindow.IsZero():
		return false, fmt.Sprintf("%s are refused, for stale is forbidden", away)
	case c.State.Mode == Expiry:
		return true, fmt.Sprintf("%s until a refresh has come back, within %s", declared, window)
	case !ends:
		return false, fmt.Sprintf("%s; the misses of the rest take the whole limit, so nothing is refilled before the %s of stale end", declared, window)
	case refill.Value.above(in.StaleWindow):
		return false, fmt.Sprintf("%s; refilling takes at least %s and stale ends after %s, so readers of what is missing then are refused", declared, refill.Text(), window)
	}
	spare := Figure{Value: in.StaleWindow.minus(refill.Value), Unit: unitSeconds}.Text()
	return true, fmt.Sprintf("%s; refilling takes at least %s, inside the %s of stale if the copies are at most %s old when they are lost", declared, refill.Text(), window, spare)
}

// notes are what the inputs as a whole must not leave unsaid.
func (in Inputs) notes() []string {
	var notes []string
	if steady := in.steadyMisses(); steady.Value.above(in.Limit) {
		notes = append(notes, fmt.Sprintf("the steady misses of %s are over the limit of %s already", steady.Text(),
			in.limit().shown))
	}
	if !in.Knee.above(in.Limit) {
		notes = append(notes, fmt.Sprintf("the limit of %s is not below the knee of %s: admission would let the origin collapse; set both to your own load test's",
			in.limit().shown, in.knee().shown))
	}
	if loss := in.Check(State{CellLoss, in.CellShare}); !loss.Affordable {
		notes = append(notes, loss.Admission+": one lost cell cannot be afforded, so availability depends on stale service or a warm snapshot")
	}
	return notes
}

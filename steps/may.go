package steps

import "slices"

// May lists the words that count while a question is asked, those that answer first: the approvals or
// the answer, what is done about the holds, what drops an undo that waits, hold and abort. Whoever shows
// a person what to type shows these.
func (s *State) May(asked Question) []string {
	if s.Ending != "" {
		return nil
	}
	var words []string
	for _, offer := range asked.Offers {
		words = append(words, offer.Word)
	}
	if asked.Asks != "" {
		words = append(words, "an answer")
	}
	for _, hold := range s.holds {
		words = append(words, hold.Words...)
	}
	for _, lift := range s.Lifts() {
		words = append(words, lift.Drop())
	}
	if s.hold(causePerson) == nil { // others lift themselves
		words = append(words, string(OrderHold))
	}
	return distinct(append(words, string(OrderAbort)))
}

// distinct leaves out what was there before.
func distinct(words []string) []string {
	var kept []string
	for _, word := range words {
		if !slices.Contains(kept, word) {
			kept = append(kept, word)
		}
	}
	return kept
}

// Stopped is the hold with which the process of a walk has left it, to be gone on with; nil while it is
// walked, as far as its records say.
func (s *State) Stopped() *HoldState {
	for _, hold := range s.holds {
		if hold.Cause == causeInterrupted || slices.Contains(stopsWalk, hold.Cause) {
			return hold
		}
	}
	return nil
}

// PersonsHold is the hold that a person lifts with a word, nil when there is none.
func (s *State) PersonsHold() *HoldState {
	for _, hold := range s.holds {
		if slices.Contains(hold.Words, releaseWord) {
			return hold
		}
	}
	return nil
}

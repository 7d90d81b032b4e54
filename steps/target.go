package steps

import "fmt"

// Purpose is why a flip is made.
type Purpose string

// The purposes. All but PurposeFlip, PurposeRestore and PurposeHand only ever protect.
const (
	PurposeFlip    Purpose = "flip"
	PurposeHarder  Purpose = "harder"   // the step's if_unmet
	PurposeUndo    Purpose = "undo"     // back to the value before a failed flip
	PurposeGuard   Purpose = "guard"    // the brake of a breached guard
	PurposeIdle    Purpose = "idle"     // what adds load goes to its dead man's value
	PurposeRestore Purpose = "restore"  // towards the steady value
	PurposePutBack Purpose = "put-back" // a drifted value goes back
	PurposeHand    Purpose = "hand"     // one flip by a person, outside a walk
	PurposeCall    Purpose = "call"     // no flip: stands for a step's call where its expectation is judged
)

// Target names one flip of the walk: for which step or guard, which control, and
// to what. It is comparable; two equal targets are the same flip.
type Target struct {
	Step    string  `json:"step"` // of a guard's brake: the guard's name
	Purpose Purpose `json:"purpose"`
	Control string  `json:"control"`
	To      string  `json:"to"` // raw; "" together with Delete
	Delete  bool    `json:"delete,omitempty"`
	From    string  `json:"from,omitempty"` // the number that the ladder or lift comes from, for ${from}
}

// key is what a flip is remembered by: where it comes from is only known once the
// control has been read.
func (t Target) key() Target {
	t.From = ""
	return t
}

// String names the target for people.
func (t Target) String() string {
	switch t.Purpose {
	case PurposeFlip:
		return fmt.Sprintf("%s (%s to %s)", t.Step, t.Control, t.To)
	default:
		return fmt.Sprintf("%s (%s: %s to %s)", t.Step, t.Purpose, t.Control, t.To)
	}
}

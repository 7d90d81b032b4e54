package runbook

// Kind is the type of a control's value.
type Kind string

// The kinds of controls. Durations are counted in seconds, percents run from 0 to 100.
const (
	Rate     Kind = "rate"
	Count    Kind = "count"
	Percent  Kind = "percent"
	Duration Kind = "duration"
	Switch   Kind = "switch"
	Choice   Kind = "choice"
	List     Kind = "list"
)

// Numeric reports whether values of this kind are numbers.
func (k Kind) Numeric() bool { return k == Rate || k == Count || k == Percent || k == Duration }

// Value is one value of a control, of the control's kind.
type Value struct {
	Kind      Kind
	Number    float64  // rate, count, percent (0 to 100), duration (seconds)
	Text      string   // switch ("on", "off") and choice (one of the choices)
	List      []string // list
	Unlimited bool     // stands above every number; only what a service does when a field is missing
}

// Direction tells what a change of a control does to the origin.
type Direction string

// A change either takes load off the origin or adds to it; an unknown direction
// counts as Releasing. Neither is the direction of a plan that changes nothing.
const (
	Neither    Direction = "neither"
	Protecting Direction = "protecting"
	Releasing  Direction = "releasing"
)

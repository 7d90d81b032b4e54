package demand

import "strings"

// Figure is one result with its work.
type Figure struct {
	Key     string // in JSON, with the unit
	Name    string // for people
	Formula string // in words: reads x (1 - hit ratio)
	Work    string // the same with the numbers put in
	Value   Number
	Unit    string // for people; "ratio" is shown as a percentage
}

// Text is the value with its unit.
func (f Figure) Text() string {
	switch {
	case f.Unit == unitRatio:
		return f.Value.Percent()
	case f.Unit == unitSeconds && !f.Value.IsZero() && f.Value.Cmp(Whole(1)) < 0:
		return f.Value.times(Whole(1000)).String() + " ms"
	}
	return strings.TrimSuffix(f.Value.String()+" "+f.Unit, " ")
}

// Units, for people.
const (
	unitReads       = "reads/s"
	unitMisses      = "misses/s"
	unitAttempts    = "attempts/s"
	unitRefreshes   = "refreshes/s"
	unitKnee        = "times the knee"
	unitLimit       = "times the limit"
	unitCompletions = "completions/s"
	unitSeconds     = "s"
	unitRatio       = "ratio"
)

// term is an operand or an expression: its value, its words and its numbers. An
// operand of times and over must not be a sum.
type term struct {
	value          Number
	formula, shown string
}

func (t term) join(sign string, o term, value Number) term {
	return term{value, t.formula + sign + o.formula, t.shown + sign + o.shown}
}

func (t term) plus(o term) term  { return t.join(" + ", o, t.value.plus(o.value)) }
func (t term) minus(o term) term { return t.join(" - ", o, t.value.minus(o.value)) }
func (t term) times(o term) term { return t.join(" x ", o, t.value.times(o.value)) }
func (t term) over(o term) term  { return t.join(" / ", o, t.value.over(o.value)) }

// inBrackets makes a sum an operand.
func (t term) inBrackets() term {
	return term{t.value, "(" + t.formula + ")", "(" + t.shown + ")"}
}

// rest is 1 - t.
func (t term) rest() term {
	return term{Whole(1), "1", "1"}.minus(t).inBrackets()
}

// lesser is the smaller of both.
func (t term) lesser(o term) term {
	return term{lesser(t.value, o.value), "the lesser of " + t.formula + " and " + o.formula,
		"the lesser of " + t.shown + " and " + o.shown}
}

// atMost names the bound only where it binds.
func (t term) atMost(bound term) term {
	if !t.value.above(bound.value) {
		return t
	}
	return term{bound.value, "at most " + bound.formula, bound.shown + " (" + t.shown + " would be more)"}
}

func (t term) figure(key, name, unit string) Figure {
	return Figure{Key: key, Name: name, Formula: t.formula, Work: t.shown, Value: t.value, Unit: unit}
}

// term makes a result an operand of the next one.
func (f Figure) term() term { return term{f.Value, f.Name, f.Text()} }

func rate(n Number, name, unit string) term { return term{n, name, n.Exact() + " " + unit} }
func share(n Number, name string) term      { return term{n, name, n.exactPercent()} }
func lasting(n Number, name string) term    { return term{n, name, n.exactSeconds()} }

func (in Inputs) reads() term     { return rate(in.Reads, "reads", unitReads) }
func (in Inputs) hitRatio() term  { return share(in.HitRatio, "hit ratio") }
func (in Inputs) hotShare() term  { return share(in.HotShare, "hot-key share") }
func (in Inputs) keys() term      { return rate(in.Keys, "keys", "keys") }
func (in Inputs) knee() term      { return rate(in.Knee, "knee", unitAttempts) }
func (in Inputs) limit() term     { return rate(in.Limit, "limit", unitAttempts) }
func (in Inputs) processes() term { return rate(in.Processes, "processes", "processes") }
func (in Inputs) domains() term   { return rate(in.Domains, "domains", "domains") }

package demand

import "errors"

// Inputs are what is known about a service. Shares are ratios of 0 to 1, rates are
// per second, times are seconds.
type Inputs struct {
	Reads       Number // logical reads/s, above 0
	HitRatio    Number // of all lookups, when steady
	HotShare    Number // of the reads, for the hottest key
	CellShare   Number // of the reads, for the cache cell that may be lost
	Keys        Number // in the working set
	Knee        Number // attempts/s up to which the origin's goodput grows
	Limit       Number // attempts/s that admission lets through
	Processes   Number // application processes, each with its local tier
	LocalTTL    Number // 0: there is no local tier
	Domains     Number // within which equal refreshes are coalesced; 0: they are not
	Window      Number // a domain refreshes the hot key once in this time
	MissCost    Number // time that the origin takes for one miss
	StaleWindow Number // longest age of a declared stale answer; 0: stale is forbidden
	Curve       Curve  // of the origin beyond its knee
}

// Field is one input: how it is called, what it is by default, and why.
type Field struct {
	Name    string // of the flag
	Form    string // what its text looks like
	Default string // text of the default, empty for none
	Means   string
	Source  string // of the default: case, derived, assumed or fitted

	read func(*Inputs, string) error
}

// None is the text that leaves out a mechanism.
const None = "none"

// Fields are all inputs in the order in which they are told. The defaults marked
// "case" are the case study's, "derived" ones follow from it, "assumed" ones are
// ordinary, and "fitted" ones belong to the modelled origin of the lab.
var Fields = []Field{
	{"reads", "RATE", "120000", "logical reads a second", "case",
		into(func(in *Inputs) *Number { return &in.Reads }, positive("a service that nobody reads"))},
	{"hit-ratio", "RATIO", "98.7%", "hits among all lookups when steady", "case",
		into(func(in *Inputs) *Number { return &in.HitRatio }, ParseRatio)},
	{"hot-share", "RATIO", "28%", "reads of the hottest key among all reads", "case",
		into(func(in *Inputs) *Number { return &in.HotShare }, ParseRatio)},
	{"cell-share", "RATIO", "30%", "reads whose home is the cell that may be lost; 1/24 for one of 24 equal nodes", "case",
		into(func(in *Inputs) *Number { return &in.CellShare }, ParseRatio)},
	{"keys", "COUNT", "800000", "keys of the working set", "derived",
		into(func(in *Inputs) *Number { return &in.Keys }, count("a cache that holds nothing"))},
	{"knee", "RATE", "4200", "attempts a second up to which the origin's goodput grows", "case",
		into(func(in *Inputs) *Number { return &in.Knee }, positive("an origin that completes nothing"))},
	{"limit", "RATE", "3200", "attempts a second that admission lets through", "case",
		into(func(in *Inputs) *Number { return &in.Limit }, positive("that no miss is ever answered"))},
	{"processes", "COUNT", "240", "application processes, each with its own local tier", "case",
		into(func(in *Inputs) *Number { return &in.Processes }, count("a service without processes"))},
	{"local-ttl", "DURATION", "1s", "life of an entry in the local tier; none without such a tier", "case",
		into(func(in *Inputs) *Number { return &in.LocalTTL }, orNone(seconds("no local tier")))},
	{"domains", "COUNT", "24", "domains within which equal refreshes are coalesced; none when they are not", "case",
		into(func(in *Inputs) *Number { return &in.Domains }, orNone(count("that refreshes are not coalesced")))},
	{"window", "DURATION", "1s", "time in which a domain refreshes the hot key once (its soft TTL)", "case",
		into(func(in *Inputs) *Number { return &in.Window }, seconds("that every read refreshes"))},
	{"miss-cost", "DURATION", "54ms", "time that the origin takes for one miss", "case",
		into(func(in *Inputs) *Number { return &in.MissCost }, seconds("that a miss costs nothing"))},
	{"stale-window", "DURATION", "120s", "longest age of a declared stale answer; none where stale is forbidden", "case",
		into(func(in *Inputs) *Number { return &in.StaleWindow }, orNone(seconds("that stale is forbidden")))},
	{"decline", "NUMBER", "0.5", "beyond the knee the modelled origin completes knee / (1 + decline x (load / knee - 1))",
		"fitted",
		into(func(in *Inputs) *Number { return &in.Curve.Decline }, parseDecimal)},
	{"goodput-curve", "LOAD=GOODPUT,...", "", "goodput measured beyond the knee, instead of the modelled curve", "",
		func(in *Inputs, text string) (err error) { in.Curve.Measured, err = parsePoints(text); return err }},
}

func into(place func(*Inputs) *Number, parse func(string) (Number, error)) func(*Inputs, string) error {
	return func(in *Inputs, text string) error {
		n, err := parse(text)
		*place(in) = n
		return err
	}
}

func positive(zero string) func(string) (Number, error) {
	return func(text string) (Number, error) { return parsePositive(text, zero) }
}

func count(zero string) func(string) (Number, error) {
	return func(text string) (Number, error) { return parseCount(text, zero) }
}

func seconds(zero string) func(string) (Number, error) {
	return func(text string) (Number, error) { return parsePositiveSeconds(text, zero) }
}

// orNone accepts the word none, and points to it where a 0 was meant so.
func orNone(parse func(string) (Number, error)) func(string) (Number, error) {
	return func(text string) (Number, error) {
		if text == None {
			return Number{}, nil
		}
		n, err := parse(text)
		var input *InputError
		if errors.As(err, &input) {
			input.Hint += ", or " + None + " to leave it out"
		}
		return n, err
	}
}

// Parse reads the inputs from texts by the names of Fields; what is missing has its
// default. An error is an *InputError.
func Parse(texts map[string]string) (Inputs, error) {
	var in Inputs
	for _, field := range Fields {
		text, given := texts[field.Name]
		if !given {
			text = field.Default
		}
		if text == "" && field.Default == "" {
			continue
		}
		if err := named(field.Name, field.read(&in, text)); err != nil {
			return Inputs{}, err
		}
	}
	return in, in.check()
}

// named puts the name of the field into an error.
func named(field string, err error) error {
	var input *InputError
	if errors.As(err, &input) {
		input.Field = field
	}
	return err
}

// check refuses what contradicts itself.
func (in Inputs) check() error {
	if in.Domains.above(in.Processes) {
		return named("domains", wrong("write --domains "+in.Processes.decimal(0)+" or less, or more --processes",
			"%s domains cannot be made of %s processes", in.Domains.Exact(), in.Processes.Exact()))
	}
	return named("goodput-curve", in.Curve.fits(in.Knee))
}

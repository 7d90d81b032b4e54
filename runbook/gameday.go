package runbook

import (
	"slices"
	"time"
)

// GameDayKind is the kind of a file with a game day.
const GameDayKind = "GameDay"

// GameDay is a script: what it is played on, a runbook, who does what and when, and what must come
// true. All times run from its start, which is that of the scenario.
type GameDay struct {
	File     string
	Source   []byte
	Name     string
	About    string
	Lesson   string // what the day teaches; "" where the file does not say
	Scenario string
	Past     *Past  // metrics of an incident that somebody has had; nil for those of the scenario
	Target   string // real servers in the place of a scenario, by the name that they bear; "" for none
	Seed     uint64
	Seeded   bool   // the file gives a seed; else the scenario's counts
	Runbook  string // as the file names it; NoRunbook for nobody who walks one
	Set      map[string]string
	Duration time.Duration
	Operator Operator
	Timeline []Happening
	Mistakes []Mistake
	Expect   []Expectation
	Breaks   []string // expectations that must not hold, as the runbook itself is wrong

	// Book is the runbook that is walked, or the one that the scenario names when none is.
	Book *Document
	// Terms is that runbook with the day's own figures and probes, and with a probe for each
	// of Measures: what the bounds of the day are judged by.
	Terms    *Document
	Measures []Measure
}

// Past is the metrics of an incident without a model.
type Past struct {
	Pos      Position
	Interval time.Duration
	Input    []PastSeries
	Export   []EventKey // files, in Value
}

// PastSeries is a series in the notation of promtool's tests.
type PastSeries struct {
	Pos            Position
	Series, Values string
}

// NoRunbook stands for a day on which nobody walks a runbook.
const NoRunbook = "none"

// Operator is the person of a game day.
type Operator struct {
	Reacts   time.Duration // after the start of the day: then the walk begins
	Approve  string        // auto, person or nobody
	Word     time.Duration // that a person takes for one word
	Modes    []Mode        // that are declared; nil for those of the scenario
	Mistakes []string      // that are made
}

// The ways in which questions are answered on a game day.
const (
	ApproveAuto   = "auto"   // the gates alone approve
	ApprovePerson = "person" // each word takes its time
	ApproveNobody = "nobody" // no question gets an answer
)

// Mistake is a timeline that an operator may follow beside the day's own.
type Mistake struct {
	Pos      Position
	Name     string
	About    string
	Timeline []Happening
	Breaks   []string // expectations that must not hold when it is made; nil for none
}

// Happening is one thing that happens at a time, or once after a gate has passed first.
type Happening struct {
	Pos   Position
	At    time.Duration // from the start, or from When's first pass on
	When  Gate          // nil for at a time
	Event string
	For   time.Duration // how long it lasts; how much is lost in a failover; how long a word takes

	Control *Control // of an edit
	To      *Value   // of an edit; nil takes the field away
	Order   string   // what the operator tells the run
	Step    string   // what the order is about
	Text    string   // of an order, or the reason of a takeover
	Modes   []Mode   // that are declared
	With    string   // what Redis answers
	Call    *Call    // what breaks a target, with what takes it back

	Keys []EventKey // of an event of the service, which the lab knows
}

// EventKey is one key of an event with its value as it stands in the file.
type EventKey struct {
	Pos        Position // of the value
	Key, Value string
}

// Expectation is a bound over time.
type Expectation struct {
	Pos   Position
	Name  string
	Kind  ExpectationKind
	Holds Gate
	From  time.Duration
	Until time.Duration // of always and never; 0 for the end of the day
	// Within is how long after From an eventually may take; 0 for until the end of the day.
	Within time.Duration
}

// ExpectationKind says when a gate must hold.
type ExpectationKind string

// The kinds of expectations, spelled as in the file.
const (
	ExpectAlways     ExpectationKind = "always"
	ExpectNever      ExpectationKind = "never"
	ExpectEventually ExpectationKind = "eventually"
	ExpectAt         ExpectationKind = "at"
	ExpectFinally    ExpectationKind = "finally"
)

// Measure is something beside the metrics that a bound can be on. Exactly one of Control,
// Records and Score is given.
type Measure struct {
	Name    string // of its probe in Terms
	Unit    string
	Control *Control
	Records *RecordMatch
	Score   string
}

// RecordMatch counts records of a kind whose fields have these values.
type RecordMatch struct {
	Kind   string
	Where  map[string]string // by field of the body
	Before *RecordMatch      // only those before the first that this matches
}

// DayScore is a figure of a scorecard.
type DayScore struct {
	Name, Unit, About string
	Span              bool // seconds that something lasted, and no time of the day
}

// DayScores are the figures of a scorecard with their units: bounds may be on each. Times
// run from the start of the day, and are unknown until they have come.
var DayScores = []DayScore{
	{"declared", "s", "when the modes were declared", false},
	{"protected", "s", "when the last protecting stage was done", false},
	{"recovered", "s", "when the exit had held for its intervals", false},
	{"closed", "s", "when the run was closed", false},
	{"worst-demand", "attempts/s", "the most that the origin was asked for in a second, once protected; without a walk, once one would have begun", false},
	{"worst-queue", "s", "how old the oldest read in the origin's queue was at worst, once protected; without a walk, once one would have begun", true},
	{"waited", "s", "the waiting of all reads added up, which may be more than the day has, once protected; without a walk, once one would have begun", true},
	{"stale-reads", "reads", "that were served a declared stale copy", false},
	{"lost-reads", "reads", "that were refused or failed", false},
	{"holds", "holds", "that were put on", false},
	{"held", "s", "while a hold was on and no question was open: with one open the time counts as that of persons", true},
	{"persons", "s", "while a question waited for its answer", true},
	{"words", "words", "that the operator gave", false},
	{"left", "controls", "that the run has flipped and that are not steady", false},
}

// GameDayNames says what a game day's names mean outside of its file.
type GameDayNames struct {
	// Scenario finds a scenario: its runbook, and the modes that it is in.
	Scenario func(name string) (book string, modes []Mode, err error)
	// Runbook finds a runbook with its parameters.
	Runbook func(name string, set map[string]string) (*Document, error)
	// Fault checks an event of the modelled service. Nothing is wrong with one that gives no problems.
	Fault func(h *Happening) []Problem
	// Faults are the words for those events.
	Faults []string
	// Past reads the metrics of a past incident.
	Past func(p *Past) []Problem
	// Records are the kinds of records with the fields of their bodies.
	Records map[string][]string
}

// reactsAfter is how long after the start of a day its operator begins, unless told
// otherwise; wordTakes is how long a word takes.
const (
	reactsAfter = 30 * time.Second
	wordTakes   = 8 * time.Second
)

// ParseGameDay reads a game day. Either it or the problems are nil.
func ParseGameDay(file string, source []byte, names GameDayNames) (*GameDay, Problems) {
	d := newDecoder(file, source)
	var day *GameDay
	text, wrong := cleanSource(source)
	if wrong != nil {
		d.fail(wrong.pos, wrong.hint, "%s", wrong.message)
	} else if root := d.parseTree(text); root != nil && d.header(root, GameDayKind) {
		r := &dayReader{decoder: d, names: names, day: &GameDay{File: file, Source: slices.Clone(source)}}
		r.read(root)
		day = r.day
	}
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return day, nil
}

// dayReader reads one game day.
type dayReader struct {
	*decoder
	names GameDayNames
	day   *GameDay
	modes []Mode // of the scenario
}

// read reads the whole file, names before their uses.
func (r *dayReader) read(root *node) {
	day := r.day
	f, _ := r.fields(root, "gameday", "the game day")
	f.need("apiVersion", "write apiVersion: "+apiVersion)
	f.need("kind", "write kind: "+GameDayKind)
	day.Name, day.About = f.slug("name"), f.prose("about")
	f.need("about", "say in one sentence what is practised")
	day.Lesson = f.prose("lesson")
	f.need("duration", "write duration: 12m, say")
	day.Duration = f.duration("duration", 0)
	if n := f.get("seed"); n != nil {
		day.Seed, day.Seeded = r.seed(n), true
	}
	if !r.cast(f) {
		return
	}
	r.terms(f)
	r.readOperator(f.get("operator"))
	day.Timeline = r.timeline(f.get("timeline"), "timeline")
	r.readMistakes(f.get("mistakes"))
	r.checkMistakes(f.get("operator"))
	r.readExpect(f.need("expect", "say what must come true"))
	day.Breaks = r.texts(f.get("breaks"), "breaks")
	r.checkBreaks(f)
	day.Terms.Probes = slices.Concat(day.Terms.Probes, r.measured())
}

func (r *dayReader) seed(n *node) uint64 {
	v, ok := r.number(n, "seed")
	if ok && v != float64(uint64(v)) {
		r.fail(n.pos, "write a whole number", "seed cannot be %s", decimal(v))
	}
	return uint64(v)
}

// cast finds what the day is played on, and the runbook. Without them nothing else can be read.
func (r *dayReader) cast(f fields) bool {
	day := r.day
	day.Set = r.settings(f.get("set"))
	switch r.ground(f) {
	case "past":
		day.Past = r.past(f.get("past"))
		return r.ownCast(f)
	case "target":
		day.Target = r.target(f)
		return r.ownCast(f)
	}
	n := f.need("scenario", "name a bundled scenario, or a file")
	name, ok := r.raw(n, "scenario")
	if !ok {
		return false
	}
	day.Scenario = name
	book, modes, err := r.names.Scenario(name)
	if err != nil {
		r.fail(n.pos, "", "scenario: %s", printable(err.Error()))
		return false
	}
	r.modes, day.Runbook = modes, book
	if given, ok := r.raw(f.get("runbook"), "runbook"); ok {
		day.Runbook, n = given, f.get("runbook")
		if given != NoRunbook {
			book = given
		}
	}
	if day.Book, err = r.names.Runbook(book, day.Set); err != nil {
		r.fail(n.pos, "", "runbook: %s", printable(err.Error()))
		return false
	}
	return true
}

// ground is the key that says what the day is played on, a scenario where none does.
func (r *dayReader) ground(f fields) string {
	ground := ""
	for _, key := range []string{"scenario", "past", "target"} {
		switch {
		case !f.has(key):
		case ground == "":
			ground = key
		default:
			r.fail(f.get(key).pos, "leave one of them out", "the game day has a %s and a %s", ground, key)
		}
	}
	return ground
}

// target reads which real servers the day is played on. They have no seed.
func (r *dayReader) target(f fields) string {
	t, ok := r.fields(f.get("target"), "target", "the target")
	if !ok {
		return ""
	}
	if f.has("seed") {
		r.fail(f.get("seed").pos, "leave it out", "the game day has a target, which knows no seed")
	}
	return t.slug("name")
}

// ownCast finds the runbook of a day without a scenario, which could name one.
func (r *dayReader) ownCast(f fields) bool {
	n := f.need("runbook", "name the runbook that is walked")
	name, ok := r.raw(n, "runbook")
	if !ok {
		return false
	}
	r.day.Runbook = name
	var err error
	if r.day.Book, err = r.names.Runbook(name, r.day.Set); err != nil {
		r.fail(n.pos, "", "runbook: %s", printable(err.Error()))
		return false
	}
	return true
}

func (r *dayReader) past(n *node) *Past {
	f, ok := r.fields(n, "past", "the past")
	if !ok {
		return nil
	}
	p := &Past{Pos: n.pos, Interval: f.duration("interval", time.Second)}
	for _, item := range r.list(f.get("input"), "input") {
		if s, ok := r.fields(item, "input", "the series"); ok {
			series, _ := r.raw(s.need("series", "write series: 'NAME{LABEL=\"VALUE\"}'"), "series")
			values, _ := r.raw(s.need("values", "write values: '0+10x60'"), "values")
			p.Input = append(p.Input, PastSeries{Pos: item.pos, Series: series, Values: values})
		}
	}
	for _, item := range r.list(f.get("export"), "export") {
		if file, ok := r.raw(item, "export"); ok {
			p.Export = append(p.Export, EventKey{Pos: item.pos, Key: "export", Value: file})
		}
	}
	if len(p.Input)+len(p.Export) == 0 {
		r.fail(n.pos, "add input or export", "the past holds no series")
	}
	r.problems = append(r.problems, r.names.Past(p)...)
	return p
}

func (r *dayReader) settings(n *node) map[string]string {
	set := map[string]string{}
	for _, e := range r.named(n, "set") {
		if text, ok := r.raw(e.value, printable(e.key)); ok {
			set[e.key] = text
		}
	}
	return set
}

// terms takes the names of the runbook, and adds the day's own.
func (r *dayReader) terms(f fields) {
	book := r.day.Book
	r.book = book.File
	for i := range book.Figures {
		r.figures[book.Figures[i].Name] = &book.Figures[i]
	}
	for i := range book.Parameters {
		r.parameters[book.Parameters[i].Name] = &book.Parameters[i]
	}
	for i := range book.Controls {
		r.controls[book.Controls[i].Name] = &book.Controls[i]
	}
	r.readFigures(f.get("figures"))
	r.readProbes(f.get("probes"))
	for i := range book.Probes {
		p := &book.Probes[i]
		if _, own := r.probes[p.Name]; !own {
			r.probes[p.Name] = p
		}
	}
	terms := *book
	terms.Figures = replaced(book.Figures, r.doc.Figures, func(f Figure) string { return f.Name })
	terms.Probes = replaced(book.Probes, r.doc.Probes, func(p Probe) string { return p.Name })
	r.day.Terms = &terms
}

func (r *dayReader) readOperator(n *node) {
	o := Operator{Reacts: reactsAfter, Approve: ApproveAuto, Word: wordTakes, Modes: r.modes}
	if n != nil {
		f, _ := r.fields(n, "operator", "the operator")
		o.Reacts = f.duration("reacts", reactsAfter)
		o.Approve = f.word("approve", ApproveAuto, ApproveAuto, ApprovePerson, ApproveNobody)
		o.Word = f.duration("word", wordTakes)
		if modes := f.get("modes"); modes != nil {
			o.Modes = r.modeList(modes)
		}
		o.Mistakes = r.texts(f.get("mistakes"), "mistakes")
	}
	r.day.Operator = o
}

func (r *dayReader) modeList(n *node) []Mode {
	var list []Mode
	allowed := make([]string, len(Modes))
	for i, mode := range Modes {
		allowed[i] = string(mode)
	}
	for _, item := range r.list(n, "modes") {
		if text, ok := r.raw(item, "a mode"); ok {
			list = append(list, Mode(r.oneOf(item, "a mode", text, "", allowed)))
		}
	}
	return list
}

func (r *dayReader) readMistakes(n *node) {
	for _, e := range r.named(n, "mistakes") {
		r.checkName(e.pos, "a mistake", e.key)
		f, ok := r.fields(e.value, "mistake", "mistake "+printable(e.key))
		if !ok {
			continue
		}
		f.need("about", "say what the operator does and thinks")
		r.day.Mistakes = append(r.day.Mistakes, Mistake{Pos: e.pos, Name: e.key, About: f.prose("about"),
			Timeline: r.timeline(f.need("timeline", "write what the operator does"), "timeline"),
			Breaks:   r.texts(f.get("breaks"), "breaks")})
	}
}

// checkMistakes requires that the mistakes of the operator are described.
func (r *dayReader) checkMistakes(operator *node) {
	var known []string
	for _, m := range r.day.Mistakes {
		known = append(known, m.Name)
	}
	for _, name := range r.day.Operator.Mistakes {
		if !slices.Contains(known, name) {
			hint := suggest(name, known, "describe it under mistakes")
			r.fail(operator.find("mistakes").pos, hint, "there is no mistake %s", quote(name))
		}
	}
}

// checkBreaks requires that what the runbook or a mistake breaks is expected.
func (r *dayReader) checkBreaks(f fields) {
	r.checkExpected(r.day.Breaks, f.get("breaks"))
	for _, m := range r.day.Mistakes {
		r.checkExpected(m.Breaks, f.get("mistakes").find(m.Name).find("breaks"))
	}
}

func (r *dayReader) checkExpected(names []string, n *node) {
	var known []string
	for _, e := range r.day.Expect {
		known = append(known, e.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			r.fail(n.pos, suggest(name, known, "name an expectation"), "nothing is expected under the name %s", quote(name))
		}
	}
}

// Mistake finds a mistake by its name, or nil.
func (g *GameDay) Mistake(name string) *Mistake {
	for i := range g.Mistakes {
		if g.Mistakes[i].Name == name {
			return &g.Mistakes[i]
		}
	}
	return nil
}

// measured gives a probe for each measure.
func (r *dayReader) measured() []Probe {
	var list []Probe
	for _, m := range r.day.Measures {
		list = append(list, Probe{Name: m.Name, Unit: m.Unit})
	}
	return list
}

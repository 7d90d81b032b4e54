package lab

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// Service is the name under which the catalog's controls stand in Redis.
const Service = "catalog"

// Depths of prewarming, in the order of the choices of prewarm.bucket.
var depths = []string{"none", "top-1", "top-10", "top-100", "working-set"}

// formatChoices are what a process does with a value whose format it cannot read.
var formatChoices = []string{"drop", "isolate"}

// readableChoices are the formats that a process reads.
var readableChoices = []string{"one", "both"}

// depthOf is how deep a bucket goes; none for a name that is not one.
func depthOf(bucket string) int { return max(0, slices.Index(depths, bucket)) }

// orders are the values that the service obeys. Where processes learn of a flip
// at different times, they are the mean over the processes.
type orders struct {
	admission float64 // attempts/s
	unlimited float64 // share of the processes that know no admission limit
	bypass    float64 // share of the processes that go to the origin on a cache error
	retries   float64 // retries per read, 0 to 1
	hint      float64 // seconds after which refused clients are told to come back
	spread    float64 // part of the hint by which it differs
	stale     float64 // seconds
	perCell   float64 // leaders
	perRegion float64 // leaders
	followers float64 // seconds
	perLeader float64 // followers of one leader
	boundless float64 // share of the processes that know no bound of followers
	local     float64 // seconds
	negative  float64 // seconds
	jobs      float64 // share of the background jobs that run
	bulk      float64 // share of the processes that let a bulk invalidation through
	prewarm   float64 // attempts/s
	depth     int     // index in depths
	routed    [cellCount]float64
	region    float64 // share of the reads that the region takes
	launch    float64 // share of the hottest key's reads that may look up
	kept      float64 // seconds for which last-good copies are kept
	inside    float64 // share of the processes that keep them in the cell
	gutter    float64 // share of the processes that look for a dead cell's keys there
	survive   float64 // and in the cells that are left
	gutterTTL float64 // seconds
	copies    float64 // nodes that hold the hottest key
	splits    float64 // shadows that stand for it
	byKey     float64 // share of the processes that coalesce by the key alone
	early     float64 // last part of a value's life in which a read refreshes it
	jitter    float64 // part by which lives differ
	isolate   float64 // share of the processes that keep values they cannot read

	readable float64 // share of the processes that read the new format, too
	shadow   float64 // share of the reads that are looked up in a replacement, too
	compare  float64 // share of the reads whose value there is compared
	exposure float64 // share of the reads that the replacement answers
	drain    float64 // part of the old cell that may be emptied
	cutOver  float64 // share of the processes that let the pipeline take the old cell away
	snapshot float64 // share of those that keep its last-good copies
}

// absent is what the service does for a control that is not set.
func absent(p *params) map[string]string {
	values := map[string]string{
		"origin.admission":     controls.Unlimited,
		"origin.bypass":        controls.On,
		"retries.budget":       "10",
		"retries.hint":         "0",
		"retries.jitter":       "50",
		"stale.product-detail": controls.FormatNumber(p.SteadyStale.Seconds()),
		"leaders.cell":         "400",
		"leaders.region":       "1600",
		"followers.deadline":   "0.8",
		"followers.max":        controls.Unlimited,
		"local.ttl":            "0",
		"negative.ttl":         "0",
		"jobs.background":      controls.On,
		"invalidations.bulk":   controls.On,
		"prewarm.rate":         "0",
		"prewarm.bucket":       "none",
		"routing.region":       "100",
		"launch.admit":         "100",
		"stale.kept":           controls.FormatNumber(p.CopiesKept.Seconds()),
		"stale.place":          copyPlaces[0],
		"cells.failover":       failovers[0],
		"gutter.ttl":           "30",
		"hotkey.copies":        "1",
		"hotkey.splits":        "1",
		"coalescing.identity":  identities[0],
		"refresh.early":        controls.FormatNumber(100 * p.EarlyRefresh),
		"refresh.jitter":       controls.FormatNumber(100 * p.Jitter),
		"format.unknown":       formatChoices[0],
		"format.readable":      readableChoices[0],
		"migration.shadow":     "0",
		"migration.compare":    "0",
		"migration.exposure":   "0",
		"migration.drain":      "0",
		"migration.cutover":    controls.On,
		"migration.snapshot":   controls.On,
	}
	for _, c := range p.Cells {
		values["routing."+c.Name] = "100"
	}
	return values
}

// protecting is what a process starts with while it has never reached Redis.
func protecting(p *params) map[string]string {
	values := absent(p)
	values["origin.admission"] = "3200"
	values["origin.bypass"] = controls.Off
	values["retries.budget"] = "0"
	return values
}

// mortals are the controls whose values end when a run stops renewing them.
var mortals = [...]string{"prewarm.rate", "prewarm.bucket", "migration.shadow"}

// deadMan is what the service falls back to then: what it does when they are not set.
func deadMan() map[string]string {
	values := map[string]string{}
	for _, control := range mortals {
		values[control] = absent(&catalog)[control]
	}
	return values
}

// source says what the service is to obey now.
type source func() heard

// heard is what a process hears from Redis.
type heard struct {
	orders  orders
	version int64
}

// sheet is the controls of the service by name; a controls.Reader is one.
type sheet interface {
	Number(control string) (float64, bool)
	Switch(control string) (bool, bool)
	Choice(control string, choices ...string) (string, bool)
	Version() int64
}

// from reads a sheet anew each time.
func from(s sheet) source { return func() heard { return hear(s) } }

// as reads a sheet now, and never again.
func as(s sheet) source {
	now := hear(s)
	return func() heard { return now }
}

func hear(s sheet) heard { return heard{read(s), s.Version()} }

// untouched is the source of a service whose controls were never set.
func untouched(p *params) source { return as(defaults(absent(p))) }

// mortal reports whether something is ordered that ends by itself when a run stops
// renewing it (see deadMan).
func (h heard) mortal() bool {
	return h.orders.prewarm > 0 || h.orders.depth > 0 || h.orders.shadow > 0
}

// withDefaults is the sheet of a service on which some controls are set.
func withDefaults(p *params, set map[string]string) sheet {
	values := absent(p)
	maps.Copy(values, set)
	return defaults(values)
}

// read takes the orders of this moment from a sheet.
func read(from sheet) orders {
	s := entries{from}
	o := s.amounts()
	if math.IsInf(o.admission, 1) {
		o.admission, o.unlimited = 0, 1
	}
	if math.IsInf(o.perLeader, 1) {
		o.perLeader, o.boundless = 0, 1
	}
	bucket, _ := s.Choice("prewarm.bucket", depths...)
	o.depth = depthOf(bucket)
	o.isolate = s.chosen("format.unknown", formatChoices, 1)
	o.readable = s.chosen("format.readable", readableChoices, 1)
	o.inside = s.chosen("stale.place", copyPlaces, 1)
	o.gutter = s.chosen("cells.failover", failovers, 1)
	o.survive = s.chosen("cells.failover", failovers, 2)
	o.byKey = s.chosen("coalescing.identity", identities, 1)
	for i := range o.routed {
		o.routed[i] = s.percent(routing[i])
	}
	return o
}

// entries reads a sheet as numbers that can be mixed: a switch and a choice are the share of the processes that obey
// them.
type entries struct{ sheet }

func (s entries) number(control string) float64 {
	n, _ := s.Number(control)
	return n
}

func (s entries) percent(control string) float64 { return min(1, s.number(control)/100) }

func (s entries) share(control string) float64 {
	if on, _ := s.Switch(control); on {
		return 1
	}
	return 0
}

// chosen is 1 when a control has one of its choices, else 0.
func (s entries) chosen(control string, choices []string, nth int) float64 {
	if now, _ := s.Choice(control, choices...); now == choices[nth] {
		return 1
	}
	return 0
}

// amounts are the orders that are numbers, percents and switches.
func (s entries) amounts() orders {
	return orders{
		admission: s.number("origin.admission"),
		bypass:    s.share("origin.bypass"),
		retries:   s.number("retries.budget") / 100,
		hint:      s.number("retries.hint"),
		spread:    min(1, s.number("retries.jitter")/100),
		stale:     s.number("stale.product-detail"),
		perCell:   s.number("leaders.cell"),
		perRegion: s.number("leaders.region"),
		followers: s.number("followers.deadline"),
		perLeader: s.number("followers.max"),
		local:     s.number("local.ttl"),
		negative:  s.number("negative.ttl"),
		jobs:      s.share("jobs.background"),
		bulk:      s.share("invalidations.bulk"),
		prewarm:   s.number("prewarm.rate"),
		region:    s.percent("routing.region"),
		launch:    s.percent("launch.admit"),
		copies:    s.number("hotkey.copies"),
		kept:      s.number("stale.kept"),
		gutterTTL: s.number("gutter.ttl"),
		splits:    s.number("hotkey.splits"),
		early:     s.percent("refresh.early"),
		jitter:    s.percent("refresh.jitter"),
		shadow:    s.percent("migration.shadow"),
		compare:   s.percent("migration.compare"),
		exposure:  s.percent("migration.exposure"),
		drain:     s.percent("migration.drain"),
		cutOver:   s.share("migration.cutover"),
		snapshot:  s.share("migration.snapshot"),
	}
}

var routing = func() (names [cellCount]string) {
	for i, c := range catalog.Cells {
		names[i] = "routing." + c.Name
	}
	return names
}()

// mix is the weighted mean of what the processes obey. A limit is shared out
// among the processes, so a mean of limits is the sum of their parts; prewarm
// goes only as deep as every process knows.
func (o *orders) mix(other *orders, weight float64) {
	o.admission += weight * other.admission
	o.unlimited += weight * other.unlimited
	o.bypass += weight * other.bypass
	o.retries += weight * other.retries
	o.hint += weight * other.hint
	o.spread += weight * other.spread
	o.stale += weight * other.stale
	o.perCell += weight * other.perCell
	o.perRegion += weight * other.perRegion
	o.followers += weight * other.followers
	o.perLeader += weight * other.perLeader
	o.boundless += weight * other.boundless
	o.local += weight * other.local
	o.negative += weight * other.negative
	o.jobs += weight * other.jobs
	o.bulk += weight * other.bulk
	o.prewarm += weight * other.prewarm
	o.region += weight * other.region
	o.launch += weight * other.launch
	o.kept += weight * other.kept
	o.inside += weight * other.inside
	o.gutter += weight * other.gutter
	o.survive += weight * other.survive
	o.gutterTTL += weight * other.gutterTTL
	o.copies += weight * other.copies
	o.splits += weight * other.splits
	o.byKey += weight * other.byKey
	o.isolate += weight * other.isolate
	o.early += weight * other.early
	o.jitter += weight * other.jitter
	o.readable += weight * other.readable
	o.shadow += weight * other.shadow
	o.compare += weight * other.compare
	o.exposure += weight * other.exposure
	o.drain += weight * other.drain
	o.cutOver += weight * other.cutOver
	o.snapshot += weight * other.snapshot
	o.depth = min(o.depth, other.depth)
	for i := range o.routed {
		o.routed[i] += weight * other.routed[i]
	}
}

// fleet is the processes and how each learns of a flip a little later.
type fleet struct {
	delays  []int // ticks, by process
	history []heard
	at      int       // index of the newest in history
	shares  []float64 // by delay in ticks
	quiet   int       // ticks since the last change
	obeyed  orders
	unset   heard  // what is obeyed while nobody has set a control
	joined  func() // told when processes were added
}

func newFleet(p *params, random dice) *fleet {
	slowest := ticks(p.ObeyAtMost)
	f := &fleet{history: make([]heard, slowest+1), shares: make([]float64, slowest+1), unset: untouched(p)()}
	for range p.Processes {
		f.join(p, random)
	}
	return f
}

// join adds a process.
func (f *fleet) join(p *params, random dice) {
	best := ticks(p.ObeyAtBest)
	f.delays = append(f.delays, best+random.upTo(ticks(p.ObeyAtMost)-best+1))
	clear(f.shares)
	for _, d := range f.delays {
		f.shares[d]++
	}
	for d := range f.shares {
		f.shares[d] /= float64(len(f.delays))
	}
}

// start makes every process obey these orders.
func (f *fleet) start(s source) {
	now := s()
	for i := range f.history {
		f.history[i] = now
	}
	f.quiet, f.obeyed = len(f.history), now.orders
}

// hear takes the orders of this tick and works out what the fleet obeys.
func (f *fleet) hear(s source) *orders {
	now := s()
	f.quiet++
	if now != f.history[f.at] {
		f.quiet = 0
	}
	f.at = (f.at + 1) % len(f.history)
	f.history[f.at] = now
	if f.quiet > len(f.history) {
		return &f.obeyed
	}
	f.obeyed = orders{depth: len(depths)}
	for delay, share := range f.shares {
		if share > 0 {
			f.obeyed.mix(&f.past(delay).orders, share)
		}
	}
	return &f.obeyed
}

func (f *fleet) past(delay int) *heard {
	return &f.history[(f.at-delay+len(f.history))%len(f.history)]
}

// version is the version that a process obeys.
func (f *fleet) version(process int) int64 { return f.past(f.delays[process]).version }

// untouched reports whether no control was ever set.
func (f *fleet) untouched() bool {
	return f.history[f.at] == f.unset
}

// untouchedSource is the source of a service that nobody has touched.
func (f *fleet) untouchedSource() source { return func() heard { return f.unset } }

// grow adds so many processes.
func (f *fleet) grow(n int, p *params, random dice) {
	for range n {
		f.join(p, random)
	}
	if f.joined != nil {
		f.joined()
	}
}

// defaults is the sheet of a service whose controls were never set.
type defaults map[string]string

func (d defaults) Number(control string) (float64, bool) {
	if d[control] == controls.Unlimited {
		return math.Inf(1), true
	}
	n, err := controls.ParseNumber(d[control])
	return n, err == nil
}

func (d defaults) Switch(control string) (bool, bool) {
	on, err := controls.ParseSwitch(d[control])
	return on, err == nil
}

func (d defaults) Choice(control string, choices ...string) (string, bool) {
	name, err := controls.ParseChoice(d[control], choices)
	return name, err == nil
}

func (defaults) Version() int64 { return 0 }

// staleWindow is the age in whole seconds up to which a copy may be served.
func (o *orders) staleWindow() int { return int(o.stale) }

func (o *orders) followerTicks() int { return inTicks(o.followers) }

// inTicks is so many seconds in ticks, rounded up.
func inTicks(seconds float64) int {
	return int(math.Ceil(seconds * float64(time.Second) / float64(tickLength)))
}

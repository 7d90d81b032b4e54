package lab

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// params are all the numbers of the model. The logic holds none of its own.
// Each field says where its number comes from: "case" is the published case
// study, "derived" follows from it by arithmetic, "assumed" is an ordinary value
// that nothing depends on finely, and "fitted" was chosen so that the run as a
// whole looks like the case.
type params struct {
	ReadsPerSecond int     `unit:"reads/s" source:"case" note:"arrive on a fixed schedule that does not wait for completions"`
	LaunchShare    float64 `unit:"ratio" source:"case" note:"reads of the launch key, at which the rows below are given"`
	IdleShare      float64 `unit:"ratio" source:"assumed" note:"reads of the same key before the launch"`
	TopTenShare    float64 `unit:"ratio" source:"derived" note:"reads of the keys ranked 2 to 10; with the next row and the launch key the case's 51 % for the top 100"`
	TopHundred     float64 `unit:"ratio" source:"derived" note:"reads of the keys ranked 11 to 100"`
	TailExponent   float64 `unit:"exponent" source:"fitted" note:"Zipf exponent inside the tail; the top tenth of the tail's keys gets 70 % of its reads; sets how long the collapse lasts left alone"`

	Cells       [cellCount]cellParams `source:"case" note:"their shares of the reads; the case gives cell-c's 30 %, the others are assumed"`
	Keys        int                   `unit:"keys" source:"derived" note:"240,000 keys at 30 % of the reads; each cell holds its share"`
	ValueSize   int                   `unit:"bytes" source:"assumed" note:"a cached product detail with its overhead"`
	CellSpare   float64               `unit:"ratio" source:"assumed" note:"memory limit of a cell over its full working set"`
	DenialSize  int                   `unit:"bytes" source:"assumed" note:"a cached answer that there is no such key"`
	GutterNodes int                   `unit:"nodes" source:"assumed" note:"of the gutter, each with the memory of a cell's node"`
	Nodes       int                   `unit:"nodes" source:"assumed" note:"of each cell; 24 in all"`
	NodeSpeed   int                   `unit:"lookups/s" source:"assumed" note:"lookups at which the CPU of a node is full; more are not answered"`
	RingPoints  int                   `unit:"points" source:"assumed" note:"of every node on the ring that places keys"`
	Copies      int                   `unit:"nodes" source:"assumed" note:"nodes that hold a copy of each of the hundred hottest keys, one in every cell"`

	ShadowMissed float64 `unit:"ratio" source:"assumed" note:"of the invalidations of a split key's shadows, those that do not arrive; there is one for each shadow"`

	PromoteAt         int           `unit:"reads/s" source:"assumed" note:"of one key, from which it is promoted to the processes' local tier; it is demoted below half of it"`
	DemoteAfter       int           `unit:"windows" source:"assumed" note:"of one second, in a row"`
	LocalKeys         int           `unit:"keys" source:"assumed" note:"that a process holds at most; the hottest stay"`
	InvalidationDelay time.Duration `source:"assumed" note:"until an invalidation has reached every process"`

	Processes  int           `unit:"processes" source:"case" note:"application processes"`
	PerDomain  int           `unit:"processes" source:"derived" note:"processes that share one coalescing domain; 24 domains"`
	ObeyAtBest time.Duration `source:"assumed" note:"the quickest process obeys a flip this long after it"`
	ObeyAtMost time.Duration `source:"assumed" note:"and the slowest this long"`

	SoftTTL      time.Duration `source:"fitted" note:"life of a value; gives the case's 1,560 misses/s when steady"`
	Jitter       float64       `unit:"ratio" source:"case" note:"each life is this much shorter or longer at most"`
	EarlyRefresh float64       `unit:"ratio" source:"case" note:"last part of the life in which a read starts a refresh"`
	SteadyStale  time.Duration `source:"assumed" note:"age up to which last-good copies are served while nobody asks for more"`
	ApprovedAge  time.Duration `source:"case" note:"declared stale beyond this age violates the contract of the class"`
	CopiesKept   time.Duration `source:"assumed" note:"last-good copies are kept this long, whatever may be served"`
	SnapshotLag  time.Duration `source:"fitted" note:"age of the last-good copies of a cell at the moment it is lost; more than the steady stale window"`

	Knee           int           `unit:"attempts/s" source:"case" note:"goodput grows with the load up to here"`
	Decline        float64       `unit:"ratio" source:"fitted" note:"beyond it goodput is knee / (1 + decline x (load / knee - 1)): half at three times the knee"`
	LoadMemory     time.Duration `source:"fitted" note:"time constant of the load in the line above: connections and locks outlive their cause"`
	Reserved       []reserved    `unit:"attempts/s" source:"assumed" note:"reserved partitions, each offered exactly its reserve; with the class's limit of 3,200 they stay below the knee"`
	ReservedSpare  float64       `unit:"ratio" source:"assumed" note:"workers of a reserved partition over what its reserve needs"`
	Service        time.Duration `source:"derived" note:"a product detail at the origin; the case's 54 ms at the 99th percentile, to one tick"`
	LaunchService  time.Duration `source:"fitted" note:"the launch page at the origin, which joins everything; longer than followers wait"`
	QueueBound     int           `unit:"attempts" source:"fitted" note:"waiting and served attempts of the class; beyond it the origin refuses at the door"`
	ReadTimeout    time.Duration `source:"assumed" note:"a read that went to the origin itself gives up"`
	RefreshTimeout time.Duration `source:"assumed" note:"a refresh leader gives up"`
	OriginTimeout  time.Duration `source:"assumed" note:"the origin drops work that nobody waits for any more"`
	CancelShare    float64       `unit:"ratio" source:"fitted" note:"attempts given up whose cancellation reaches the origin at once; the rest is worked off late"`
	LateShare      float64       `unit:"ratio" source:"fitted" note:"of the lost goodput, what is spent on late completions"`

	RetryDelay    time.Duration `source:"assumed" note:"wait before a failed read tries again"`
	Tries         int           `unit:"tries" source:"assumed" note:"of one read, as far as the retry budget goes"`
	HintAtMost    time.Duration `source:"assumed" note:"a hint when to come back is never longer"`
	HintIgnored   float64       `unit:"ratio" source:"assumed" note:"of the refused clients, those that come back after RetryDelay whatever they are told"`
	Background    int           `unit:"attempts/s" source:"assumed" note:"background jobs' work at the origin"`
	PrewarmYields time.Duration `source:"assumed" note:"prewarm pauses while an attempt waits longer"`
	Invalidations int           `unit:"keys/s" source:"assumed" note:"single invalidations by edits"`
	ClientsAdded  int           `unit:"processes" source:"assumed" note:"operators who see no recovery start this many more, again and again"`
	ClientsEvery  time.Duration `source:"assumed" note:"after this long with a slow origin and no control set, and each time again"`
	ClientsAtMost int           `unit:"processes" source:"assumed" note:"the fleet can grow to this"`
	Restarted     int           `unit:"processes" source:"assumed" note:"once it has, they restart this many at a time, as often"`
	StartupFills  int           `unit:"attempts" source:"assumed" note:"a new process fills its own tables from the origin"`
	StartupSpread time.Duration `source:"assumed" note:"over this time"`
	SlowOrigin    time.Duration `source:"assumed" note:"queue age that operators call slow"`
}

type cellParams struct {
	Name    string
	Percent int
}

type reserved struct {
	Partition string
	Rate      int
}

// catalog is the service of the case study.
var catalog = params{
	ReadsPerSecond: 120_000,
	LaunchShare:    0.28,
	IdleShare:      0.01,
	TopTenShare:    0.12,
	TopHundred:     0.11,
	TailExponent:   0.846,

	Cells:       [cellCount]cellParams{{"cell-a", 25}, {"cell-b", 25}, {"cell-c", 30}, {"cell-d", 20}},
	Keys:        800_000,
	ValueSize:   4096,
	CellSpare:   1.6,
	DenialSize:  128,
	GutterNodes: 2,
	Nodes:       6,
	NodeSpeed:   20_000,
	RingPoints:  100,
	Copies:      4,

	ShadowMissed: 0.02,

	PromoteAt:         100,
	DemoteAfter:       3,
	LocalKeys:         1000,
	InvalidationDelay: 200 * time.Millisecond,

	Processes:  240,
	PerDomain:  10,
	ObeyAtBest: 100 * time.Millisecond,
	ObeyAtMost: time.Second,

	SoftTTL:      608 * time.Second,
	Jitter:       0.15,
	EarlyRefresh: 0.2,
	SteadyStale:  10 * time.Second,
	ApprovedAge:  120 * time.Second,
	CopiesKept:   300 * time.Second,
	SnapshotLag:  12 * time.Second,

	Knee:           4200,
	Decline:        0.5,
	LoadMemory:     time.Second,
	Reserved:       []reserved{{"checkout", 500}, {"authorization", 200}, {"recall", 100}},
	ReservedSpare:  1.25,
	Service:        50 * time.Millisecond,
	LaunchService:  1200 * time.Millisecond,
	QueueBound:     4200,
	ReadTimeout:    time.Second,
	RefreshTimeout: 2 * time.Second,
	OriginTimeout:  3 * time.Second,
	CancelShare:    0.5,
	LateShare:      0.3,

	RetryDelay:    500 * time.Millisecond,
	Tries:         3,
	HintAtMost:    10 * time.Second,
	HintIgnored:   0.1,
	Background:    240,
	PrewarmYields: 100 * time.Millisecond,
	Invalidations: 20,
	ClientsAdded:  24,
	ClientsEvery:  time.Minute,
	ClientsAtMost: 336,
	Restarted:     48,
	StartupFills:  100,
	StartupSpread: 5 * time.Second,
	SlowOrigin:    time.Second,
}

// Parameter is one number of the model, for people.
type Parameter struct {
	Name, Value, Source, Note string
}

// Parameters lists every number of the model with where it comes from.
func Parameters() []Parameter {
	v := reflect.ValueOf(catalog)
	list := make([]Parameter, 0, v.NumField())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		value := strings.Trim(fmt.Sprint(v.Field(i).Interface()), "[]")
		if unit := f.Tag.Get("unit"); unit != "" {
			value += " " + unit
		}
		list = append(list, Parameter{f.Name, value, f.Tag.Get("source"), f.Tag.Get("note")})
	}
	return list
}

// String is "cell-c 30 %".
func (c cellParams) String() string { return fmt.Sprintf("%s %d %%", c.Name, c.Percent) }

// String is "checkout 500".
func (r reserved) String() string { return fmt.Sprintf("%s %d", r.Partition, r.Rate) }

// burnIn is from when the service runs, until the case begins, to have keys of all ages.
const (
	burnIn     = 9*time.Hour + 56*time.Minute
	caseBegins = 9*time.Hour + 58*time.Minute
)

const (
	ticksPerSecond = 20
	tickLength     = time.Second / ticksPerSecond
)

// ticks is a duration in whole ticks.
func ticks(d time.Duration) int { return int(d / tickLength) }

// seconds is a duration in whole seconds.
func seconds(d time.Duration) int { return int(d / time.Second) }

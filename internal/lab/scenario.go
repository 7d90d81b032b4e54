package lab

import (
	"slices"
	"time"
)

// Scenario is a state that the service gets into: what happens to it, and when.
// With one seed it always happens alike.
type Scenario struct {
	Name    string
	About   string   // one sentence for people
	Modes   []string // what a person who knows would declare, in a runbook's words
	Runbook string   // the name of the bundled runbook that recovers it
	Seed    uint64   // for whoever gives no seed of their own

	// Controls are set from the beginning on, as an earlier repair left them.
	Controls map[string]string

	Start  time.Duration // time of day at which a lab is handed over
	Events []Event       // in the order of their times
}

// Event is one thing that happens. Which fields count depends on its kind.
type Event struct {
	At     time.Duration // time of day
	Kind   EventKind
	Share  float64       // 0 to 1: of the reads, the keys, the processes or the queries
	Bucket string        // how deep by rank: top-1, top-10, top-100 or working-set
	Cell   string        // its name
	Copies bool          // last-good copies outlive it
	Keys   int           // how many
	Over   time.Duration // how long it takes
	Every  time.Duration // how often it happens again; 0 for once
	Factor float64       // how many times as much

	Processes int // that serve reads

	Locales, Classes, Modes int // ways in which a product is asked for
}

// EventKind says what happens.
type EventKind string

const (
	// Launch directs Share of the reads to one key.
	Launch EventKind = "launch"
	// HotKey does too, to a key that only one node holds.
	HotKey EventKind = "hot-key"
	// Concentrate makes the hundred hottest keys take Share of the reads.
	Concentrate EventKind = "concentrate"
	// Expire lets Share of the keys down to Bucket lapse, evenly Over a time.
	Expire EventKind = "expire"
	// LoseCell replaces Cell by an empty one.
	LoseCell EventKind = "lose-cell"
	// KillCell takes Cell away.
	KillCell EventKind = "kill-cell"
	// ReviveCell puts an empty cell in the place of one that is gone.
	ReviveCell EventKind = "revive-cell"
	// LoseTier replaces all cells by empty ones.
	LoseTier EventKind = "lose-tier"
	// BulkImport invalidates Keys Over a time, unless bulk invalidations are off
	// when it begins; switching them off later ends it.
	BulkImport EventKind = "bulk-import"
	// NewFormat lets Share of the processes refuse values of the format before.
	NewFormat EventKind = "new-format"
	// SlowQueries makes Share of the queries take Factor times as long.
	SlowQueries EventKind = "slow-queries"
	// ForbidStale makes values carry a flag that must be current in every answer.
	ForbidStale EventKind = "forbid-stale"
	// Variants makes products down to Bucket be asked for in so many Locales,
	// authorization Classes and freshness Modes, each with a value of its own.
	Variants EventKind = "variants"
	// EditHotKey edits the hottest product.
	EditHotKey EventKind = "edit-hot-key"
	// Crawl makes Share of the reads ask for Keys that do not exist.
	Crawl EventKind = "crawl"
	// CreateProducts makes products of so many Keys that did not exist.
	CreateProducts EventKind = "create-products"
	// ReplaceCell brings a replacement for Cell, in a new format, of whose values
	// Share are written wrong. After Over the pipeline takes the old cell away.
	ReplaceCell EventKind = "replace-cell"
	// AddClients makes operators add Processes, which fill tables of their own.
	AddClients EventKind = "add-clients"
	// BatchPrewarm lets a batch job fetch Keys in the order of rank Over a time, past
	// admission and whatever waits.
	BatchPrewarm EventKind = "batch-prewarm"
	// LoseDetector lets nothing count as read often Over a time, so that processes hold
	// no key but those on the static list.
	LoseDetector EventKind = "lose-detector"
	// LoseInvalidations lets single invalidations go astray Over a time.
	LoseInvalidations EventKind = "lose-invalidations"
)

// CaseStudy is the collapse of the case study: a launch key that lapses
// everywhere, then a cell with 30 % of the reads that a deployment removes.
func CaseStudy() Scenario {
	return Scenario{
		Name:    "hot-key-collapse",
		About:   "The case study: a launch key lapses everywhere, then a deployment removes a cell with 30 % of the reads.",
		Modes:   []string{"synchronized-expiry", "cell-loss"},
		Runbook: "hot-key-collapse",
		Seed:    1,
		Start:   clock(10, 7, 30),
		Events: []Event{
			{At: clock(10, 0, 0), Kind: Launch, Share: 0.28},
			{At: clock(10, 3, 0), Kind: Expire, Bucket: "top-1", Share: 1},
			{At: clock(10, 7, 0), Kind: LoseCell, Cell: "cell-c", Copies: true},
			{At: clock(10, 9, 0), Kind: BulkImport, Keys: 40_000, Over: 20 * time.Second, Every: 30 * time.Minute},
		},
	}
}

// clock is a time of day.
func clock(hour, minute, second int) time.Duration {
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
}

// happens reports whether an event takes place at this second.
func (e *Event) happens(now time.Duration) bool {
	since := now - e.At
	return since == 0 || e.Every > 0 && since > 0 && since%e.Every == 0
}

// popularity is how reads fall on the hottest keys.
type popularity struct {
	top     float64 // share of the hottest key
	hundred float64 // share of the hundred hottest; 0 for what follows from the above
	alone   bool    // the hottest key is held by one node only, unless its control says otherwise

	unknown     float64 // share of the reads that ask for keys that do not exist
	unknownKeys int     // how many such keys they ask for
}

// popularity is how it stands at a time.
func (s *Scenario) popularity(p *params, at time.Duration) popularity {
	now := popularity{top: p.IdleShare}
	for i := range s.Events {
		if s.Events[i].At <= at {
			now.follow(&s.Events[i])
		}
	}
	return now
}

// follow lets popularity change as an event says.
func (n *popularity) follow(e *Event) {
	switch e.Kind {
	case Launch, HotKey:
		n.top, n.alone = e.Share, e.Kind == HotKey
	case Concentrate:
		n.hundred = e.Share
	case Crawl:
		n.unknown, n.unknownKeys = e.Share, max(1, e.Keys, n.unknownKeys)
	}
}

// sorted are events in the order of their times.
func sorted(events []Event) bool {
	return slices.IsSortedFunc(events, func(a, b Event) int { return int(a.At - b.At) })
}

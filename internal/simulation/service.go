package simulation

import (
	"math"
	"time"
)

// sample is what one scrape of the service sees.
type sample struct {
	stamp     time.Time // on the clock of Prometheus
	true      time.Time
	live      float64 // attempts/s that readers cause, whether admitted or not
	peak      float64 // attempts/s that the origin admitted, prewarm included
	queue     float64 // seconds
	errors    float64 // share of reads
	forbidden float64 // reads of forbidden classes that were served stale
	exposed   float64 // attempts/s that a wholly routed cell would add, as far as it is cold
	obeyed    int64   // version that every process obeys, but for those that are stuck
}

// service is a cell that was lost: its readers fall through to the origin until it is
// warm. One tick is a second.
type service struct {
	warm, backlog float64
	lag           time.Duration // from a flip to obeying it
	stuck         bool          // one of the processes never obeys
	silent        bool          // no process reports its version
	defect        bool          // a long stale window lets forbidden classes through
	surge         float64       // factor on the demand of readers
	obeyedAt      map[int64]time.Time
	version       int64
}

const (
	processes = 3
	knee      = 4200.0 // attempts/s beyond which the origin does no more useful work
	readers   = 3600.0 // attempts/s of the cell's readers when it is cold
	others    = 500.0  // attempts/s that have nothing to do with the cell
	jobs      = 600.0  // attempts/s of background jobs
	working   = 30000.0
)

// obeys are the values that a process of the service acts by.
type obeys struct {
	admission, routing, stale, prewarm float64
	jobs, ranked                       bool
}

// tick lets a second pass.
func (s *service) tick(o obeys) sample {
	cold := readers * s.surge * (1 - s.warm)
	live := others*s.surge + cold*o.routing/100
	if o.jobs {
		live += jobs
	}
	limit := min(o.admission, knee)
	prewarm := min(o.prewarm, max(0, limit-live))
	waiting := live + s.backlog
	admitted := min(waiting, limit)
	s.backlog = min(waiting-admitted, 4*knee)
	speed := 1.0
	if o.ranked {
		speed = 1.5
	}
	s.warm = min(1, s.warm+(prewarm*speed+0.6*min(cold*o.routing/100, admitted))/working)
	m := sample{live: live, peak: admitted + prewarm, queue: s.backlog / limit, exposed: cold}
	if live > limit {
		m.errors = (live - limit) / live
	}
	if s.defect && o.stale > 60 {
		m.forbidden = 5
	}
	return m
}

// finite keeps a model's number in bounds that print well.
func finite(v float64) float64 { return math.Round(v*1000) / 1000 }

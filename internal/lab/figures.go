package lab

import "time"

// Figures are what a lab has counted so far and how it stands now, for plots and
// reports. All of them are a model's.
type Figures struct {
	At                                     time.Duration // time of day in the scenario
	Reads                                  int           // that arrived
	Fresh, DeclaredStale, Rejected, Errors int           // how they ended
	Lookups, Hits                          int           // in the cells
	Attempts, Completed                    int           // at the origin, of this class
	QueueAge                               float64       // seconds
	Waiting                                int           // reads that have arrived and not ended
}

// Figures tells how the lab stands.
func (l *Lab) Figures() Figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.world.model
	f := Figures{
		At: m.time(), Reads: m.arrived,
		Fresh: m.outcomes[fresh], DeclaredStale: m.outcomes[declaredStale], Rejected: m.outcomes[rejected],
		Errors:   m.outcomes[failed],
		Attempts: m.origin.catalog.attempts, Completed: m.origin.catalog.completed,
		QueueAge: toSeconds(m.origin.waited(m.tick)),
		Waiting:  m.waiting(),
	}
	for _, c := range m.cells[:cellCount] {
		f.Hits += c.hits
		f.Lookups += c.hits + c.ahead + c.misses + c.stales + c.failures
	}
	return f
}

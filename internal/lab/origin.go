package lab

// kind says who sent an attempt to the origin.
type kind uint8

const (
	coldRefresh  kind = iota // a leader for a key that is not fresh
	earlyRefresh             // a leader for a fresh key that is due
	bypass                   // a read that goes past the cache
	prewarm
	background
	startup // a new process that fills its own tables
)

// batch is attempts of one kind for one group of one cell that entered together.
type batch struct {
	kind    kind
	of      place
	n       int
	readers int // of the n, those with a read waiting for them; never more than n
}

// part takes k attempts out of the batch, with their share of the readers.
func (b *batch) part(k int, readers *carry) batch {
	taken := *b
	if k == b.n {
		b.n, b.readers = 0, 0
		return taken
	}
	taken.n = k
	if k == 0 {
		taken.readers = 0
		return taken
	}
	taken.readers = min(readers.split(b.readers, ratio(k, b.n)), k)
	if left := b.n - k; b.readers-taken.readers > left {
		taken.readers = b.readers - left
	}
	b.n -= taken.n
	b.readers -= taken.readers
	return taken
}

// entered is what came in one tick.
type entered struct {
	batches []batch
	zombies int // given up by their clients, still worked on
}

// origin is the catalog class's part of the database, and the reserved
// partitions beside it.
type origin struct {
	p        *params
	queue    []entered // ring by tick
	inside   int       // attempts that wait or are served, zombies too
	zombies  int
	load     float64 // attempts/s at the door, remembered for LoadMemory
	capacity carry
	late     carry
	cancel   carry
	readers  carry
	reserved []partition
	catalog  flow
	slow     slowness
}

// slowness is queries that take longer than they should, since their plan changed.
type slowness struct {
	share  float64 // of the queries
	factor float64 // times as long, and as much of the origin's work
}

// cost is the work of a query in the mean, in queries as they should be.
func (s slowness) cost() float64 {
	if s.share == 0 {
		return 1
	}
	return 1 + s.share*(s.factor-1)
}

// flow counts what became of attempts. attempts = admitted + rejected, and
// admitted = completed + cancelled + late + what is still inside.
type flow struct {
	attempts, admitted, rejected, completed, cancelled, late int
}

// partition is a reserved one with its own small queue.
type partition struct {
	flow
	rate    int
	offered carry
	served  carry
	waiting []int // ring by tick
	inside  int
}

func newOrigin(p *params) *origin {
	o := &origin{p: p, queue: make([]entered, ticks(p.OriginTimeout)+2)}
	for _, r := range p.Reserved {
		o.reserved = append(o.reserved, partition{rate: r.Rate, waiting: make([]int, ticks(p.ReadTimeout)+1)})
	}
	return o
}

// goodput is how many attempts a second the origin completes in time under the
// load it remembers.
func (o *origin) goodput() float64 {
	knee := float64(o.p.Knee)
	if o.load <= knee {
		return knee
	}
	return knee / (1 + o.p.Decline*(o.load/knee-1))
}

// efficiency is goodput against the best there is.
func (o *origin) efficiency() float64 { return o.goodput() / float64(o.p.Knee) }

// room is how many more attempts of the class fit inside.
func (o *origin) room() int { return max(0, o.p.QueueBound-o.inside) }

// enter lets attempts in; there must be room.
func (o *origin) enter(tick int, b batch) {
	if b.n == 0 {
		return
	}
	slot := &o.queue[tick%len(o.queue)]
	slot.batches = append(slot.batches, b)
	o.inside += b.n
	o.catalog.admitted += b.n
}

// knock remembers the load of one tick: all that came to the door.
func (o *origin) knock(n int) {
	for _, r := range o.reserved {
		n += r.rate / ticksPerSecond
	}
	o.load += (float64(n*ticksPerSecond) - o.load) * o.memory()
}

// knockMore adds attempts of the same tick that came later.
func (o *origin) knockMore(n int) { o.load += float64(n*ticksPerSecond) * o.memory() }

// memory is the weight of one tick in the load.
func (o *origin) memory() float64 { return tickLength.Seconds() / o.p.LoadMemory.Seconds() }

// work is one tick of the origin. It calls completed and gaveUp with the
// attempts that ended for their clients.
func (o *origin) work(tick int, completed, gaveUp func(batch, int)) {
	o.giveUp(tick, gaveUp)
	useful := o.goodput() * tickLength.Seconds()
	useful -= float64(o.workReserved(tick))
	room := o.capacity.take(max(0, useful) / o.slow.cost())
	left := o.serve(tick, room, completed)
	lost := (float64(o.p.Knee) - o.goodput()) * tickLength.Seconds()
	o.finishLate(tick, left+o.late.take(lost*o.p.LateShare))
	if left > 0 {
		o.capacity = 0 // idle workers save nothing up
	}
}

// giveUp ends attempts whose clients have waited long enough.
func (o *origin) giveUp(tick int, gaveUp func(batch, int)) {
	for _, limit := range []int{ticks(o.p.ReadTimeout), ticks(o.p.RefreshTimeout)} {
		slot := o.slot(tick - limit)
		kept := slot.batches[:0]
		for _, b := range slot.batches {
			if b.n > 0 && o.patience(b.kind) <= limit {
				o.abandon(slot, b)
				gaveUp(b, limit)
				continue
			}
			kept = append(kept, b)
		}
		slot.batches = kept
	}
	// What is left of the oldest tick is dropped by the origin itself.
	oldest := o.slot(tick - ticks(o.p.OriginTimeout))
	o.catalog.cancelled += oldest.zombies
	o.inside -= oldest.zombies
	o.zombies -= oldest.zombies
	oldest.zombies = 0
}

func (o *origin) abandon(slot *entered, b batch) {
	cancelled := o.cancel.split(b.n, o.p.CancelShare)
	o.catalog.cancelled += cancelled
	o.inside -= cancelled
	slot.zombies += b.n - cancelled
	o.zombies += b.n - cancelled
}

// patience is how long the client of an attempt waits, in ticks.
func (o *origin) patience(k kind) int {
	if k == bypass {
		return ticks(o.p.ReadTimeout)
	}
	return ticks(o.p.RefreshTimeout)
}

// serviceTicks is how long an attempt takes when nothing is in its way.
func (o *origin) serviceTicks(b batch) int {
	if b.of.rank == 0 && b.kind != background && b.kind != startup {
		return ticks(o.p.LaunchService)
	}
	return ticks(o.p.Service)
}

// serve completes attempts in the order in which they came and returns the room
// that it did not need.
func (o *origin) serve(tick, room int, completed func(batch, int)) int {
	for age := ticks(o.p.RefreshTimeout); age > 0 && room > 0; age-- {
		slot := o.slot(tick - age)
		for i := range slot.batches {
			b := &slot.batches[i]
			if k := min(b.n, room); k > 0 && age >= o.serviceTicks(*b) {
				room -= k
				o.inside -= k
				o.catalog.completed += k
				completed(b.part(k, &o.readers), age)
			}
		}
		if len(slot.batches) > 0 && slot.empty() {
			slot.batches = slot.batches[:0]
		}
	}
	return room
}

func (e *entered) empty() bool {
	for _, b := range e.batches {
		if b.n > 0 {
			return false
		}
	}
	return true
}

// finishLate works off what nobody waits for any more; it warms nothing.
func (o *origin) finishLate(tick, room int) {
	for age := ticks(o.p.OriginTimeout); age > 0 && room > 0 && o.zombies > 0; age-- {
		slot := o.slot(tick - age)
		k := min(slot.zombies, room)
		slot.zombies -= k
		o.zombies -= k
		room -= k
		o.inside -= k
		o.catalog.late += k
	}
}

func (o *origin) slot(tick int) *entered {
	return &o.queue[tick%len(o.queue)]
}

// workReserved serves the reserved partitions, each out of its own share of the
// workers, and returns how much they took.
func (o *origin) workReserved(tick int) int {
	took := 0
	for i := range o.reserved {
		took += o.reserved[i].work(tick, o.efficiency()*o.p.ReservedSpare)
	}
	return took
}

func (r *partition) work(tick int, share float64) int {
	n := len(r.waiting)
	slot := &r.waiting[tick%n] // the oldest: its clients have gone
	r.cancelled += *slot
	r.inside -= *slot
	perTick := float64(r.rate) / ticksPerSecond
	room := r.served.take(perTick * share)
	took := 0
	for age := n - 1; age > 0 && took < room; age-- {
		w := &r.waiting[(tick-age)%n]
		k := min(*w, room-took)
		*w -= k
		took += k
	}
	r.inside -= took
	r.completed += took
	arrived := r.offered.take(perTick)
	r.attempts += arrived
	r.admitted += arrived
	r.inside += arrived
	*slot = arrived
	if took < room {
		r.served = 0
	}
	return took
}

// waited gives how long the oldest attempt has waited for its turn, in ticks.
func (o *origin) waited(tick int) int {
	for age := ticks(o.p.OriginTimeout) + 1; age > 0; age-- {
		slot := o.slot(tick - age)
		if slot.zombies > 0 {
			return age
		}
		for _, b := range slot.batches {
			if wait := age - o.serviceTicks(b); b.n > 0 && wait > 0 {
				return wait
			}
		}
	}
	return 0
}

package steps

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"pgregory.net/rapid"
)

// TestAnyIncident lets everything happen that can happen, in any order: signals, faults
// of Redis and Prometheus, hands with redis-cli, persons, calls, kills. What may never
// be is checked by the rights at every record and by the Redis at every flip; here also
// that the fold of the records is the state of the walk, that Next gives the same answer
// twice, that brakes wait for nothing, and that the walk always comes to rest.
func TestAnyIncident(t *testing.T) {
	doc := mustParse(t, incident)
	rapid.Check(t, func(t *rapid.T) {
		w := newWalker(t, doc)
		w.quiet = true
		w.approve = rapid.SampledFrom([]ApproveMode{Manual, Auto}).Draw(t, "approve")
		if err := w.begin(""); err != nil {
			t.Fatal(err)
		}
		c := &chaos{walker: w}
		t.Repeat(map[string]func(*rapid.T){
			"signal": c.signalMoves, "redis": c.redisFault, "hand": c.hand, "person": c.person, "service": c.serviceChanges,
			"disk": c.diskBreaks, "call": c.callEnds, "kill": c.kill, "walk": c.walkOn, "walk on": c.walkOn, "walk further": c.walkOn,
			"": c.check,
		})
	})
}

type chaos struct {
	*walker
	shadow   shadow
	over     bool          // another run commands, or the run has ended
	reliable time.Duration // how long Redis has answered everything
}

func names[T any](list []T, name func(T) string) []string {
	var all []string
	for _, v := range list {
		all = append(all, name(v))
	}
	return all
}

func (c *chaos) signalMoves(t *rapid.T) {
	probe := rapid.SampledFrom(names(c.doc.Probes, func(p runbook.Probe) string { return p.Name })).Draw(t, "probe")
	p := point{at: c.clock.now}
	switch rapid.IntRange(0, 9).Draw(t, "how") {
	case 0:
		p.reason = rapid.SampledFrom([]probes.Reason{probes.NoData, probes.Partial, probes.Histogram}).Draw(t, "reason")
	case 1:
		p.values = []float64{number("NaN")}
	case 2:
		p.values = []float64{0.01, 9000}
	case 3:
		c.signal(probe).frozen = c.clock.now
		return
	default:
		p.values = []float64{rapid.SampledFrom([]float64{0, 0.05, 0.3, 1, 900, 2500, 3500, 9000}).Draw(t, "value")}
	}
	c.signal(probe).frozen = time.Time{}
	c.signal(probe).set(p)
}

func (c *chaos) redisFault(t *rapid.T) {
	c.redis.down, c.redis.fault = false, ""
	switch fault := rapid.SampledFrom([]string{"up", "up", "down", "lost", "unanswered", "refused", "loses data", "replicates", "fails over"}).Draw(t, "fault"); fault {
	case "up":
	case "down":
		c.redis.down = true
	case "loses data":
		c.redis.server.FlushAll()
	case "replicates":
		c.redis.replicate()
	case "fails over":
		c.redis.failOver()
	default:
		c.redis.fault = fault
	}
	c.reliable = 0
}

func (c *chaos) hand(t *rapid.T) {
	control := rapid.SampledFrom(names(c.doc.Controls, func(c runbook.Control) string { return c.Name })).Draw(t, "control")
	raw := rapid.SampledFrom([]string{"absent", "0", "5", "50", "800", "4000", "on", "off", "garbage", "\xff"}).Draw(t, "raw")
	c.redis.edit(control, raw)
}

// diskBreaks breaks the log's disk, rarely and for good; the emergency log takes over.
func (c *chaos) diskBreaks(t *rapid.T) {
	if rapid.IntRange(0, 15).Draw(t, "luck") == 0 {
		c.journal.full, c.journal.emergency = true, true
	}
}

func (c *chaos) serviceChanges(t *rapid.T) {
	c.service = service{processes: 3, silent: rapid.Bool().Draw(t, "silent"),
		lag: time.Duration(rapid.IntRange(0, 4).Draw(t, "lag")) * time.Second}
	c.down = rapid.SampledFrom([]probes.Reason{"", "", probes.Transport}).Draw(t, "prometheus")
}

func (c *chaos) person(t *rapid.T) {
	if c.over {
		return
	}
	o := Order{By: "ben", Text: "because"}
	o.Kind = rapid.SampledFrom([]OrderKind{OrderApprove, OrderApprove, OrderApprove, OrderHold, OrderRelease, OrderRelease,
		OrderSkip, OrderTake, OrderAdopt, OrderPutBack, OrderNote, OrderAnswer, OrderUndo, OrderUndo, OrderKeep, OrderDone, OrderAbort, OrderInterrupt}).Draw(t, "order")
	switch o.Kind {
	case OrderApprove:
		if offers := c.machine.Question().Offers; len(offers) > 0 {
			o.Digest = rapid.SampledFrom(offers).Draw(t, "offer").Digest
		}
	case OrderSkip, OrderTake, OrderAnswer, OrderUndo, OrderKeep, OrderDone:
		o.Step = rapid.SampledFrom(names(slices.Collect(c.doc.Steps()), func(s *runbook.Step) string { return s.Name })).Draw(t, "step")
	case OrderAdopt, OrderPutBack:
		o.Step = rapid.SampledFrom(names(c.doc.Controls, func(c runbook.Control) string { return c.Name })).Draw(t, "control")
	}
	c.reliable = 0
	var refused *RefusedOrder
	if err := c.machine.Order(o); err != nil && !errors.As(err, &refused) {
		t.Fatal(err)
	}
}

func (c *chaos) callEnds(t *rapid.T) {
	if c.over || len(c.calls) == 0 {
		return
	}
	if err := c.finishCall(c.calls[0].Step, rapid.Bool().Draw(t, "ok"), "exit status 1"); err != nil {
		t.Fatal(err)
	}
}

func (c *chaos) kill(t *rapid.T) {
	if c.over {
		return
	}
	c.clock.moveTo(c.clock.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds away")) * time.Second))
	if c.redis.down {
		return
	}
	c.reliable = 0
	if err := c.resume(); err != nil {
		t.Fatal(err)
	}
}

func (c *chaos) walkOn(t *rapid.T) {
	d := time.Duration(rapid.IntRange(0, 8).Draw(t, "seconds")) * time.Second
	if c.over {
		return
	}
	if c.stopped {
		if c.redis.down {
			return
		}
		if err := c.resume(); err != nil {
			t.Fatal(err)
		}
	}
	if !c.redis.down && c.redis.fault == "" {
		c.reliable += d
	}
	var commanded *actions.Commanded
	err := c.walk(d)
	switch {
	case errors.As(err, &commanded):
		c.over = true
	case err != nil:
		t.Fatal(err)
	}
	c.over = c.over || c.machine.State().Ending != ""
}

func (c *chaos) check(t *rapid.T) {
	s := c.machine.State()
	first, before := Next(s, c.clock.now), dump(s)
	if diff := cmp.Diff(first, Next(s, c.clock.now)); diff != "" {
		t.Fatalf("Next gives two answers (-first +second):\n%s", diff)
	}
	if dump(s) != before {
		t.Fatalf("Next has changed the state")
	}
	c.shadow.follow(t, c.journal, s)
	c.brakesAreOn(t, s)
}

// brakesAreOn: when Redis has answered for a while, every protecting flip of a walk that
// goes on is made or was found not to be needed, whatever is held, failed or unknown.
func (c *chaos) brakesAreOn(t *rapid.T, s *State) {
	if c.reliable < 4*time.Second || c.over || c.stopped || s.aborting != nil || s.stopping {
		return
	}
	for step := range c.doc.Steps() {
		if step.Stage.Protects() && step.Flip != nil && s.Step(step.Name).Phase != StepDone {
			t.Fatalf("%s: %s is not on: %+v, blocking %#v", c.since(), step.Name, *s.Step(step.Name), Next(s, c.clock.now))
		}
	}
	if s.Stage < runbook.ConstrainLeaders {
		t.Fatalf("%s: the walk stands in %s", c.since(), s.Stage)
	}
}

//go:build !race

package lab

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewarm/rewarm/actions/controls"
)

// paper is a sheet of controls without a Redis.
type paper struct {
	values  map[string]string
	version int64
}

func newPaper() *paper { return &paper{values: absent(&catalog)} }

func (s *paper) set(control, value string) {
	s.values[control] = value
	s.version++
}

func (s *paper) Number(control string) (float64, bool) {
	if s.values[control] == controls.Unlimited {
		return math.Inf(1), true
	}
	n, err := controls.ParseNumber(s.values[control])
	return n, err == nil
}

func (s *paper) Switch(control string) (bool, bool) { return s.values[control] == controls.On, true }
func (s *paper) Choice(control string, _ ...string) (string, bool) {
	return s.values[control], true
}
func (s *paper) Version() int64 { return s.version }

// Whatever is flipped whenever, nothing is lost: every read ends once, every
// attempt has one end, every key has one place, at every tick.
func TestNothingIsLost(t *testing.T) {
	choices := map[string][]string{
		"origin.admission":     {"unlimited", "0", "400", "1600", "3200", "4000", "100000"},
		"origin.bypass":        {"on", "off"},
		"retries.budget":       {"0", "0.5", "10", "100"},
		"retries.hint":         {"0", "0.01", "2", "60"},
		"retries.jitter":       {"0", "50", "100"},
		"stale.product-detail": {"0", "10", "30", "60", "120", "300"},
		"leaders.cell":         {"0", "1", "10", "60", "400"},
		"leaders.region":       {"0", "40", "200", "1600"},
		"followers.deadline":   {"0", "0.1", "0.3", "0.8", "5"},
		"followers.max":        {"unlimited", "0", "3", "100"},
		"local.ttl":            {"0", "0.5", "1"},
		"stale.kept":           {"0", "10", "300", "3600"},
		"stale.place":          copyPlaces,
		"cells.failover":       failovers,
		"gutter.ttl":           {"0", "1", "30", "3600"},
		"hotkey.splits":        {"1", "3", "8", "100"},
		"coalescing.identity":  identities,
		"negative.ttl":         {"0", "0.5", "3", "3600"},
		"jobs.background":      {"on", "off"},
		"invalidations.bulk":   {"on", "off"},
		"prewarm.rate":         {"0", "1", "3200", "50000"},
		"prewarm.bucket":       depths,
		"routing.cell-a":       {"0", "37", "100"},
		"routing.cell-c":       {"0", "10", "25", "50", "100"},
		"routing.region":       {"0", "30", "100"},
		"launch.admit":         {"0", "10", "100"},
		"hotkey.copies":        {"1", "2", "8", "24"},
		"format.unknown":       formatChoices,
		"format.readable":      readableChoices,
		"migration.shadow":     {"0", "30", "100"},
		"migration.compare":    {"0", "1", "100"},
		"migration.exposure":   {"0", "1", "50", "100"},
		"migration.drain":      {"0", "40", "100"},
		"migration.cutover":    {"on", "off"},
		"migration.snapshot":   {"on", "off"},
		"refresh.early":        {"0", "20", "50"},
		"refresh.jitter":       {"0", "15", "100"},
	}
	var names []string
	for name := range absent(&catalog) {
		if choices[name] != nil {
			names = append(names, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := small()
		p.CellSpare = rapid.SampledFrom([]float64{0.3, 1.2, p.CellSpare}).Draw(t, "spare")
		m := newModel(p, anyStory(t), rapid.Uint64().Draw(t, "seed"), launch-500*time.Millisecond)
		s := newPaper()
		for range rapid.IntRange(1, 12).Draw(t, "flips") {
			name := rapid.SampledFrom(names).Draw(t, "control")
			s.set(name, rapid.SampledFrom(choices[name]).Draw(t, "value"))
			if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
				m.loseCell(rapid.SampledFrom(catalog.Cells[:]).Draw(t, "cell").Name, rapid.Bool().Draw(t, "copies"))
			}
			for range rapid.IntRange(1, 80).Draw(t, "ticks") {
				before := m.arrived
				m.step(from(s))
				if err := m.check(); err != nil {
					t.Fatalf("at %s: %v", clockTime(m.time()), err)
				}
				if n := m.arrived - before; n != 6000 {
					t.Fatalf("%d reads arrive in a tick", n)
				}
				if m.origin.inside > catalog.QueueBound {
					t.Fatalf("%d attempts inside a bound of %d", m.origin.inside, catalog.QueueBound)
				}
			}
		}
	})
}

// anyStory is some events, one a second from 10:00 on.
func anyStory(t *rapid.T) *Scenario {
	story := &Scenario{}
	kinds := eventKinds()
	for i := range rapid.IntRange(0, 12).Draw(t, "events") {
		story.Events = append(story.Events, Event{
			At:     launch + time.Duration(i)*time.Second,
			Kind:   EventKind(rapid.SampledFrom(kinds).Draw(t, "kind")),
			Share:  rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "share"),
			Bucket: rapid.SampledFrom(depths[1:]).Draw(t, "bucket"),
			Cell:   rapid.SampledFrom(catalog.Cells[:]).Draw(t, "cell").Name,
			Copies: rapid.Bool().Draw(t, "copies"),
			Keys:   rapid.IntRange(0, 10_000).Draw(t, "keys"),
			Over:   time.Duration(rapid.IntRange(1, 5).Draw(t, "over")) * time.Second,
			Factor: rapid.Float64Range(1, 10).Draw(t, "factor"),

			Locales: rapid.IntRange(1, 4).Draw(t, "locales"),
			Classes: rapid.IntRange(1, 3).Draw(t, "classes"),
			Modes:   rapid.IntRange(1, 2).Draw(t, "modes"),
		})
	}
	return story
}

// The collapse adds up with all its keys, tick by tick.
func TestTheCollapseAddsUp(t *testing.T) {
	m := newCase(&catalog, 7, cellLost-time.Second)
	for m.time() < cellLost+2*time.Minute+30*time.Second {
		m.step(m.fleet.untouchedSource())
		if err := m.check(); err != nil {
			t.Fatalf("at %s: %v", clockTime(m.time()), err)
		}
	}
}

// Arrivals do not wait for completions.
func TestArrivalsAreOpen(t *testing.T) {
	m := newCase(small(), 1, caseBegins)
	s := newPaper()
	s.set("origin.admission", "0")
	s.set("leaders.cell", "0")
	for range 100 {
		m.step(from(s))
	}
	if m.arrived != 600_000 {
		t.Errorf("%d reads arrived in 5 s", m.arrived)
	}
}

// The same seed gives the same metrics, to the byte.
func TestSameSeedSameMetrics(t *testing.T) {
	play := func(seed uint64) []byte {
		b := newBench(t, Options{Seed: seed})
		b.protect()
		b.forward(5 * time.Second)
		b.set("prewarm.rate", "3200")
		b.set("prewarm.bucket", "working-set")
		b.forward(20 * time.Second)
		return b.world.page.appendText(nil)
	}
	one, same, other := play(1), play(1), play(2)
	if !bytes.Equal(one, same) {
		t.Error("two runs of one seed differ")
	}
	if bytes.Equal(one, other) {
		t.Error("another seed changes nothing")
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{From: 9 * time.Hour}, {From: 25 * time.Hour}, {From: clock(10, 7, 30) + time.Millisecond},
		{ScrapeEvery: 10 * time.Millisecond}, {ScrapeEvery: 75 * time.Millisecond}, {ScrapeEvery: -time.Second},
	} {
		if l, err := New(o); err == nil {
			l.Close()
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestClock(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	ctx, cancel := context.WithCancel(context.Background())
	began := b.Clock().Now()
	if want := time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC); !began.Equal(want) {
		t.Errorf("a lab begins at %s", began)
	}
	soon, stop := b.Clock().Deadline(ctx, 2*time.Second)
	defer stop()
	if _, ok := soon.Deadline(); ok {
		t.Error("a virtual deadline looks like a real one")
	}
	for _, d := range []time.Duration{10 * time.Millisecond, 0, -time.Hour, 40 * time.Millisecond, 1900 * time.Millisecond} {
		want := b.Clock().Now().Add(max(0, d))
		b.forward(d)
		if now := b.Clock().Now(); !now.Equal(want) {
			t.Errorf("waiting %s ended at %s, not %s", d, now, want)
		}
	}
	if soon.Err() != nil {
		t.Error("a deadline of 2 s has passed after 1.95 s")
	}
	b.forward(50 * time.Millisecond)
	if context.Cause(soon) != context.DeadlineExceeded {
		t.Errorf("a deadline of 2 s has not passed: %v", context.Cause(soon))
	}
	cancel()
	if err := b.Clock().Wait(ctx, began.Add(time.Hour)); err != context.Canceled {
		t.Errorf("waiting with an ended context: %v", err)
	}
	if got := b.do("TIME"); got != "*2" {
		t.Errorf("TIME answers %q", got)
	}
}

// A deployment freeze keeps operators from adding clients.
func TestFrozenOperatorsAddNothing(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	const said = `the lab recorded "deployctl" "freeze" "catalog" "--except" "rollback\x1b[2J", nothing was executed`
	if got := b.Call("deployctl", "freeze", "catalog", "--except", "rollback\x1b[2J"); got != said {
		t.Errorf("a call is answered with %s", got)
	}
	b.forward(3 * time.Minute)
	if n := b.ask(`count(up{job="catalog"} == 1)`); n != 240 {
		t.Errorf("%v processes", n)
	}
	b.Call("deployctl", "thaw", "catalog")
	b.forward(90 * time.Second)
	if n := b.ask(`count(up{job="catalog"} == 1)`); n <= 240 {
		t.Errorf("%v processes after the thaw", n)
	}
	if n := len(b.Calls()); n != 2 {
		t.Errorf("%d calls recorded", n)
	}
}

// Keys move between ages without getting lost, whatever the order.
func TestAges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a ages
		total, now := 0, 1000
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			n := rapid.IntRange(0, 20).Draw(t, "n")
			switch rapid.IntRange(0, 5).Draw(t, "move") {
			case 0:
				a.add(now-rapid.IntRange(0, 30).Draw(t, "ago"), n)
				total += n
			case 1:
				a.limit(now - rapid.IntRange(0, 40).Draw(t, "window"))
			case 2:
				total -= a.takeOld(n)
			case 3:
				total -= a.takeYoung(n)
			case 4:
				total -= a.dropBefore(now - rapid.IntRange(0, 60).Draw(t, "kept"))
			case 5:
				now += n
			}
			left, last := 0, math.MinInt
			a.each(func(second, n int) {
				left += n
				if second <= last {
					t.Fatalf("second %d after %d", second, last)
				}
				last = second
			})
			if left != total || a.len() != total || a.old < 0 || a.young < 0 {
				t.Fatalf("%d keys, %d counted, %d old and %d young", total, left, a.old, a.young)
			}
		}
	})
}

// Parts add up and none is larger than its portion.
func TestApportion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		portions := rapid.SliceOfN(rapid.IntRange(0, 1000), 1, 30).Draw(t, "portions")
		total := 0
		for _, n := range portions {
			total += n
		}
		if total == 0 {
			return
		}
		part := rapid.IntRange(0, total).Draw(t, "part")
		a := apportion{total: total, part: part, phase: rapid.IntRange(0, total-1).Draw(t, "phase")}
		sum := 0
		for _, n := range portions {
			k := a.deal(n)
			if k < 0 || k > n {
				t.Fatalf("%d of %d", k, n)
			}
			sum += k
		}
		if sum != part {
			t.Fatalf("%d dealt, not %d", sum, part)
		}
	})
}

// Goodput bends at the knee and halves at three times the load.
func TestGoodput(t *testing.T) {
	o := newOrigin(&catalog)
	for _, tt := range []struct{ load, want float64 }{{0, 4200}, {4200, 4200}, {8400, 2800}, {12600, 2100}, {37_800, 840}} {
		if o.load = tt.load; math.Abs(o.goodput()-tt.want) > 1e-9 {
			t.Errorf("under %v/s the origin completes %v/s, not %v", tt.load, o.goodput(), tt.want)
		}
	}
}

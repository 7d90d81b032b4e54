//go:build !race

package lab

import (
	"fmt"
	"testing"
	"time"
)

// moment is what a dashboard and a gate see at one time.
type moment struct {
	at                                             time.Duration // of the case
	offered, goodput, age, errors, hits, processes float64
}

func (b *bench) look(from time.Duration, began time.Time) moment {
	return moment{
		at: from + b.Clock().Now().Sub(began), offered: b.ask(offered), goodput: b.ask(goodput), age: b.ask(queueAge),
		errors: b.ask(errorShare), hits: b.ask(hitRatio), processes: b.ask(`count(up{job="catalog"} == 1)`),
	}
}

// watch looks every five seconds.
func (b *bench) watch(from, until time.Duration) []moment {
	began := b.Clock().Now()
	seen := []moment{b.look(from, began)}
	for seen[len(seen)-1].at < until {
		b.forward(5 * time.Second)
		seen = append(seen, b.look(from, began))
	}
	return seen
}

func TestCaseBeginsHealthy(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins + 10*time.Second})
	m := b.watch(caseBegins+10*time.Second, caseBegins+30*time.Second)[4]
	if m.offered < 1500 || m.offered > 1700 {
		t.Errorf("steady misses are %.0f/s, the case has 1,560", m.offered)
	}
	if m.age > 0.1 || m.errors > 0 || m.hits < 0.986 || m.hits > 0.988 {
		t.Errorf("not healthy: %+v", m)
	}
	if reads := b.ask(`sum(rate(catalog_reads_by_rank_total[5s]))`); reads != 120_000 {
		t.Errorf("%v reads/s arrive, not 120,000", reads)
	}
}

func TestLaunchTakesItsShare(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: launch + 30*time.Second})
	share := b.ask(`rate(catalog_reads_by_rank_total{bucket="top-1"}[10s])`) / 120_000
	if share < 0.279 || share > 0.281 {
		t.Errorf("the launch key has %.3f of the reads, not 0.28", share)
	}
}

// The launch key lapses everywhere at once: a burst that the origin survives.
func TestSynchronizedExpiryIsABurst(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: launchLapses - time.Second})
	seen := b.watch(launchLapses-time.Second, launchLapses+29*time.Second)
	peak := 0.0
	for _, m := range seen {
		peak = max(peak, m.offered)
	}
	last := seen[len(seen)-1]
	if peak < 4200 || last.offered > 1950 || last.age > 0.25 {
		t.Errorf("offered %.0f/s at most, at the end %+v", peak, last)
	}
}

// Left alone, the collapse looks as it does in the case: the hit ratio is good
// while the origin is asked for a multiple of its knee and completes less of
// it than before, and it goes on long after its cause.
func TestLeftAloneItCollapses(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: cellLost - time.Second})
	seen := b.watch(cellLost-time.Second, cellLost+15*time.Minute)
	before := seen[0].goodput
	asked, least := 0.0, before
	dead, over := time.Duration(0), time.Duration(0)
	for _, m := range seen {
		asked, least = max(asked, m.offered), min(least, m.goodput)
		if m.goodput < 0.75*before && m.offered > 3*4200 && m.age > 2 {
			dead = m.at
		}
		if m.age > 0.25 || m.errors > 0.001 || m.offered > 1950 {
			over = m.at
		}
		if m.at >= cellLost+90*time.Second && m.hits < 0.9 {
			t.Errorf("at %s the hit ratio is %.3f and gives the collapse away", m.at, m.hits)
		}
	}
	if asked < 25_000 || least > 1000 {
		t.Errorf("the origin is asked for %.0f/s at most and completes %.0f/s at least; the case has 37,092/s exposed", asked, least)
	}
	if dead < cellLost+6*time.Minute {
		t.Errorf("the origin is dead until %s only", dead)
	}
	if lasted := over - cellLost; lasted < 12*time.Minute || lasted > 13*time.Minute {
		t.Errorf("it lasts %s, the case's 11.8 minutes from 10:08 are far", lasted)
	}
	if n := seen[len(seen)-1].processes; n <= 240 {
		t.Errorf("nobody added clients: %v processes", n)
	}
	if n := b.ask(`max(catalog_refresh_leader_seconds_count) > 0`); n < 1000 {
		t.Errorf("%v refreshes were timed", n)
	}
}

// The clients that operators add, and their restarts, ask for more and prolong it.
func TestOperatorsMakeItWorse(t *testing.T) {
	played := func(frozen bool) (slow time.Duration, unserved int) {
		m := newCase(&catalog, 1, cellLost-20*time.Second)
		m.ops.frozen = frozen
		for s := m.fleet.untouchedSource(); m.time() < cellLost+14*time.Minute; m.step(s) {
			if m.origin.waited(m.tick) > ticks(m.p.SlowOrigin) {
				slow = m.time()
			}
		}
		return slow, m.outcomes[rejected] + m.outcomes[failed]
	}
	slow, unserved := played(false)
	slowWithout, unservedWithout := played(true)
	if slow < slowWithout+5*time.Second || unserved < unservedWithout+20_000 {
		t.Errorf("slow until %s with %d unserved reads; without operators until %s with %d", slow, unserved, slowWithout, unservedWithout)
	}
	t.Logf("slow until %s with %d unserved reads; without operators until %s with %d", slow, unserved, slowWithout, unservedWithout)
}

// protect sets the brakes of the bundled runbook by hand.
func (b *bench) protect() {
	for control, value := range map[string]string{
		"origin.admission": "3200", "origin.bypass": "off", "retries.budget": "0", "routing.cell-c": "0",
		"jobs.background": "off", "invalidations.bulk": "off", "stale.product-detail": "120",
		"leaders.cell": "60", "leaders.region": "200", "followers.deadline": "0.3", "local.ttl": "1",
	} {
		b.set(control, value)
	}
}

// Controls set by hand in Redis recover it, in the order of the case: protect,
// keep stale, warm, expand.
func TestControlsRecoverIt(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	began := b.Clock().Now()
	b.protect()
	b.forward(10 * time.Second)
	if m := b.look(0, began); m.age > 0.25 || m.errors > 0.02 {
		t.Fatalf("10 s after the brakes: %+v", m)
	}
	if v := b.ask(`max(max_over_time(rate(catalog_origin_admitted_total{partition="catalog"}[4s])[3s:1s]))`); v > 3200 {
		t.Errorf("%.0f/s admitted over a limit of 3200", v)
	}
	if v := b.ask(staleShare); v < 0.25 {
		t.Errorf("%.2f of the reads are declared stale while the cell's 30 %% are not routed", v)
	}
	b.set("prewarm.rate", "3200")
	b.set("prewarm.bucket", "working-set")
	b.forward(20 * time.Second)
	for _, percent := range []string{"10", "25", "50", "100"} {
		b.set("routing.cell-c", percent)
		b.forward(12 * time.Second)
		if m := b.look(0, began); m.age > 0.5 || m.errors > 0.005 {
			t.Fatalf("at %s %%: %+v", percent, m)
		}
	}
	for b.ask(coverage) < 0.99 {
		b.forward(5 * time.Second)
		if b.Clock().Now().Sub(began) > 5*time.Minute {
			t.Fatal("the cell is not warm after five minutes")
		}
	}
	b.forward(10 * time.Second)
	m := b.look(0, began)
	if m.age > 0.25 || m.offered > 1950 || m.errors > 0.001 || b.ask(staleShare) > 0.01 || b.ask(refused) > 0.001 || b.ask(retrying) > 50 {
		t.Errorf("not recovered after %s: %+v", b.Clock().Now().Sub(began), m)
	}
	if m.processes != 240 {
		t.Errorf("%v processes: operators added clients although controls were set", m.processes)
	}
	if took := b.Clock().Now().Sub(began); took > 4*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// A protection alone does not warm, and a release without protection kills: each
// control does its own part.
func TestControls(t *testing.T) {
	tests := []struct {
		name     string
		controls map[string]string
		query    string
		atLeast  float64
		atMost   float64
	}{
		{"admission alone stops the queue", map[string]string{"origin.admission": "3200"}, queueAge, 0, 0.5},
		{"admission above the knee does not", map[string]string{"origin.admission": "8000"}, queueAge, 1, 9},
		{"no bypass", map[string]string{"origin.bypass": "off"}, `sum(rate(catalog_coalesced_followers_total{result="released"}[5s]))`, 0, 0},
		{"no retries", map[string]string{"retries.budget": "0"}, retrying, 0, 0},
		{"no jobs", map[string]string{"jobs.background": "off"}, `sum(rate(catalog_origin_attempts_total{source="background"}[5s]))`, 0, 0},
		{"not routed", map[string]string{"routing.cell-c": "0"}, `sum(rate(catalog_cache_attempts_total{cell="cell-c"}[5s]))`, 0, 0},
		{"half routed", map[string]string{"routing.cell-c": "50", "retries.budget": "0"}, `sum(rate(catalog_cache_attempts_total{cell="cell-c"}[5s]))`, 17_000, 19_000},
		{"routing does not change where reads live", map[string]string{"routing.cell-c": "0"}, `sum(rate(catalog_cell_reads_total{cell="cell-c"}[5s]))`, 35_900, 36_100},
		{"stale copies", map[string]string{"routing.cell-c": "0", "stale.product-detail": "120"}, staleShare, 0.29, 0.31},
		{"too old a window is a violation", map[string]string{"routing.cell-c": "0", "stale.product-detail": "300"}, `sum(catalog_stale_violations_total)`, 0, 0},
		{"leaders per cell", map[string]string{"origin.admission": "3200", "leaders.cell": "20"}, `max(catalog_refresh_leaders)`, 1, 20},
		{"leaders per region", map[string]string{"origin.admission": "3200", "leaders.region": "40"}, `sum(catalog_refresh_leaders)`, 1, 40},
		{"the local tier absorbs lookups", map[string]string{"local.ttl": "1"}, `sum(rate(catalog_cache_attempts_total[5s]))`, 50_000, 95_000},
		{"prewarm yields to live", map[string]string{"origin.admission": "400", "prewarm.rate": "3200", "prewarm.bucket": "working-set"}, `sum(rate(catalog_origin_attempts_total{source="prewarm"}[5s]))`, 0, 40},
		{"prewarm goes no deeper than its bucket", map[string]string{"origin.admission": "3200", "origin.bypass": "off", "routing.cell-c": "0", "prewarm.rate": "3200", "prewarm.bucket": "top-100"}, coverage, 0, 0.06},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{Seed: 1})
			for control, value := range tt.controls {
				b.set(control, value)
			}
			b.forward(15 * time.Second)
			if v := b.ask(tt.query); v < tt.atLeast || v > tt.atMost {
				t.Errorf("%s is %v, want from %v to %v", tt.query, v, tt.atLeast, tt.atMost)
			}
			if err := b.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Copies older than the class approves are counted when they are served.
func TestStaleBeyondApproval(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	b.set("routing.cell-c", "0")
	b.set("stale.product-detail", "300")
	b.forward(2 * time.Minute)
	if v := b.ask(`catalog_stale_violations_total{class="product-detail"}`); v < 1000 {
		t.Errorf("%v violations", v)
	}
	if v := b.ask(`catalog_stale_runway_seconds{class="product-detail",quantile="0.5"}`); v < 100 || v > 300 {
		t.Errorf("the runway is %v s", v)
	}
}

// What a run adds dies with it: the reader falls back to the dead man's value.
func TestPrewarmDiesWithItsRun(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	b.protect()
	b.set("prewarm.rate", "3200")
	b.set("prewarm.bucket", "working-set")
	until := b.Clock().Now().Add(15 * time.Second).UnixMilli()
	for control, value := range map[string]string{"prewarm.rate": "3200", "prewarm.bucket": "working-set"} {
		b.do("HSET", "rewarm:{catalog}:meta", control, fmt.Sprintf(`{"version":1,"after":%q,"until":%d}`, value, until))
	}
	prewarm := `sum(rate(catalog_origin_attempts_total{source="prewarm"}[5s]))`
	b.forward(14 * time.Second)
	if v := b.ask(prewarm); v < 500 {
		t.Fatalf("prewarm goes at %v/s while its run lives", v)
	}
	b.forward(10 * time.Second)
	if v := b.ask(prewarm); v != 0 {
		t.Errorf("prewarm goes on at %v/s", v)
	}
}

// A flip is obeyed by one process after the other, and the version says by how many.
func TestFlipsSpread(t *testing.T) {
	b := newBench(t, Options{Seed: 1, ScrapeEvery: 100 * time.Millisecond})
	b.set("origin.admission", "3200")
	b.do("SET", "rewarm:{catalog}:version", "1")
	share := `count(rewarm_controls_version{service="catalog"} >= 1) / count(rewarm_controls_version)`
	b.forward(500 * time.Millisecond)
	if v := b.ask(share); v < 0.2 || v > 0.8 {
		t.Errorf("after half a second %v of the processes obey", v)
	}
	b.forward(700 * time.Millisecond)
	if v := b.ask(share); v != 1 {
		t.Errorf("after 1.2 s %v of the processes obey", v)
	}
}

//go:build !race

package lab

import (
	"testing"
	"time"
)

// crawled is a service of which a tenth of the reads ask for keys that do not exist.
func crawled(t *testing.T, ttl string, events ...Event) *model {
	t.Helper()
	story := &Scenario{Events: append([]Event{{At: launch, Kind: Crawl, Share: 0.1, Keys: 3000}}, events...)}
	s := newPaper()
	s.set("negative.ttl", ttl)
	s.set("origin.admission", "20000")
	m := newModel(small(), story, 1, launch-time.Second)
	m.fleet.start(from(s))
	for m.time() < launch+30*time.Second {
		m.step(from(s))
		if err := m.check(); err != nil {
			t.Fatalf("at %s: %v", clockTime(m.time()), err)
		}
	}
	return m
}

// A read of a key that does not exist asks the origin every time, unless the
// answer is cached: then each key is asked for once in the life of its answer.
func TestDenialsAreCached(t *testing.T) {
	lookUps := func(m *model) (asked, denied int) {
		for _, c := range m.cells {
			denied += c.denials
		}
		return m.sources[live], denied
	}
	asked, denied := lookUps(crawled(t, "0"))
	if asked < 100_000 || denied != 0 {
		t.Errorf("without a cache the origin is asked %d times in 30 s, and the cache denies %d", asked, denied)
	}
	m := crawled(t, "10")
	if asked, denied := lookUps(m); asked > 20_000 || denied < 300_000 {
		t.Errorf("with 10 s the origin is asked %d times in 30 s, and the cache denies %d", asked, denied)
	}
	if n := m.outcomes[negative]; n < 340_000 || n > 362_000 {
		t.Errorf("%d reads are told that there is no such key, of 12,000/s", n)
	}
}

// A product that is created meanwhile is known at once where its invalidation
// arrives, and denied until the answer's life ends where it does not. Such answers
// are counted as outdated ones.
func TestCreatedProductsAreDenied(t *testing.T) {
	created := Event{At: launch + 15*time.Second, Kind: CreateProducts, Keys: 1000}
	if m := crawled(t, "10", created); m.unmarked != 0 || m.removed[singleEdit] < 900 {
		t.Errorf("%d reads are denied a product that exists, after %d invalidations", m.unmarked, m.removed[singleEdit])
	}
	deaf := Event{At: launch + 14*time.Second, Kind: LoseInvalidations, Over: 10 * time.Second}
	m := crawled(t, "10", deaf, created)
	if m.unmarked < 10_000 {
		t.Errorf("%d reads are denied a product that exists", m.unmarked)
	}
	keys, wrong := 0, 0
	for _, c := range m.cells {
		keys += c.groups[unknownRank].keys
		wrong += c.groups[unknownRank].outdated
	}
	if wrong > 0 || keys > 2100 || keys < 1990 {
		t.Errorf("15 s later, %d keys of 3,000 are still unknown, and %d products are denied", keys, wrong)
	}
}

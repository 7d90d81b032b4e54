package lab

import "math"

// A product can have several values: one for each locale, authorization class and
// freshness mode in which it is asked for. A refresh is shared by the reads of one
// value while coalescing.identity is full. With key it is shared by all reads of
// the product: that takes fewer leaders, and hands readers a value that is not
// theirs, also one from before an edit. Such an answer is a failure.

// identities are what coalescing goes by, the safe one first.
var identities = []string{"full", "key"}

// The parts of an identity, the graver first.
const (
	authorization = iota
	freshness
	locale
	version
	identityParts
)

var partNames = [identityParts]string{"authorization", "freshness", "locale", "version"}

// variety is in how many ways the products of a group are asked for.
type variety [version]int

func (v variety) values() int {
	n := 1
	for _, ways := range v {
		n *= max(1, ways)
	}
	return n
}

// vary lets products down to a popularity be asked for in several ways. The new
// values are as warm as the old ones.
func (m *model) vary(e *Event) {
	ways := variety{authorization: e.Classes, freshness: e.Modes, locale: e.Locales}
	for _, c := range m.cells {
		for _, g := range c.groups[:groupsOf(depthOf(e.Bucket))] {
			before, warmth := g.keys, ratio(g.warm(), g.keys)
			g.variety = ways
			m.fit(g)
			if added := g.keys - before; added > 0 {
				warm := int(math.Round(warmth * float64(added)))
				g.bare -= warm
				g.renew(warm, m.second(), *g.life, m.random)
			}
		}
	}
}

// fit makes a group hold one key for each of its values and shadows; added ones
// have no value yet.
func (m *model) fit(g *group) {
	want := g.products * g.variety.values() * m.shadows(g)
	if want >= g.keys {
		g.grow(want - g.keys)
		return
	}
	before := g.warm()
	g.discard(g.keys-want, m.random)
	g.shrink(before)
}

// discard takes n keys out for good, whatever they hold; those without a value first.
func (p *pool) discard(n int, random dice) {
	gone := min(n, p.bare)
	p.bare -= gone
	gone += p.lapsed.takeOld(n - gone)
	gone += p.lapsed.takeYoung(n - gone)
	gone += p.takeWarm(n-gone, random)
	p.keys -= gone
}

// refreshable is how many refreshes of n keys can be told apart by coalescing.
func (m *model) refreshable(g *group, n int) int {
	if m.orders.byKey == 0 || n == 0 {
		return n
	}
	values := g.variety.values()
	if values == 1 {
		return n
	}
	return max(1, int(float64(n)*(1-m.orders.byKey+m.orders.byKey/float64(values))))
}

// misanswer hands a share of the followers that are left the value of a leader
// which asked for another: for another reader, or before an edit.
func (m *model) misanswer(g *group, share, revoked float64) {
	if m.orders.byKey == 0 || g.following == 0 {
		return
	}
	values := float64(g.variety.values())
	others := min(1, share*values) - share
	wrong := m.orders.byKey * others
	outdated := m.orders.byKey * min(1-share-others, revoked*values)
	if left := 1 - share; left > 0 && wrong+outdated > 0 {
		n := m.dismiss(g, (wrong+outdated)/left)
		m.mistake(g, n, outdated/(wrong+outdated))
	}
}

// mistake counts n reads that were handed a value that is not theirs by what is
// wrong with it, the gravest alone.
func (m *model) mistake(g *group, n int, outdated float64) {
	m.end(failed, n)
	k := g.mixedParts[version].split(n, outdated)
	m.mixed[version] += k
	n -= k
	same, all := 1.0, 1-1/float64(g.variety.values())
	for part, ways := range g.variety {
		alike := same / float64(max(1, ways))
		k := n
		if part < locale {
			k = min(n, g.mixedParts[part].split(n, ratioOf(same-alike, all)))
		}
		m.mixed[part] += k
		n -= k
		all -= same - alike
		same = alike
	}
}

// ratioOf is a/b up to 1, and 0 where there is no b.
func ratioOf(a, b float64) float64 {
	if b <= 0 {
		return 0
	}
	return min(1, a/b)
}

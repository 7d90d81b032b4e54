package lab

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// A 25th node takes a 25th of the keys, from nearly all the others; modulo moves 96 %.
func TestRingMovesLittle(t *testing.T) {
	const keys = 100_000
	before, after := newRing(24, catalog.RingPoints), newRing(24, catalog.RingPoints)
	after.join(24, catalog.RingPoints)
	moved, modulo := 0, 0
	losers := map[int]bool{}
	for i := range keys {
		h := hashOf("product:" + strconv.Itoa(i))
		if was, is := before.owner(h), after.owner(h); was != is {
			moved++
			losers[was] = true
			if is != 24 {
				t.Fatalf("key %d moved from node %d to node %d, which is not new", i, was, is)
			}
		}
		if h%24 != h%25 {
			modulo++
		}
	}
	if part := float64(moved) / keys; math.Abs(part-1.0/25) > 0.008 {
		t.Errorf("%.3f of the keys move, not about 1/25", part)
	}
	if part := float64(modulo) / keys; math.Abs(part-0.96) > 0.005 {
		t.Errorf("by modulo %.3f of the keys move, not about 0.96", part)
	}
	if len(losers) < 20 {
		t.Errorf("the keys come from %d of 24 nodes", len(losers))
	}
}

// Every node holds about its share, and the shares are all there is.
func TestRingShares(t *testing.T) {
	sum := 0.0
	for node, part := range newRing(24, catalog.RingPoints).shares(24) {
		sum += part
		if part < 0.6/24 || part > 1.5/24 {
			t.Errorf("node %d holds %.4f", node, part)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares add up to %v", sum)
	}
}

// When a key's node is gone, its keys go to the next of its owners and no others move.
func TestRingOwners(t *testing.T) {
	r := newRing(6, 50)
	for i := range 1000 {
		h := hashOf(strconv.Itoa(i))
		owners := r.owners(h, 3)
		if len(owners) != 3 || owners[0] != r.owner(h) {
			t.Fatalf("owners %v of a key of node %d", owners, r.owner(h))
		}
		without := &ring{points: slices.DeleteFunc(slices.Clone(r.points), func(p point) bool { return p.node == owners[0] })}
		if heir := without.owner(h); heir != owners[1] {
			t.Fatalf("after node %d comes node %d, not %d", owners[0], heir, owners[1])
		}
	}
}

package lab

import (
	"hash/fnv"
	"slices"
	"strconv"
)

// ring places keys on nodes by consistent hashing: every node stands at many
// points, and a key lies on the node whose point comes next. A node that joins
// takes a little from all the others; by hash modulo the number of nodes nearly
// every key would move.
type ring struct {
	points []point
}

type point struct {
	hash uint64
	node int
}

// newRing is a ring of so many nodes, each at so many points.
func newRing(nodes, points int) *ring {
	r := &ring{}
	for node := range nodes {
		r.join(node, points)
	}
	return r
}

// join adds a node.
func (r *ring) join(node, points int) {
	for i := range points {
		r.points = append(r.points, point{hashOf("node-" + strconv.Itoa(node) + "#" + strconv.Itoa(i)), node})
	}
	slices.SortFunc(r.points, func(a, b point) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return a.node - b.node
	})
}

// owner is the node that holds a key.
func (r *ring) owner(hash uint64) int { return r.points[r.next(hash)].node }

func (r *ring) next(hash uint64) int {
	i, _ := slices.BinarySearchFunc(r.points, hash, func(p point, h uint64) int {
		if p.hash < h {
			return -1
		}
		return 1
	})
	return i % len(r.points)
}

// owners are the first n different nodes from a key on: its node, and those that
// hold its copies or take it over when the node before is gone.
func (r *ring) owners(hash uint64, n int) []int {
	var found []int
	start := r.next(hash)
	for i := range r.points {
		if node := r.points[(start+i)%len(r.points)].node; !slices.Contains(found, node) {
			found = append(found, node)
		}
		if len(found) == n {
			break
		}
	}
	return found
}

// shares is the part of the hash's range that each node holds.
func (r *ring) shares(nodes int) []float64 {
	parts := make([]float64, nodes)
	last := r.points[len(r.points)-1].hash
	for _, p := range r.points {
		parts[p.node] += float64(p.hash-last) / (1 << 64) // wraps at the first
		last = p.hash
	}
	return parts
}

// hashOf is a key's place.
func hashOf(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	x := h.Sum64() // spread once more: FNV of short texts that differ at the end is uneven
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

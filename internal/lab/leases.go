package lab

// A refresh holds a lease on its key: a token that comes with the first miss. An
// invalidation revokes it, so that an answer which was read before the edit is not
// filled in after it. Answers that come after their client has gone hold no lease
// either; they are counted as late and warm nothing.

// revoke takes the leases of refreshes on their way for n keys that are edited.
func (g *group) revoke(n int) {
	on := g.earlyLeaders + g.coldLeaders
	if on == 0 || n == 0 {
		return
	}
	g.revoked = min(on, g.revoked+g.revokedPart.split(on, ratio(min(n, g.keys), g.keys)))
}

// refuseFills is how many of n answers come with a revoked lease.
func (m *model) refuseFills(g *group, n, onTheWay int) int {
	if g.revoked == 0 {
		return 0
	}
	k := min(g.revoked, n, (g.revoked*n+onTheWay-1)/max(1, onTheWay))
	g.revoked -= k
	m.unfilled += k
	return k
}

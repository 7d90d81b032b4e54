package runbook

import (
	"slices"
	"strings"
)

func (l *linter) exitMissing() {
	if len(l.d.Exit.When) == 0 {
		l.report(Position{1, 1}, nil, "the runbook has no exit")
	}
}

// recoverySign is one of the four that an exit on a hit ratio has to watch too.
type recoverySign struct {
	name  string
	words []string
}

var recoverySigns = []recoverySign{
	{"the backlog", []string{"backlog", "queue", "queues", "queued", "pending", "waiting"}},
	{"retries", []string{"retry", "retries", "retrying", "retried"}},
	{"demand on the origin", []string{"demand", "offered", "attempts", "attempt", "admitted", "arrivals", "load"}},
	{"stale copies", staleWords},
}

var staleWords = []string{"stale"}

// lostWords are those of reads that get no answer.
var lostWords = []string{"rejected", "rejections", "refused", "refusals", "shed", "unserved", "unavailable", "error",
	"errors", "failed", "failures", "5xx"}

// ExitOnStale gives the bounds of the exit that watch stale copies, by the names and queries of their probes; none when
// the exit does not look at them.
func (d *Document) ExitOnStale() Gate { return d.exitOn(staleWords) }

// ExitOnLost gives the bounds of the exit that watch what readers are refused and what fails, by the names and queries
// of their probes; none when the exit does not look at it.
func (d *Document) ExitOnLost() Gate { return d.exitOn(lostWords) }

// exitOn gives the groups of the exit of which a probe mentions one of the words.
func (d *Document) exitOn(words []string) Gate {
	return slices.DeleteFunc(slices.Clone(d.Exit.When), func(group Group) bool {
		return !slices.ContainsFunc(group, func(b Bound) bool {
			p := d.Probe(b.Probe)
			return p != nil && mentions(p.Name+" "+p.Query, words...)
		})
	})
}

// exitOnHitRatio finds an exit that a hit ratio can open while a sign of recovery
// that it hides goes unwatched.
func (l *linter) exitOnHitRatio() {
	onRatio, others := l.exitProbes()
	if len(onRatio) == 0 {
		return
	}
	if len(others) == 0 {
		l.report(l.d.Exit.Pos, l.d.Exit.Waive, "the exit only looks at hits and misses")
		return
	}
	var missing []string
	for _, sign := range recoverySigns {
		seen := func(p *Probe) bool { return mentions(p.Name+" "+p.Query, sign.words...) }
		if !slices.ContainsFunc(others, seen) {
			missing = append(missing, sign.name)
		}
	}
	if len(missing) > 0 {
		l.report(l.d.Exit.Pos, l.d.Exit.Waive, "the exit looks at hits and misses, and not at %s", alternatives(missing))
	}
}

// exitProbes tells the exit's probes of hits and misses from all others. Misses a
// second are demand, unless nothing else is looked at.
func (l *linter) exitProbes() (onRatio, others []*Probe) {
	shares := false
	for _, b := range placed(l.d.Exit.When, nil) {
		p := l.d.Probe(b.Probe)
		if mentions(p.Name+" "+p.Query, "hit", "hits", "miss", "misses") {
			shares = shares || !strings.HasSuffix(p.Unit, "/s")
			onRatio = append(onRatio, p)
		} else {
			others = append(others, p)
		}
	}
	if len(others) > 0 && !shares {
		return nil, others
	}
	return onRatio, others
}

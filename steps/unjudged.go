package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// unjudged holds for guards that could not be judged for longer than stale_after: once
// for a guard whose reason is its own, and once for all that share a reason, as when
// Prometheus is away. While such a hold is on, it speaks for every guard.
func (n *next) unjudged() Move {
	if n.s.hold(causeMetrics) != nil {
		return nil
	}
	overdue := slices.DeleteFunc(n.s.blindGuards(), func(g *runbook.Guard) bool {
		return n.now.Sub(n.s.track(n.s.guardWatch(g)).sinceWhen()) < n.doc.Defaults.StaleAfter
	})
	for _, g := range overdue {
		if alone := n.s.sameReason(g, overdue) == 1; alone {
			return n.heldUnjudged(causeUnknown(g.Name), g)
		}
	}
	if len(overdue) == 0 {
		return nil
	}
	return n.heldUnjudged(causeMetrics, overdue...)
}

func (n *next) heldUnjudged(cause string, guards ...*runbook.Guard) Move {
	findings := n.s.track(n.s.guardWatch(guards[0])).last.judgement().Findings
	about := "it lifts when the metrics are back" + readingHint(findings)
	return n.heldBy(cause, n.s.unjudgedSentence(guards), about, readingWords(findings)...)
}

// blindGuards gives the guards that cannot be judged now and have no hold of their own
// for that.
func (s *State) blindGuards() []*runbook.Guard {
	var blind []*runbook.Guard
	for i := range s.Doc.Guards {
		g := &s.Doc.Guards[i]
		if s.guarding(g) && s.track(s.guardWatch(g)).unknown > 0 && s.hold(causeUnknown(g.Name)) == nil {
			blind = append(blind, g)
		}
	}
	return blind
}

// unknownOf gives the first finding of a guard that is not known.
func (s *State) unknownOf(g *runbook.Guard) probes.Finding {
	for _, f := range s.track(s.guardWatch(g)).last.judgement().Findings {
		if f.Verdict == probes.Unknown {
			return f
		}
	}
	return probes.Finding{}
}

// sameReason counts the guards that cannot be judged for the reason of this one.
func (s *State) sameReason(g *runbook.Guard, guards []*runbook.Guard) int {
	count := 0
	for _, other := range guards {
		if s.unknownOf(other).Reason == s.unknownOf(g).Reason {
			count++
		}
	}
	return count
}

// unjudgedSentence says why guards cannot be judged: each reason once, then whom it keeps
// from being judged.
func (s *State) unjudgedSentence(guards []*runbook.Guard) string {
	if len(guards) == 1 {
		g := guards[0]
		return fmt.Sprintf("%s cannot be judged: %s", g.Name, sentences(s.track(s.guardWatch(g)).last.judgement()))
	}
	var names, reasons []string
	for _, g := range guards {
		names = append(names, g.Name)
		f := s.unknownOf(g)
		if reason := strings.TrimPrefix(f.Sentence, f.Probe+" unknown: "); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return fmt.Sprintf("%d guards cannot be judged: %s (%s)", len(guards), strings.Join(reasons, "; "),
		strings.Join(names, ", "))
}

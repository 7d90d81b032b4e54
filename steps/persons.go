package steps

import (
	"fmt"
	"slices"
	"strings"
)

// nobody is the user of Redis that is anybody.
const nobody = "default"

// approve gives the approval that was named by its digest, if it is on offer now.
func (m *Machine) approve(o Order) error {
	q := m.Question()
	for _, offer := range q.Offers {
		if len(o.Digest) < shortestDigest || !strings.HasPrefix(offer.Digest, strings.ToLower(o.Digest)) {
			continue
		}
		if refused := m.state.refuseApproval(o, q, offer); refused != nil {
			return refused
		}
		how := HowTyped
		if o.Origin != nil {
			how = HowSent
		}
		return m.by(o, KindApproved, &Approved{Scope: offer.Scope, Digest: offer.Digest, Step: q.Step, By: o.By, How: how,
			Covers: offer.Covers})
	}
	if r := m.state.ReadingNamed(o.Digest, m.c.Clock.Now()); r != nil {
		return m.confirmReading(o, r)
	}
	return m.state.notOnOffer(o.Digest, q)
}

// shortestDigest is how many hex digits name a plan.
const shortestDigest = 8

func shortOf(digest string) string { return digest[:min(shortestDigest, len(digest))] }

// refuseApproval says why somebody cannot approve what waits, nil when they can.
func (s *State) refuseApproval(o Order, q Question, offer Offer) *RefusedOrder {
	proven := o.Origin != nil && o.Origin.Proof != ""
	switch {
	case proven && strings.EqualFold(o.By, nobody):
		return &RefusedOrder{Sentence: "the redis user default is nobody in particular",
			Hint: "approve under a user of your own, see docs/controls.md"}
	case !q.Two:
		return nil
	case o.Origin != nil && !proven:
		return &RefusedOrder{Sentence: "where two persons are needed, an approval from elsewhere has to lie where only its user may write",
			Hint: "rewarm approve puts it there"}
	}
	for _, a := range s.approvals {
		if a.Void || a.Digest != offer.Digest || !slices.Contains(q.Given, a.By) || !s.samePerson(a.By, o.By) {
			continue
		}
		if strings.EqualFold(a.By, o.By) {
			return &RefusedOrder{Sentence: fmt.Sprintf("%s has approved this already, and it takes two persons", o.By),
				Hint: secondPerson(s.Begun.Run, offer.Digest)}
		}
		return &RefusedOrder{Sentence: fmt.Sprintf("%s walks this run, as %s does who has approved: it takes another person",
			o.By, a.By), Hint: secondPerson(s.Begun.Run, offer.Digest)}
	}
	return nil
}

// secondPerson is what somebody else types.
func secondPerson(run, digest string) string {
	return fmt.Sprintf("somebody else, under a redis user of their own: rewarm approve %s %s", run, shortOf(digest))
}

// notOnOffer says why a digest cannot be approved now, and which can.
func (s *State) notOnOffer(digest string, q Question) *RefusedOrder {
	refused := s.whyNotOnOffer(digest)
	if waits := q.offered(); waits != "" {
		refused.Hint = "what waits now: " + waits
	}
	return refused
}

// offered lists the approvals that can be given, as they are named from elsewhere; "" for none.
func (q Question) offered() string {
	var named []string
	for i, offer := range q.Offers {
		what := q.Step
		if i > 0 {
			what = strings.TrimPrefix(offer.Word, "approve ")
		}
		named = append(named, offer.Short()+" ("+what+")")
	}
	return strings.Join(named, ", ")
}

// whyNotOnOffer tells too early, too late and not known apart.
func (s *State) whyNotOnOffer(digest string) *RefusedOrder {
	named := func(whole string) bool {
		return len(digest) >= shortestDigest && strings.HasPrefix(whole, strings.ToLower(digest))
	}
	for _, a := range slices.Backward(s.approvals) {
		if named(a.Digest) && !a.Void {
			return &RefusedOrder{Sentence: fmt.Sprintf("%s has approved that of %s already", a.By, a.Step),
				Hint: "it counts as long as its gate stays green; the log says what followed"}
		}
	}
	for _, p := range s.plans {
		if named(p.Digest) {
			return &RefusedOrder{Sentence: fmt.Sprintf("the plan of %s does not wait for an approval now", p.Target.Step),
				Hint: "it can be approved once its gate is green and nothing holds"}
		}
	}
	if slices.ContainsFunc(s.approvals, func(a *ApprovalState) bool { return named(a.Digest) }) {
		return &RefusedOrder{Sentence: "its approval is void: its gate, its control or its ladder has changed since",
			Hint: "approve the plan that is shown now"}
	}
	return &RefusedOrder{Sentence: fmt.Sprintf("nothing with digest %q waits for an approval now", digest),
		Hint: "a plan is approved while its gate is green, and has another digest when its control has moved; at least 8 hex digits"}
}

// twoPersons reports whether two persons have approved: one of them where only they may
// write, and not one who walks this run. Whoever started it, resumed it, or is the user
// under which it goes to Redis is one person, and auto is none.
func (s *State) twoPersons(given []*ApprovalState) bool {
	for _, second := range given {
		if second.Origin == nil || second.Origin.Proof == "" || s.walks(second.By) {
			continue
		}
		if slices.ContainsFunc(given, func(a *ApprovalState) bool { return a.How != HowAuto && !s.samePerson(a.By, second.By) }) {
			return true
		}
	}
	return false
}

// walks reports whether a name is of somebody whose process has walked this run.
func (s *State) walks(name string) bool {
	return slices.ContainsFunc(s.walkers, func(walker string) bool { return walker != "" && strings.EqualFold(walker, name) })
}

func (s *State) samePerson(a, b string) bool {
	return strings.EqualFold(a, b) || s.walks(a) && s.walks(b)
}

// personsOf names who has approved, each once.
func personsOf(given []*ApprovalState) []string {
	var names []string
	for _, a := range given {
		if a.How != HowAuto && !slices.Contains(names, a.By) {
			names = append(names, a.By)
		}
	}
	return names
}

func waitsFor(q Question) string {
	switch {
	case !q.Two:
		return " waits for an approval"
	case len(q.Given) == 0:
		return " waits for the approvals of two persons"
	}
	return " waits for a second person; approved by " + strings.Join(q.Given, ", ")
}

package diagnosis

import (
	"slices"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Asks lists what must be asked for a diagnosis by these rules, each once.
func Asks(rules *runbook.Diagnosis) []probes.Ask {
	var all runbook.Gate
	if rules.History != "" {
		all = append(all, runbook.Group{{Probe: rules.History}})
	}
	for _, q := range rules.Questions {
		all = append(append(all, q.When...), q.Yes...)
	}
	for _, m := range rules.Modes {
		for _, sign := range slices.Concat(m.Needs, m.Supports, m.Against, variantSigns(m)) {
			all = append(all, sign.When...)
		}
	}
	for _, p := range rules.Pictures {
		for _, sign := range slices.Concat(p.Needs, p.Supports) {
			all = append(all, sign.When...)
		}
	}
	return probes.Asks(rules.Document(), all, "", "")
}

// Of judges one observation by the rules. Samples older than staleAfter are not looked at.
func Of(rules *runbook.Diagnosis, seen probes.Observation, staleAfter time.Duration) *Report {
	s := sight{probes.Situation{StaleAfter: staleAfter, Answer: seen.Answer, Probe: rules.Document().Probe}, rules.History}
	r := &Report{At: seen.At}
	if seen.Reason != "" {
		r.Trouble = append(r.Trouble, seen.Detail)
	}
	for _, q := range rules.Questions {
		r.Questions = append(r.Questions, question(q, s))
	}
	for _, m := range rules.Modes {
		e, verdict := weigh(m.Needs, slices.Concat(m.Supports, variantSigns(m)), m.Against, s)
		r.Modes = append(r.Modes, Mode{Mode: m.Mode, About: m.About, Verdict: verdict, Evidence: e, Checks: m.Checks,
			Runbook: fitting(m, s)})
	}
	for _, p := range rules.Pictures {
		e, verdict := weigh(p.Needs, p.Supports, nil, s)
		seen := Picture{Picture: p.Name, About: p.About, Verdict: verdict, Evidence: e, Advice: p.Advice, Checks: p.Checks}
		for _, a := range p.Avoid {
			seen.Avoid = append(seen.Avoid, Avoid(a))
		}
		r.Pictures = append(r.Pictures, seen)
	}
	slices.SortStableFunc(r.Modes, func(a, b Mode) int { return rank(a.Verdict) - rank(b.Verdict) })
	return r
}

func variantSigns(m runbook.ModeRule) []runbook.Sign {
	var signs []runbook.Sign
	for _, v := range m.Variants {
		signs = append(signs, v.Sign)
	}
	return signs
}

// fitting is the runbook of the first variant that is seen, or that of the mode.
func fitting(m runbook.ModeRule, s sight) string {
	for _, v := range m.Variants {
		if _, verdict := s.judge(v.Sign); verdict == probes.Pass {
			return v.Runbook
		}
	}
	return m.Runbook
}

func rank(v Verdict) int { return slices.Index([]Verdict{Likely, Possible, Unknown, Unlikely}, v) }

// weigh judges every sign and draws the conclusion.
func weigh(needs, supports, against []runbook.Sign, s sight) (Evidence, Verdict) {
	var e Evidence
	passed, refuted := 0, false
	for _, sign := range needs {
		switch said, verdict := s.judge(sign); verdict {
		case probes.Pass:
			passed++
			e.For = append(e.For, said)
		case probes.Fail:
			refuted = true
			said.Says = "it is not so that " + said.Says
			e.Against = append(e.Against, said)
		default:
			e.Missing = append(e.Missing, said)
		}
	}
	supported := e.support(supports, s)
	refuted = e.contradict(against, s) || refuted
	return e, conclude(refuted, passed == len(needs) && passed > 0, passed > 0 || supported)
}

func conclude(refuted, complete, something bool) Verdict {
	switch {
	case refuted:
		return Unlikely
	case complete:
		return Likely
	case something:
		return Possible
	}
	return Unknown
}

// support judges signs that speak for something when they pass, and say nothing when
// they fail.
func (e *Evidence) support(signs []runbook.Sign, s sight) (found bool) {
	for _, sign := range signs {
		switch said, verdict := s.judge(sign); verdict {
		case probes.Pass:
			found = true
			e.For = append(e.For, said)
		case probes.Unknown:
			e.Missing = append(e.Missing, said)
		}
	}
	return found
}

// contradict judges signs that stand against something when they pass.
func (e *Evidence) contradict(signs []runbook.Sign, s sight) (found bool) {
	for _, sign := range signs {
		switch said, verdict := s.judge(sign); verdict {
		case probes.Pass:
			found = true
			e.Against = append(e.Against, said)
		case probes.Unknown:
			e.Missing = append(e.Missing, said)
		}
	}
	return found
}

// question answers what the signals can answer. Without a gate, or with one that is
// unknown, a person has to.
func question(q runbook.Question, s sight) Question {
	asked := Question{Question: q.Ask, Why: q.Why, Then: q.Then, Answer: Ask}
	if q.When != nil {
		verdict, readings := s.read(q.When)
		asked.Readings = readings
		if verdict == probes.Fail {
			asked.Answer = NotArising
			return asked
		}
	}
	if q.Yes != nil {
		verdict, readings := s.read(q.Yes)
		asked.Readings = append(asked.Readings, readings...)
		switch verdict {
		case probes.Pass:
			asked.Answer = Yes
		case probes.Fail:
			asked.Answer = No
		}
	}
	return asked
}

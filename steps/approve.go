package steps

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
)

func (a *ApprovalState) covers(control string) bool {
	return slices.ContainsFunc(a.Covers, func(c Change) bool { return c.Control == control })
}

// asksApproval reports whether a plan waits for a word that nobody has given; then the
// question is put.
func (n *next) asksApproval(step *runbook.Step, needed runbook.Approval, p *Planned) bool {
	if needed == runbook.ApprovalNone || p.Plan.Nothing() {
		return false
	}
	green := whenever // a brake is judged once: its word counts whatever its gate says later
	if p.Plan.Direction != runbook.Protecting && !step.Stage.Protects() {
		from, to := n.s.numbers(p.Target)
		green = n.s.whenSince(step, from, to)
	}
	return n.asksApprovalOf(step, needed, p, []Change{changeOf(p.Plan)}, green)
}

// whenever is since which poll a word counts that no gate can take back.
const whenever = -1

// whenSince is the poll with which the present row of passes of a step's when began. Polls
// are counted, because clocks are set between one process and the next.
func (s *State) whenSince(step *runbook.Step, from, to string) int {
	if len(step.When) == 0 {
		return whenever
	}
	if since := s.track(s.whenWatch(step, from, to)).since; since != nil {
		return since.index
	}
	return whenever
}

// asksApprovalOf looks for the approvals that cover one change. One that was given for
// the plan alone counts only while the gate has stayed green since.
func (n *next) asksApprovalOf(
	step *runbook.Step, needed runbook.Approval, p *Planned, changes []Change, green int,
) bool {
	q, asks := n.missingApproval(step, needed, p, changes, green)
	if asks {
		n.ask(q)
		n.block(step.Name + waitsFor(q))
	}
	return asks
}

// missingApproval gives the question for the word that a change waits for, if it does.
func (n *next) missingApproval(
	step *runbook.Step, needed runbook.Approval, p *Planned, changes []Change, green int,
) (Question, bool) {
	if needed == runbook.ApprovalNone {
		return Question{}, false
	}
	digest := digestOf(changes)
	if p != nil {
		digest = p.Digest
	}
	var given []*ApprovalState
	for _, a := range n.s.approvals {
		covers := a.Scope == ScopePlan && a.Digest == digest && a.polls > green ||
			a.Scope != ScopePlan && slices.ContainsFunc(a.Covers, changes[0].same)
		if !a.Void && covers {
			given = append(given, a)
		}
	}
	two := needed == runbook.ApprovalTwo
	if !two && len(given) > 0 || two && n.s.twoPersons(given) {
		return Question{}, false
	}
	q := Question{Step: step.Name, Planned: p, Offers: n.offers(step, digest, changes), Two: two}
	if two {
		q.Given = personsOf(given)
	}
	return q, true
}

// autoApproval gives the move that a waiting approval leads to: under auto the approval
// itself, else none.
func (n *next) autoApproval() Move {
	if n.s.Approve != Auto || len(n.question.Offers) == 0 || n.question.Two {
		return nil
	}
	offer := n.question.Offers[0]
	return Write{Kind: KindApproved, Durable: true, Body: &Approved{Scope: offer.Scope, Digest: offer.Digest,
		Step: n.question.Step, By: HowAuto, How: HowAuto, Covers: offer.Covers}}
}

// offers gives the approvals that can be given for a step now: its plan, the rest of
// its ladder, and all that is left of its stage.
func (n *next) offers(step *runbook.Step, digest string, plan []Change) []Offer {
	offers := []Offer{{Scope: ScopePlan, Digest: digest, Word: "approve", Covers: plan}}
	if ladder := n.s.changesOf(step); len(ladder) > 1 && slices.ContainsFunc(ladder, plan[0].same) {
		offers = append(offers, Offer{Scope: ScopeLadder, Digest: digestOf(ladder), Word: ladderWord(step), Covers: ladder})
	}
	var stage []Change
	steps := 0
	for i := range n.doc.Stages[step.Stage-1].Steps {
		other := &n.doc.Stages[step.Stage-1].Steps[i]
		if changes := n.s.changesOf(other); len(changes) > 0 && n.s.Step(other.Name).Phase != StepDone {
			stage, steps = append(stage, changes...), steps+1
		}
	}
	if steps > 1 && slices.ContainsFunc(stage, plan[0].same) {
		offers = append(offers, Offer{Scope: ScopeStage, Digest: digestOf(stage), Word: "approve stage", Covers: stage})
	}
	return offers
}

// ladderWord names what the wider approval of a step takes along: the rungs of its
// ladder, or all that a restore still puts back.
func ladderWord(step *runbook.Step) string {
	if step.Restore != nil {
		return "approve rest"
	}
	return "approve ladder"
}

// changesOf lists what is left to release in a step: the rungs of its ladder, or the
// lifts of a restore with the calls that it takes back.
func (s *State) changesOf(step *runbook.Step) []Change {
	st := s.Step(step.Name)
	switch {
	case step.Flip != nil:
		return s.rungChanges(step, st)
	case step.Restore != nil:
		return s.liftChanges(step)
	case step.Call != nil && s.callOf(step.Name, false, false) == nil:
		return []Change{callChange(step, false)}
	}
	return nil
}

// rungChanges lists the rungs that are left, the one half way to a failed one included.
func (s *State) rungChanges(step *runbook.Step, st *StepState) []Change {
	var list []Change
	c := s.Doc.Control(step.Flip.Control)
	live, _ := s.live(c)
	want := runbook.Releasing
	if step.Stage.Protects() {
		want = runbook.Protecting
	}
	if st.Failed != nil {
		if next, more := s.nextRung(step, st, c, live); more {
			list, live = append(list, change(c, next)), next
		}
	}
	for _, rung := range rungsOf(step.Flip) {
		if c.Direction(live, rung) == want {
			list = append(list, change(c, rung))
			live = rung
		}
	}
	return list
}

func (s *State) liftChanges(step *runbook.Step) []Change {
	var list []Change
	for _, name := range s.liftOrder(step) {
		c := s.Doc.Control(name)
		live, ok := s.live(c)
		for ok {
			var to runbook.Value
			if to, ok = s.towardsSteady(c, live); ok {
				list = append(list, change(c, to))
				live = to
			}
		}
	}
	for _, called := range s.toUndo() {
		list = append(list, callChange(called, true))
	}
	return list
}

func change(c *runbook.Control, to runbook.Value) Change {
	raw := actions.Encode(to)
	return Change{Control: c.Name, After: &raw, Unit: c.Unit}
}

func changeOf(p actions.Plan) Change { return Change{Control: p.Control, After: p.After, Unit: p.Unit} }

// callChange stands for a call in a list of approved changes.
func callChange(step *runbook.Step, undo bool) Change {
	name, inv := "call "+step.Name, step.Call.Do
	if undo {
		name, inv = "undo of call "+step.Name, step.Call.Undo
	}
	text := describe(inv)
	return Change{Control: name, After: &text}
}

// describe gives an invocation in one line: its arguments as JSON, or method and URL.
func describe(inv *runbook.Invocation) string {
	if inv == nil {
		return ""
	}
	if len(inv.Args) == 0 {
		return strings.TrimSpace(inv.Method + " " + inv.URL)
	}
	text, err := json.Marshal(inv.Args)
	if err != nil {
		return strings.Join(inv.Args, " ")
	}
	return string(text)
}

func (c Change) same(other Change) bool {
	return c.Control == other.Control && equalRaw(c.After, other.After) && c.Unit == other.Unit
}

func digestOf(changes []Change) string {
	plans := make([]actions.Plan, len(changes))
	for i, c := range changes {
		plans[i] = actions.Plan{Control: c.Control, After: c.After, Unit: c.Unit}
	}
	return actions.GroupDigest(plans)
}

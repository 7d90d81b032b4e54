package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// Order follows what a person says, or refuses it with *RefusedOrder. An order that is
// followed is on disk when this returns.
func (m *Machine) Order(o Order) error {
	if m.state.Ending != "" {
		return &RefusedOrder{Sentence: fmt.Sprintf("the run is %s", m.state.Ending), Hint: "start a new run"}
	}
	o.Text = audit.Cut(strings.TrimSpace(o.Text), 4096)
	return m.follow(o)
}

func (m *Machine) follow(o Order) error {
	switch o.Kind {
	case OrderApprove:
		return m.approve(o)
	case OrderHold:
		return m.by(o, KindHeld, &Held{Cause: causePerson, By: o.By, Sentence: held(o), Can: canType("", releaseWord),
			Words: []string{releaseWord}, Costs: m.state.Costs(m.c.Clock.Now())})
	case OrderRelease:
		return m.release(o)
	case OrderAbort, OrderInterrupt:
		return m.stop(o)
	case OrderUndo:
		return m.undo(o)
	case OrderKeep:
		return m.keep(o)
	case OrderHandover:
		return m.handOver(o)
	case OrderSkip:
		return m.skip(o)
	case OrderTake:
		return m.takeSkipped(o)
	case OrderAnswer:
		return m.answer(o)
	case OrderNote:
		return m.note(o)
	case OrderDone:
		return m.done(o)
	case OrderReading:
		return m.read(o)
	case OrderAdopt, OrderPutBack:
		return m.drift(o)
	}
	return &RefusedOrder{Sentence: fmt.Sprintf("unknown order %q", o.Kind), Hint: "type help"}
}

// HoldFor holds releases for a cause that the driver knows: that nobody can be asked.
func (m *Machine) HoldFor(cause, sentence string) error {
	if m.state.hold(cause) != nil {
		return nil
	}
	return m.holdFor(cause, sentence, m.state.goOn())
}

func (m *Machine) holdFor(cause, sentence, can string) error {
	return m.hold(&Held{Cause: cause, Sentence: sentence, Can: can})
}

func (m *Machine) hold(body *Held) error {
	body.Costs = m.state.Costs(m.c.Clock.Now())
	return m.write(KindHeld, body, true)
}

func (m *Machine) by(o Order, kind Kind, body any) error {
	setOrigin(body, o.Origin)
	return m.writeAs(o.By, kind, body, true)
}

// stop ends the walk, or has it stop so that it can be resumed.
func (m *Machine) stop(o Order) error {
	if m.state.aborting != nil {
		return &RefusedOrder{Sentence: "the run is being aborted already", Hint: "it ends when nothing adds load any more"}
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: o.Kind, By: o.By, Reason: o.Text})
}

// heldByWords begins the sentence of a hold that a person has ordered.
const heldByWords = "held by "

func held(o Order) string {
	if o.Text == "" {
		return heldByWords + o.By
	}
	return heldByWords + o.By + ": " + o.Text
}

// Question is what the walk waits for a person to say at this moment.
func (m *Machine) Question() Question { return questionOf(m.state, m.c.Clock.Now()) }

// aPersonLifts reports whether a hold lifts by a person's word alone.
func aPersonLifts(cause string) bool {
	return cause == causePerson || cause == causeShift || strings.HasPrefix(cause, causeCall("")) ||
		strings.HasPrefix(cause, causeByHand("")) || strings.HasPrefix(cause, causeFailing(""))
}

// release lifts what only a person can lift.
func (m *Machine) release(o Order) error {
	var causes []string
	for _, h := range m.state.holds {
		if aPersonLifts(h.Cause) {
			causes = append(causes, h.Cause)
		}
	}
	if len(causes) == 0 {
		return &RefusedOrder{Sentence: "nothing is held by a person",
			Hint: "other holds lift when their cause has passed; what waits for a word is let go with approve"}
	}
	return m.by(o, KindHeld, &Held{Cause: causes[0], Also: causes[1:], Lifted: true, By: o.By, Sentence: released(o)})
}

func released(o Order) string {
	if o.Text == "" {
		return "released by " + o.By
	}
	return "released by " + o.By + ": " + o.Text
}

func (m *Machine) skip(o Order) error {
	step, err := m.stepNamed(o.Step)
	if err != nil {
		return err
	}
	if o.Text == "" {
		return &RefusedOrder{Sentence: "a skip needs a reason", Hint: "skip " + step.Name + " REASON"}
	}
	if refused := m.state.refuseSkip(step); refused != nil {
		return refused
	}
	return m.by(o, KindSkipped, &Skipped{Step: step.Name, Reason: o.Text, By: o.By})
}

// refuseSkip says why a step cannot be skipped now, nil when it can.
func (s *State) refuseSkip(step *runbook.Step) *RefusedOrder {
	st := s.Step(step.Name)
	switch {
	case st.Phase == StepDone && !st.Owed && s.hold(causeUndone(step.Name)) == nil:
		return &RefusedOrder{Sentence: step.Name + " is done already", Hint: "the log says how"}
	case st.Phase == "":
		return &RefusedOrder{Sentence: step.Name + " has not been reached yet", Hint: "skip it when its turn comes"}
	case s.openStep(step.Name):
		return &RefusedOrder{Sentence: "the outcome of a flip of " + step.Name + " is not known yet",
			Hint: "wait until it is settled"}
	}
	return nil
}

func (s *State) openStep(step string) bool {
	return slices.ContainsFunc(s.open, func(i *Intended) bool { return i.Target.Step == step })
}

func (m *Machine) takeSkipped(o Order) error {
	step, err := m.stepNamed(o.Step)
	if err != nil {
		return err
	}
	if flip := m.state.inForce(step); flip != nil && !m.state.Step(step.Name).Skipped {
		return &RefusedOrder{Sentence: fmt.Sprintf("%s is on since %s UTC", step.Name, flip.At.UTC().Format(time.TimeOnly)),
			Hint: "undo " + step.Name + " takes it off"}
	}
	if st := m.state.Step(step.Name); !step.Stage.Protects() || step.Flip == nil || !st.Skipped {
		return &RefusedOrder{Sentence: step.Name + " is no protecting step that was skipped", Hint: "only those can be taken"}
	}
	if loosens := m.state.wouldLoosen(step); loosens != "" {
		return &RefusedOrder{Sentence: step.Name + ": " + loosens, Hint: "what is tighter is restored once the exit holds; " +
			"to lift it sooner, abort and set it with rewarm controls set"}
	}
	return m.by(o, KindOrdered, &OrderedBody{Order: OrderTake, Step: step.Name, By: o.By, Reason: o.Text})
}

// wouldLoosen says that a control is tighter already than the last value that a brake would set, "" when it is not.
func (s *State) wouldLoosen(step *runbook.Step) string {
	c, rungs := s.Doc.Control(step.Flip.Control), rungsOf(step.Flip)
	live, known := s.live(c)
	if last := rungs[len(rungs)-1]; known && c.Direction(live, last) == runbook.Releasing {
		return tighterStays(c, c.Format(live), c.Format(last))
	}
	return ""
}

func tighterStays(c *runbook.Control, before, after string) string {
	return "it would loosen " + c.Name + " from " + before + " to " + after + "; the tighter value stays"
}

func (m *Machine) stepNamed(name string) (*runbook.Step, error) {
	if step := m.state.Doc.Step(name); step != nil {
		return step, nil
	}
	return nil, &RefusedOrder{Sentence: fmt.Sprintf("the runbook has no step %q", name),
		Hint: "steps are named as in the runbook"}
}

// answer answers a confirm; modes are given by name, separated by commas or spaces.
func (m *Machine) answer(o Order) error {
	step, err := m.stepNamed(o.Step)
	if err != nil {
		return err
	}
	c := m.state.confirms[step.Name]
	if step.Confirm == nil || c == nil || c.Answered {
		return &RefusedOrder{Sentence: step.Name + " asks nothing now", Hint: "its question may have been answered already"}
	}
	body := &ConfirmedBody{Step: step.Name, Answered: true, Answer: o.Text, By: o.By}
	if step.Confirm.Modes && o.Text != step.Confirm.Else {
		if body.Modes, err = parseModes(o.Text); err != nil {
			return err
		}
	}
	return m.by(o, KindConfirmed, body)
}

func parseModes(text string) ([]runbook.Mode, error) {
	var modes []runbook.Mode
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		mode := runbook.Mode(word)
		if !slices.Contains(runbook.Modes, mode) {
			return nil, &RefusedOrder{Sentence: fmt.Sprintf("%q is no mode", word),
				Hint: fmt.Sprintf("modes are %v", runbook.Modes)}
		}
		if !slices.Contains(modes, mode) {
			modes = append(modes, mode)
		}
	}
	return modes, nil
}

func (m *Machine) note(o Order) error {
	if o.Text == "" {
		return &RefusedOrder{Sentence: "a note needs a text", Hint: "note TEXT"}
	}
	return m.by(o, KindNoted, &Noted{By: o.By, Text: o.Text, Diagnosis: o.Diagnosis})
}

// driftsHint says how the word is typed for what somebody else has loosened.
func (s *State) driftsHint(word OrderKind) string {
	if len(s.drifts) == 0 {
		return "nothing that somebody else has loosened waits for a word"
	}
	var typed []string
	for _, control := range slices.Sorted(maps.Keys(s.drifts)) {
		typed = append(typed, string(word)+" "+control)
	}
	return "type " + listed(typed)
}

// drift agrees on a value that somebody else wrote: adopt it, or put ours back.
func (m *Machine) drift(o Order) error {
	d := m.state.drifts[o.Step]
	if d == nil {
		return &RefusedOrder{Sentence: fmt.Sprintf("no drift of %q holds releases", o.Step), Hint: m.state.driftsHint(o.Kind)}
	}
	if !equalRaw(m.state.Control(o.Step).Raw, d.Found) {
		return &RefusedOrder{Sentence: o.Step + " has changed again since it was found at " + shown(d.Found),
			Hint: "wait until the new value is judged"}
	}
	body := *d
	body.Decision = DriftAdopted
	if o.Kind == OrderPutBack {
		body.Decision = DriftPutBack
	}
	return m.by(o, KindDrifted, &body)
}

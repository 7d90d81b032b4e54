package steps

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rewarm/rewarm/runbook"
)

// Choice is what it does to declare a mode: which of the steps that are for certain modes are taken, and which are
// left out, in walk order.
type Choice struct{ Takes, Skips []string }

// String is "" where a runbook makes no difference between modes.
func (c Choice) String() string {
	var parts []string
	if len(c.Takes) > 0 {
		parts = append(parts, "takes "+strings.Join(c.Takes, ", "))
	}
	if len(c.Skips) > 0 {
		parts = append(parts, "skips "+strings.Join(c.Skips, ", "))
	}
	return strings.Join(parts, " and ")
}

// ChoiceOf says what declaring these modes takes and leaves out; without any nothing is declared.
func ChoiceOf(doc *runbook.Document, declared ...runbook.Mode) Choice {
	var c Choice
	for step := range doc.Steps() {
		switch {
		case len(step.Modes) == 0:
		case isFor(step, declared):
			c.Takes = append(c.Takes, step.Name)
		default:
			c.Skips = append(c.Skips, step.Name)
		}
	}
	return c
}

// First gives the ways out that come before any mode, as long as no mode is declared and nothing is routed back.
func (s *State) First() []WayOut {
	if s.diagnosed == nil || len(s.Modes) > 0 || s.Stage >= runbook.Observe || s.Recovered != nil || s.Ending != "" {
		return nil
	}
	return s.diagnosed.Diagnosis.First
}

// BrakesGoOn is what a person is told who is asked after the modes: only steps that are for certain modes wait.
const BrakesGoOn = "brakes for every mode do not wait"

// Declared says which modes were declared, or that none was; "" as long as that is open, and where a runbook does not
// ask for them.
func (s *State) Declared() string {
	for step := range s.Doc.Steps() {
		switch {
		case step.Confirm == nil || !step.Confirm.Modes || !s.decided(step):
		case len(s.Modes) == 0:
			return "no mode declared"
		case len(s.Modes) == 1:
			return "mode " + string(s.Modes[0])
		default:
			names := make([]string, len(s.Modes))
			for i, mode := range s.Modes {
				names[i] = string(mode)
			}
			return "modes " + strings.Join(names, ", ")
		}
	}
	return ""
}

// decided reports whether a question was answered, or is not asked any more.
func (s *State) decided(step *runbook.Step) bool {
	c, st := s.confirms[step.Name], s.steps[step.Name]
	return c != nil && c.Answered || st != nil && st.Phase == StepDone
}

// DeclaredBriefly is Declared with the numbers of the modes, for where there is no room for their names.
func (s *State) DeclaredBriefly() string {
	if len(s.Modes) == 0 {
		return s.Declared()
	}
	numbers := make([]string, len(s.Modes))
	for i, mode := range s.Modes {
		numbers[i] = strconv.Itoa(slices.Index(runbook.Modes, mode) + 1)
	}
	return "modes " + strings.Join(numbers, ",")
}

// ChoicesText says it for each mode, by the number that a person types, and for an answer that declares none; modes
// that do the same stand together. It is "" where a runbook makes no difference between modes.
func ChoicesText(doc *runbook.Document) string {
	var choices []string
	answers := map[string][]string{}
	add := func(answer string, choice Choice) {
		text := choice.String()
		if !slices.Contains(choices, text) {
			choices = append(choices, text)
		}
		answers[text] = append(answers[text], answer)
	}
	for i, mode := range runbook.Modes {
		add(strconv.Itoa(i+1), ChoiceOf(doc, mode))
	}
	add("none", ChoiceOf(doc))
	var parts []string
	for _, text := range choices {
		if text != "" {
			parts = append(parts, "an answer of "+listed(answers[text])+" "+text)
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(append(parts, "of several, one that takes a step is enough"), "; ")
}

// listed puts names into a sentence: a, b or c.
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// isFor reports whether a step is taken with these modes declared: one of its own is among them or, as long as none
// is declared, whatever it is for.
func isFor(step *runbook.Step, declared []runbook.Mode) bool {
	if len(step.Modes) == 0 || len(declared) == 0 {
		return true
	}
	return slices.ContainsFunc(step.Modes, func(m runbook.Mode) bool { return slices.Contains(declared, m) })
}

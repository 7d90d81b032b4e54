package gameday

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Comparison is what a person did on a day beside what its script does, with the same seed.
type Comparison struct {
	Practice bool           `json:"practice"` // always
	Day      string         `json:"day"`
	About    string         `json:"about"`
	Broke    string         `json:"broke,omitempty"` // what the scenario says of itself
	Lesson   string         `json:"lesson,omitempty"`
	Scenario string         `json:"scenario"`
	Runbook  string         `json:"runbook"`
	Seed     uint64         `json:"seed"`
	Modes    []runbook.Mode `json:"modes"` // that were right; nil when nobody knows
	Person   *Result        `json:"person"`
	Script   *Result        `json:"script"`
	Wrong    []WrongMove    `json:"wrong_moves"` // of the person, in the order of time
	Waits    []LongWait     `json:"long_waits"`  // of the person, the longest first
}

// WrongMove is something that a person did, the script does not do, and the documents speak against.
type WrongMove struct {
	Seconds float64  `json:"seconds"` // since the start of the day
	What    string   `json:"what"`
	Why     []string `json:"why,omitempty"` // as the runbook or the day says it
}

// Compare sets what a person did beside what the script does.
func (d *Day) Compare(person, script *Result) *Comparison {
	c := &Comparison{
		Practice: true, Day: d.Name, About: d.About, Broke: d.Story.About, Lesson: d.Lesson,
		Scenario: d.Story.Name, Runbook: d.Runbook, Seed: person.Seed, Modes: d.rightModes(),
		Person: person, Script: script, Wrong: []WrongMove{}, Waits: d.longWaits(person, script),
	}
	for i, deed := range person.Deeds {
		if m, wrong := c.judge(d, deed, person.Deeds[:i]); wrong {
			m.Seconds = deed.Seconds
			c.Wrong = append(c.Wrong, m)
		}
	}
	return c
}

// judge says what is wrong with a deed. What the script does, too, is right.
func (c *Comparison) judge(d *Day, deed Deed, before []Deed) (WrongMove, bool) {
	if len(deed.Modes) > 0 {
		return c.judgeModes(d, deed)
	}
	if slices.ContainsFunc(c.Script.Deeds, func(s Deed) bool { return s.Deed == deed.Deed && s.About == deed.About }) {
		return WrongMove{}, false
	}
	switch deed.Deed {
	case steps.OrderSkip:
		return WrongMove{What: told("skipped "+deed.About, deed.Text), Why: d.reasons(deed.About)}, true
	case DeedLift:
		ordered := slices.ContainsFunc(before, func(b Deed) bool {
			return b.Deed == steps.OrderUndo && b.About == deed.About
		})
		return WrongMove{What: "took back " + deed.About + ", " + deed.Text, Why: d.reasons(deed.About)}, ordered
	case steps.OrderAdopt:
		what := "left " + deed.About + " at " + deed.Text + ", as somebody had loosened it"
		return WrongMove{What: what, Why: d.reasons(deed.About)}, true
	case steps.OrderAbort:
		return c.leftEarly(told("aborted the walk", deed.Text))
	case steps.OrderInterrupt:
		m, wrong := c.leftEarly("stopped the walk")
		return m, wrong && deed.Seconds < d.Duration.Seconds()
	}
	return WrongMove{}, false
}

// told puts the reason that a person gave behind what they did.
func told(did, reason string) string { return strings.TrimSuffix(did+": "+reason, ": ") }

// leftEarly is the end of a walk that leaves something undone.
func (c *Comparison) leftEarly(what string) (WrongMove, bool) {
	var why []string
	if _, recovered := c.Person.Score("recovered"); !recovered {
		why = append(why, "the service had not recovered")
	}
	if left, _ := c.Person.Score("left"); left > 0 {
		were := "were"
		if left == 1 {
			were = "was"
		}
		why = append(why, fmt.Sprintf("%g of the controls %s left as the walk had set them", left, were))
	}
	return WrongMove{What: what, Why: why}, len(why) > 0
}

// rightModes are those of the scenario, nil when nobody knows: of a past they are what its script declares.
func (d *Day) rightModes() []runbook.Mode {
	if d.past != nil {
		return slices.Concat(d.Operator.Modes)
	}
	return append([]runbook.Mode{}, modesOf(d.Story)...)
}

// judgeModes compares declared modes with the right ones, and says what followed from a wrong one.
func (c *Comparison) judgeModes(d *Day, deed Deed) (WrongMove, bool) {
	right := c.Modes
	if right == nil || sameModes(deed.Modes, right) {
		return WrongMove{}, false
	}
	m := WrongMove{What: "declared " + joinModes(deed.Modes) + "; it was " + joinModes(right)}
	if len(right) == 0 {
		m.What = "declared " + joinModes(deed.Modes) + "; it was none of the modes"
	}
	for step := range d.Book.Steps() {
		called, taken := calledFor(step, right), calledFor(step, deed.Modes)
		switch {
		case called && !taken:
			m.Why = append(m.Why, told(step.Name+" was left out", step.Why))
		case taken && !called:
			m.Why = append(m.Why, step.Name+" was taken and not called for")
		}
	}
	if asked := d.Book.Step(deed.About); len(m.Why) == 0 && asked != nil {
		m.Why = d.reasons(asked.Name)
	}
	return m, true
}

// sameModes reports whether the same modes were declared, in whatever order.
func sameModes(a, b []runbook.Mode) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func calledFor(step *runbook.Step, modes []runbook.Mode) bool {
	return len(step.Modes) == 0 || slices.ContainsFunc(step.Modes, func(m runbook.Mode) bool {
		return slices.Contains(modes, m)
	})
}

// reasons are what the day and the runbook say of a step, or of the steps that flip a control.
func (d *Day) reasons(name string) []string {
	var list []string
	for _, mistake := range d.Mistakes {
		touches := func(h runbook.Happening) bool { return h.Control != nil && h.Control.Name == name }
		if slices.ContainsFunc(mistake.Timeline, touches) {
			list = append(list, mistake.About)
		}
	}
	for step := range d.Book.Steps() {
		flips := step.Flip != nil && step.Flip.Control == name
		if step.Why != "" && (step.Name == name || flips) {
			list = append(list, step.Name+": "+step.Why)
		}
	}
	return list
}

// Answered is for how many seconds a question waited for its answer on average; false when nobody
// answered one.
func (r *Result) Answered() (float64, bool) {
	answers := 0
	for _, deed := range r.Deeds {
		if deed.answers() {
			answers++
		}
	}
	waited, known := r.Score("persons")
	if answers == 0 || !known {
		return 0, false
	}
	return waited / float64(answers), true
}

// Declared are the modes that were declared first; none when none was.
func (r *Result) Declared() []runbook.Mode {
	for _, deed := range r.Deeds {
		if len(deed.Modes) > 0 {
			return deed.Modes
		}
	}
	return nil
}

// DeclaredRight reports whether somebody declared the modes that were right; none is right where there was none.
func (c *Comparison) DeclaredRight(r *Result) bool { return sameModes(r.Declared(), c.Modes) }

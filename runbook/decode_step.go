package runbook

import (
	"slices"
	"strings"
)

func stageList() string { return strings.Join(schema["stages"], ", ") }

// readStages reads the nine stages, which stand in the order in which they are
// walked.
func (d *decoder) readStages(n *node) {
	if n == nil {
		return
	}
	f, ok := d.fields(n, "stages", "stages")
	if !ok {
		return
	}
	d.stageOrder(n)
	seen := map[string]Position{}
	for s := DeclareMode; s <= Reconcile; s++ {
		plan := StagePlan{Stage: s, Pos: f.at}
		stage := f.need(s.String(), "a stage with nothing to do says "+s.String()+": {skip: REASON}")
		if stage != nil {
			plan = d.stage(stage, s, seen)
		}
		d.doc.Stages[s-1] = plan
	}
	d.checkRestores()
}

// stageOrder reports the first stage that stands out of its place.
func (d *decoder) stageOrder(n *node) {
	last := Stage(0)
	for _, e := range n.entries {
		s, known := ParseStage(e.key)
		if !known {
			continue
		}
		if s < last {
			d.fail(e.pos, "put the stages in the order "+stageList(), "stage %s stands after %s", s, last)
			return
		}
		last = s
	}
}

func (d *decoder) stage(n *node, s Stage, seen map[string]Position) StagePlan {
	plan := StagePlan{Stage: s, Pos: n.pos}
	if n.shape == table {
		if f, ok := d.fields(n, "stage", "stage "+s.String()); ok {
			f.need("skip", "list its steps, or say skip: REASON")
			plan.Skip = f.prose("skip")
		}
		return plan
	}
	if n.shape == sequence && len(n.items) == 0 {
		d.fail(n.pos, "say "+s.String()+": {skip: REASON}", "stage %s is empty", s)
		return plan
	}
	for _, item := range d.list(n, "stage "+s.String()) {
		if step, ok := d.step(item, s, seen); ok {
			plan.Steps = append(plan.Steps, step)
		}
	}
	return plan
}

func (d *decoder) step(n *node, s Stage, seen map[string]Position) (Step, bool) {
	what := "the step"
	if name := n.find("step"); name != nil && name.text != "" {
		what = "step " + printable(name.text)
	}
	f, ok := d.fields(n, "step", what)
	if !ok {
		return Step{}, false
	}
	step := Step{Pos: n.pos, Stage: s, Why: f.prose("why")}
	d.stepName(f, &step, seen)
	step.Modes = d.modes(f.get("modes"))
	step.When = d.gate(f.get("when"), "when")
	step.Expect = d.gate(f.get("expect"), "expect")
	step.UndoIf = d.gate(f.get("undo_if"), "undo_if")
	d.stepAction(f, &step)
	step.Otherwise = Otherwise(f.word("otherwise", "", string(Hold), string(Undo), string(Continue)))
	step.Timing = d.timing(f, d.doc.Defaults)
	step.Settle = f.duration("settle", defaultSettle)
	step.Optional = f.flag("optional", false)
	step.IfUnmet = d.ifUnmet(f, step.Flip)
	step.Else = d.instead(f)
	step.Waive = d.waivers(f.get("waive"))
	d.stepRules(f, &step)
	return step, true
}

func (d *decoder) stepName(f fields, step *Step, seen map[string]Position) {
	n := f.need("step", "write step: NAME")
	name, ok := d.raw(n, "step")
	if !ok || !d.checkName(n.pos, "a step", name) {
		return
	}
	if first, twice := seen[name]; twice {
		d.fail(n.pos, "name each step differently", "step %s stands twice; the first is in line %d", name, first.Line)
		return
	}
	seen[name] = n.pos
	step.Name = name
}

func (d *decoder) modes(n *node) []Mode {
	var modes []Mode
	known := make([]string, len(Modes))
	for i, m := range Modes {
		known[i] = string(m)
	}
	for _, item := range d.list(n, "modes") {
		text, ok := d.raw(item, "a mode")
		if !ok {
			continue
		}
		mode := Mode(d.oneOf(item, "a mode", text, "", known))
		if mode != "" && slices.Contains(modes, mode) {
			d.fail(item.pos, "keep one of them", "mode %s stands twice", mode)
		}
		modes = append(modes, mode)
	}
	return modes
}

// stepAction reads the action of a step, of which there is at most one.
func (d *decoder) stepAction(f fields, step *Step) {
	var actions []string
	for _, key := range []string{"flip", "call", "confirm", "restore"} {
		if n := f.get(key); n != nil {
			actions = append(actions, key)
			d.action(key, n, step)
		}
	}
	if len(actions) > 1 {
		d.fail(f.at, "make a step of each", "%s has %d actions: %s", f.what, len(actions), strings.Join(actions, ", "))
	}
	if len(actions) == 0 && !f.has("when") {
		d.fail(f.at, "give it a gate under when, or an action", "%s does nothing", f.what)
	}
}

func (d *decoder) action(key string, n *node, step *Step) {
	switch key {
	case "flip":
		step.Flip = d.flip(n)
	case "call":
		step.Call = d.call(n)
	case "confirm":
		step.Confirm = d.confirm(n)
	case "restore":
		step.Restore = d.restore(n)
	}
}

// stepRules reports keys that do not go together.
func (d *decoder) stepRules(f fields, step *Step) {
	need := func(key, hint string, good bool, needs string) {
		if f.has(key) && !good {
			d.fail(f.get(key).pos, hint, "%s: %s needs %s", f.what, key, needs)
		}
	}
	acts := f.has("flip") || f.has("call") || f.has("restore")
	undoable := f.has("flip") || f.has("restore") || step.Call != nil && step.Call.Undo != nil
	need("expect", "put the bounds under when", acts, "a flip, a call or a restore before it")
	need("otherwise", "leave it out", f.has("expect") || f.has("call"), "an expect or a call that can fail")
	need("undo_if", "leave it out", f.has("flip"), "a flip to undo")
	need("if_unmet", "add to, or leave it out", f.has("flip") && (step.Flip == nil || len(step.Flip.Through) == 0),
		"a flip to one value")
	need("if_unmet", "add expect", f.has("expect"), "an expect")
	need("else", "leave it out", f.has("flip") && d.surelyProtects(step), "a flip that protects")
	if step.Otherwise == Undo && !undoable {
		d.fail(f.get("otherwise").pos, "write hold or continue", "%s: there is nothing to undo", f.what)
	}
	if f.has("restore") && step.Stage != Restore {
		d.fail(f.get("restore").pos, "move the step to stage restore", "%s: restore stands in stage %s", f.what, step.Stage)
	}
	if !d.considersRung(f, step) {
		for _, key := range []string{"when", "expect", "undo_if"} {
			d.refuseRung(map[string]Gate{"when": step.When, "expect": step.Expect, "undo_if": step.UndoIf}[key], f.what)
		}
	}
}

// surelyProtects reports whether the flip of a step can only protect: releases are
// not taken up to constrain-leaders, and later ones show by the steady value.
func (d *decoder) surelyProtects(step *Step) bool {
	if step.Flip == nil || step.Stage.Protects() {
		return true
	}
	c := d.controls[step.Flip.Control]
	return c == nil || c.Direction(c.Steady, step.Flip.To) == Protecting
}

// considersRung reports whether the step's action moves a number, so that ${from}
// and ${to} are known. A broken action is given the benefit of the doubt.
func (d *decoder) considersRung(f fields, step *Step) bool {
	if step.Flip == nil {
		return f.has("restore") || f.has("flip")
	}
	c := d.controls[step.Flip.Control]
	return c == nil || c.Kind.Numeric()
}

// checkRestores allows one restore: it takes back everything that was flipped.
func (d *decoder) checkRestores() {
	first := ""
	for _, step := range d.doc.Stages[Restore-1].Steps {
		if step.Restore == nil {
			continue
		}
		if first != "" {
			d.fail(step.Restore.Pos, "put everything into one order", "step %s restores again; step %s already does",
				step.Name, first)
			continue
		}
		first = step.Name
	}
}

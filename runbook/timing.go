package runbook

import (
	"slices"
	"time"
)

// What holds where a file is silent.
var builtIn = Timing{
	Every:      time.Second,
	Passes:     2,
	Timeout:    45 * time.Second,
	StaleAfter: 10 * time.Second,
	Protect:    ApprovalNone,
	Release:    ApprovalOne,
}

const (
	defaultSettle      = 5 * time.Second
	defaultCallTimeout = 10 * time.Second
	defaultIntervals   = 2
	maxPasses          = 100
)

// readDefaults reads what holds for every step that says nothing else.
func (d *decoder) readDefaults(n *node) {
	d.doc.Defaults = builtIn
	if n == nil {
		return
	}
	if f, ok := d.fields(n, "defaults", "defaults"); ok {
		d.doc.Defaults = d.timing(f, builtIn)
	}
}

// timing reads how a gate is judged, from the defaults or from a step.
func (d *decoder) timing(f fields, fallback Timing) Timing {
	t := fallback
	t.Every = f.duration("every", fallback.Every)
	t.Passes = f.count("passes", fallback.Passes, maxPasses)
	t.Timeout = f.duration("timeout", fallback.Timeout)
	t.StaleAfter = f.duration("stale_after", fallback.StaleAfter)
	if n := f.get("approval"); n != nil {
		d.approval(n, &t)
	}
	if t.Timeout < time.Duration(t.Passes-1)*t.Every {
		d.fail(f.at, "give it more time, fewer passes or a shorter every",
			"%s: %d passes %s apart do not fit into a timeout of %s", f.what, t.Passes, t.Every, t.Timeout)
	}
	return t
}

// approval reads who approves: one word for both directions, or a word for each.
func (d *decoder) approval(n *node, t *Timing) {
	if n.shape == scalar {
		word := d.approvalWord(n, t.Release)
		t.Protect, t.Release = word, word
		return
	}
	f, ok := d.fields(n, "approval", "approval")
	if !ok {
		return
	}
	if n := f.get("protect"); n != nil {
		t.Protect = d.approvalWord(n, t.Protect)
	}
	if n := f.get("release"); n != nil {
		t.Release = d.approvalWord(n, t.Release)
	}
}

func (d *decoder) approvalWord(n *node, fallback Approval) Approval {
	text, ok := d.raw(n, "approval")
	if !ok {
		return fallback
	}
	allowed := []string{string(ApprovalNone), string(ApprovalOne), string(ApprovalTwo)}
	word := Approval(d.oneOf(n, "approval", text, string(fallback), allowed))
	if word == ApprovalTwo {
		d.doc.twoPersons = append(d.doc.twoPersons, Problem{File: d.file, Pos: n.pos,
			Message: "an approval by two persons cannot be given where nobody else reaches the run",
			Hint:    "write approval: one for a rehearsal"})
	}
	return word
}

// TwoPersons lists where the file asks for approvals by two persons: what is walked where
// no second person can reach it, as on the embedded lab, refuses them.
func (d *Document) TwoPersons() []Problem { return slices.Clone(d.twoPersons) }

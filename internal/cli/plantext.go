package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// text renders a preview for people.
func (v preview) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, service %s: %s\n", oneLine(v.File), v.Service, findingsCount(v.Findings))
	fmt.Fprintf(&b, "prometheus: %s\n", orWords(v.Prometheus,
		"not asked, give --prometheus URL to see what the gates say now"))
	fmt.Fprintf(&b, "redis: %s\n", orWords(v.Redis, "not read, give --redis URL to see what each flip would change"))
	for _, trouble := range v.Trouble {
		fmt.Fprintf(&b, "trouble: %s\n", oneLine(trouble))
	}
	for _, stage := range v.Stages {
		stage.text(&b)
	}
	v.guardsText(&b)
	v.Exit.text(&b)
	v.Floor.text(&b)
	v.unjudgedText(&b)
	return b.String()
}

func findingsCount(n int) string {
	if n == 0 {
		return "lint finds nothing"
	}
	return "lint finds " + countOf(n, "thing")
}

func orWords(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return oneLine(text)
}

func (s stagePreview) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n", s.Stage)
	if s.Skip != "" {
		fmt.Fprintf(b, "  passed: %s\n", oneLine(s.Skip))
	}
	for _, step := range s.Steps {
		step.text(b)
	}
}

func (s stepPreview) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s%s\n", s.Step, also(": ", oneLine(s.Why)))
	if len(s.Modes) > 0 {
		fmt.Fprintf(b, "    only for %s\n", joined(s.Modes))
	}
	s.When.text(b, "when")
	fmt.Fprintf(b, "    %s%s\n", oneLine(s.Action), s.consent())
	s.Expect.text(b, "expect")
	s.UndoIf.text(b, "undo if")
	if s.IfUnmet != "" {
		fmt.Fprintf(b, "    if that is unmet: %s\n", s.IfUnmet)
	}
	if s.Else != "" {
		fmt.Fprintf(b, "    if redis cannot be reached: %s\n", oneLine(s.Else))
	}
	for _, program := range s.Missing {
		fmt.Fprintf(b, "    %s\n", oneLine(missingText(program)))
	}
}

func missingText(program string) string {
	if strings.ContainsAny(program, `/\`) {
		return program + " cannot be started here: it is not there, or not a program"
	}
	return program + " cannot be started here: it is not in PATH"
}

// text writes a bound a line; all have to hold. Of those below "one of" one is enough.
func (g gatePreview) text(b *strings.Builder, label string) {
	for i, group := range g {
		if i > 0 {
			label = "and"
		}
		if len(group) == 1 {
			fmt.Fprintf(b, "    %-7s %s\n", label, group[0].text())
			continue
		}
		fmt.Fprintf(b, "    %-7s one of:\n", label)
		for _, f := range group {
			fmt.Fprintf(b, "            - %s\n", f.text())
		}
	}
}

func (v preview) guardsText(b *strings.Builder) {
	if len(v.Guards) > 0 {
		b.WriteString("\nguards\n")
	}
	for _, g := range v.Guards {
		fmt.Fprintf(b, "  %s\n    from %s to %s; after %s in a row: %s\n", g.Bound.text(), g.From, g.To,
			countOf(g.Passes, "failing observation"), g.Otherwise)
	}
}

func (e *exitPreview) text(b *strings.Builder) {
	if e == nil {
		b.WriteString("\nexit\n  none: nothing says when the collapse is over\n")
		return
	}
	fmt.Fprintf(b, "\nexit, for %s of %s\n", countOf(e.Intervals, "interval"), wholeSeconds(e.IntervalMS))
	e.When.text(b, "when")
}

// unjudgedText sums up what the gates would be blind for.
func (v preview) unjudgedText(b *strings.Builder) {
	switch {
	case v.Probes == 0:
	case len(v.Unjudged) == 0:
		fmt.Fprintf(b, "\nall %s that gates ask have data\n", countOf(v.Probes, "probe"))
	default:
		fmt.Fprintf(b, "\n%d of %s have no data that can be judged: %s\n", len(v.Unjudged), countOf(v.Probes, "probe"),
			joined(v.Unjudged))
	}
}

// consent says which way a flip goes and who approves it.
func (s stepPreview) consent() string {
	switch {
	case s.Skipped != "":
		return "; skipped, as " + s.Skipped
	case s.Direction == "":
		return ""
	case s.Direction == runbook.Neither:
		return "; nothing to do now"
	case s.Approval == runbook.ApprovalNone:
		return "; " + string(s.Direction)
	}
	return fmt.Sprintf("; %s, approved by %s", s.Direction, s.Approval)
}

func (f findingPreview) text() string {
	switch f.Verdict {
	case "":
		return oneLine(f.Bound)
	case probes.Unknown.String():
		return oneLine(f.Bound + ": unknown, " + f.Sentence)
	}
	return oneLine(f.Bound + ": " + f.Value + " " + f.Verdict)
}

func (f floorPreview) text(b *strings.Builder) {
	fmt.Fprintf(b, "\ntime floor %s", wholeSeconds(f.TotalMS))
	if f.WithinMS > 0 {
		fmt.Fprintf(b, " of the %s of recover_within", wholeSeconds(f.WithinMS))
	}
	b.WriteString("\n")
	for _, line := range f.Lines {
		if line.CostMS > 0 {
			fmt.Fprintf(b, "  %8s  %s: %s\n", wholeSeconds(line.CostMS), line.Name, oneLine(line.Words))
		}
	}
	b.WriteString("not added to it\n")
	for _, line := range f.Beside {
		cost := wholeSeconds(line.CostMS)
		if !line.Known {
			cost = "unknown"
		}
		fmt.Fprintf(b, "  %8s  %s: %s\n", cost, line.Name, oneLine(line.Words))
	}
}

func wholeSeconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// joined lists words.
func joined[T ~string](words []T) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = string(word)
	}
	return strings.Join(list, ", ")
}

// invocationText shows a call.
func invocationText(do *runbook.Invocation) string {
	if do == nil {
		return ""
	}
	if len(do.Args) > 0 {
		return strings.Join(do.Args, " ")
	}
	return do.Method + " " + do.URL
}

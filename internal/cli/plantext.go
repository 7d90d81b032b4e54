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
	fmt.Fprintf(&b, "prometheus: %s\n", orWords(v.Prometheus, "not asked, give --prometheus URL to see what the gates say now"))
	fmt.Fprintf(&b, "redis: %s\n", orWords(v.Redis, "not read, give --redis URL to see what each flip would change"))
	for _, trouble := range v.Trouble {
		fmt.Fprintf(&b, "trouble: %s\n", oneLine(trouble))
	}
	for _, stage := range v.Stages {
		stage.text(&b)
	}
	v.Floor.text(&b)
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
	boundsText(b, "when", s.When)
	fmt.Fprintf(b, "    %s%s\n", oneLine(s.Action), s.consent())
	boundsText(b, "expect", s.Expect)
}

func boundsText(b *strings.Builder, label string, findings []findingPreview) {
	for _, f := range findings {
		joint := label
		if f.Or {
			joint = "or"
		}
		fmt.Fprintf(b, "    %-6s %s\n", joint, f.text())
	}
}

// consent says which way a flip goes and who approves it.
func (s stepPreview) consent() string {
	switch {
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

package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/rewarm/rewarm/internal/demand"
)

// sizeText renders a report for people. Where states were asked for, it shows those
// alone: a pipeline's log wants the answer.
func sizeText(r demand.Report) string {
	var b strings.Builder
	if len(r.After) > 0 {
		for _, check := range r.After {
			stateText(&b, check, r.Inputs.Curve)
		}
		return b.String()
	}
	fmt.Fprintln(&b, "demand on the origin")
	for _, f := range r.Figures {
		figureText(&b, f)
	}
	riskText(&b, r.Risk)
	for _, check := range r.States {
		b.WriteByte('\n')
		stateText(&b, check, r.Inputs.Curve)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(&b, "\nnote")
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "  %s\n", note)
	}
	return b.String()
}

// figureText shows a result with its work: once in words, once in numbers.
func figureText(b *strings.Builder, f demand.Figure) {
	fmt.Fprintf(b, "  %s = %s\n    %s = %s\n", f.Name, f.Formula, f.Work, f.Text())
}

// riskText puts the four figures side by side, for none stands for the others.
func riskText(b *strings.Builder, risk demand.KeyRisk) {
	fmt.Fprintln(b, "\nkey risk, four figures that only count together")
	w := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	var names, values []string
	for _, f := range risk.Figures() {
		names, values = append(names, f.Name), append(values, f.Text())
	}
	fmt.Fprintf(w, "  %s\n  %s\n", strings.Join(names, "\t"), strings.Join(values, "\t"))
	w.Flush()
}

func stateText(b *strings.Builder, check demand.Check, curve demand.Curve) {
	fmt.Fprintf(b, "after %s\n", check.State)
	for _, f := range check.Figures {
		figureText(b, f)
	}
	fmt.Fprintf(b, "  the origin beyond its knee is %s\n", curve.Source())
	fmt.Fprintf(b, "  admission    %s: %s\n", verdictWord(check.Affordable, "affordable", "not affordable"),
		check.Admission)
	fmt.Fprintf(b, "  correctness  %s: %s\n", verdictWord(check.Answerable, "every read can be answered",
		"some reads must be refused"), check.Correctness)
}

func verdictWord(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

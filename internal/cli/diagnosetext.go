package cli

import (
	"fmt"
	"strings"

	"github.com/rewarm/rewarm/internal/diagnosis"
)

// text renders a diagnosis for people: the cheapest way out first, then what the
// signals speak for, and what was ruled out in a line each.
func (v diagnosed) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, service %s, prometheus %s at %s", oneLine(v.File), v.Service, oneLine(v.Prometheus),
		v.At.Format("15:04:05 MST"))
	if v.Modelled {
		b.WriteString(" (every figure is a model's)")
	}
	b.WriteString("\n")
	for _, q := range v.Questions {
		questionText(&b, q)
	}
	for _, p := range v.Pictures {
		if p.Verdict == diagnosis.Likely {
			pictureText(&b, p)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", conclusionOf(v.Report))
	for _, m := range v.Modes {
		modeText(&b, m)
	}
	return b.String()
}

// conclusionOf says in one sentence what the signals speak for.
func conclusionOf(v *diagnosis.Report) string {
	names := func(modes []diagnosis.Mode) string {
		var list []string
		for _, m := range modes {
			list = append(list, string(m.Mode))
		}
		return strings.Join(list, ", ")
	}
	text := "the signals speak for " + names(v.Likely())
	if len(v.Likely()) == 0 {
		text = "the signals speak for no mode"
	}
	if possible := v.Possible(); len(possible) > 0 {
		text += "; possible, with something not measured: " + names(possible)
	}
	if unknown := v.Unknown(); len(unknown) > 0 {
		text += "; not measured: " + names(unknown)
	}
	return text
}

var answerWords = map[diagnosis.Answer]string{
	diagnosis.Yes:        "yes",
	diagnosis.No:         "no",
	diagnosis.Ask:        "nothing here measures it; find out before anything else",
	diagnosis.NotArising: "does not arise",
}

func questionText(b *strings.Builder, q diagnosis.Question) {
	fmt.Fprintf(b, "\nfirst: %s\n", oneLine(q.Question))
	fmt.Fprintf(b, "  %s%s\n", answerWords[q.Answer],
		also(" (", oneLine(strings.Join(q.Readings, "; ")))+closing(q.Readings))
	if q.Answer == diagnosis.Ask || q.Answer == diagnosis.Yes {
		fmt.Fprintf(b, "  if so, %s\n", oneLine(q.Then))
		if q.Why != "" {
			fmt.Fprintf(b, "  why: %s\n", oneLine(q.Why))
		}
	}
}

func closing(readings []string) string {
	if len(readings) == 0 {
		return ""
	}
	return ")"
}

func pictureText(b *strings.Builder, p diagnosis.Picture) {
	fmt.Fprintf(b, "\n%s: %s\n", oneLine(p.Advice), oneLine(p.About))
	evidenceText(b, p.Evidence)
	for _, a := range p.Avoid {
		fmt.Fprintf(b, "  do not   %s: %s\n", oneLine(a.Do), oneLine(a.Why))
	}
	checksText(b, p.Checks)
}

// modeText gives the whole evidence of what may be, and one line to what is not.
func modeText(b *strings.Builder, m diagnosis.Mode) {
	if m.Verdict == diagnosis.Unlikely && len(m.Against) > 0 {
		fmt.Fprintf(b, "%s: unlikely, %s\n", m.Mode, signText(m.Against[0]))
		return
	}
	fmt.Fprintf(b, "%s: %s%s\n", m.Mode, m.Verdict, also("; ", oneLine(m.About)))
	evidenceText(b, m.Evidence)
	checksText(b, m.Checks)
	fmt.Fprintf(b, "  runbook  %s\n", oneLine(m.Runbook))
}

func evidenceText(b *strings.Builder, e diagnosis.Evidence) {
	for _, kind := range []struct {
		label string
		signs []diagnosis.Sign
	}{{"for", e.For}, {"against", e.Against}, {"missing", e.Missing}} {
		for _, sign := range kind.signs {
			fmt.Fprintf(b, "  %-8s %s\n", kind.label, signText(sign))
		}
	}
}

func signText(s diagnosis.Sign) string {
	return oneLine(s.Says + " (" + strings.Join(s.Readings, "; ") + ")")
}

func checksText(b *strings.Builder, checks []string) {
	for _, check := range checks {
		fmt.Fprintf(b, "  check    %s\n", oneLine(check))
	}
}

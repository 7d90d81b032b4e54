package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// looking is how a walk looks at the signals while a person is asked after the modes.
type looking struct {
	look func(ctx context.Context) seenSigns // asks the servers, and may take its time; nil where nobody looks
	busy bool                                // it is being asked
	at   time.Time                           // when it was asked last, by the clock of the run
	text string                              // what was written down last, "" for nothing yet
	said bool                                // the signals have said something
}

// seenSigns is mail: what the signals say, in words and mode by mode.
type seenSigns struct {
	text      string
	diagnosis steps.Diagnosis
}

// lookAgain is how long it takes until signals that could not be asked are asked again.
const lookAgain = 5 * time.Second

// lookAtSignals asks what the signals say of the modes when a person is asked after them, beside the walk: nothing
// waits for the answer. They are asked once, for the brakes go on meanwhile: an origin that is still slow while it is
// asked for less looks as if the fault were its own.
func (d *driver) lookAtSignals(ctx context.Context, q steps.Question) {
	now := d.clock.Now()
	if d.looking.look == nil || !q.Modes || d.looking.busy || d.looking.said ||
		!d.looking.at.IsZero() && now.Sub(d.looking.at) < lookAgain {
		return
	}
	d.looking.busy, d.looking.at = true, now
	look := d.looking.look
	go func() { d.mail.post(look(ctx)) }()
}

// noteSigns writes down what the signals say while the question waits, or why they say nothing.
func (d *driver) noteSigns(seen seenSigns) error {
	d.looking.busy = false
	if !d.asked.question.Modes || seen.text == d.looking.text {
		return nil
	}
	d.looking.text, d.looking.said = seen.text, len(seen.diagnosis.Signs) > 0
	return d.remark(steps.Order{Text: seen.text, Diagnosis: &seen.diagnosis})
}

// looksAt gives the look of a walk: the bundled rules over the Prometheus of the walk. What it cannot say it says.
func looksAt(doc *runbook.Document, prober steps.Prober) func(ctx context.Context) seenSigns {
	rules, err := openRules(doc, nil)
	return func(ctx context.Context) seenSigns {
		if err != nil {
			return cannotSay(err.Error())
		}
		seen := prober.Poll(ctx, rules.Document(), diagnosis.Asks(rules), 0)
		report := diagnosis.Of(rules, seen, doc.Defaults.StaleAfter)
		if len(report.Trouble) > 0 {
			return cannotSay(report.Trouble[0])
		}
		s := seenSigns{text: conclusionOf(report), diagnosis: steps.Diagnosis{At: report.At, First: firstOf(report)}}
		for _, m := range report.Modes {
			s.diagnosis.Signs = append(s.diagnosis.Signs, steps.ModeSign{Mode: m.Mode, Verdict: string(m.Verdict),
				Reason: audit.Cut(m.Reason(), longestEvidence)})
		}
		return s
	}
}

// firstOf gives the ways out that diagnose would begin with.
func firstOf(report *diagnosis.Report) []steps.WayOut {
	var list []steps.WayOut
	for _, q := range report.Questions {
		if q.Answer == diagnosis.Ask || q.Answer == diagnosis.Yes {
			list = append(list, steps.WayOut{Question: audit.Cut(q.Question, longestEvidence), Answer: answerWords[q.Answer],
				Then: audit.Cut(q.Then, longestEvidence)})
		}
	}
	return list
}

// longestEvidence bounds the evidence for a mode in a record, in bytes.
const longestEvidence = 400

func cannotSay(why string) seenSigns {
	return seenSigns{text: "the signals cannot say which mode it is: " + audit.Cut(why, longestEvidence)}
}

// diagnosisRows lists what the signals say: the cheaper ways out first, then a row a mode with the number to type.
func diagnosisRows(d *steps.Diagnosis) []string {
	var rows []string
	for _, way := range d.First {
		rows = append(rows, way.String())
	}
	for _, s := range d.Signs {
		rows = append(rows, fmt.Sprintf("%d %-20s  %-8s  %s", modeNumber(s.Mode), s.Mode, s.Verdict, s.Reason))
	}
	return rows
}

// modeNumber is what a person types for a mode.
func modeNumber(mode runbook.Mode) int {
	for i, m := range runbook.Modes {
		if m == mode {
			return i + 1
		}
	}
	return 0
}

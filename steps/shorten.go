package steps

import (
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
)

// The longest texts in a body, in bytes as the log spells them. A record that is too
// long is no record, and must not end a walk.
const (
	longestQuery    = 2048
	longestSeries   = 256
	longestSentence = 1024
	longestText     = 4096
	mostFindings    = 8192 // of all findings of one gate
)

// shorten cuts the texts of a body so that it fits into a record. What was cut says so.
func shorten(body any) {
	switch b := body.(type) {
	case *StepBody:
		b.Why = audit.Cut(b.Why, longestText)
		b.Outcome = audit.Cut(b.Outcome, longestText)
	case *Judged:
		b.Findings = shortFindings(b.Findings)
	case *Guarded:
		b.Findings = shortFindings(b.Findings)
	case *Skipped:
		b.Reason = audit.Cut(b.Reason, longestText)
		b.Findings = shortFindings(b.Findings)
	case *Recovered:
		b.Gate = shortFindings(b.Gate)
	case *Held:
		b.Sentence = audit.Cut(b.Sentence, longestText)
		b.Can = audit.Cut(b.Can, longestSentence)
	case *Settled:
		b.Sentence = audit.Cut(b.Sentence, longestSentence)
		b.Hint = audit.Cut(b.Hint, longestSentence)
	case *ConfirmedBody:
		b.Ask = audit.Cut(b.Ask, longestText)
		b.Answer = audit.Cut(b.Answer, longestText)
	case *Called:
		b.Command = shortCommand(b.Command)
	}
}

func shortenAnswer(a *probes.Answer) {
	a.Query = audit.Cut(a.Query, longestQuery)
	a.Detail = audit.Cut(a.Detail, longestSentence)
	a.Warnings, a.Infos = shortTexts(a.Warnings), shortTexts(a.Infos)
	if size(a.Readings) <= longestText {
		return
	}
	readings := slices.Clone(a.Readings)
	for i := range readings {
		readings[i].Series = shortSeries(readings[i].Series)
	}
	a.Readings = readings
	a.Min.Series, a.Max.Series = shortSeries(a.Min.Series), shortSeries(a.Max.Series)
}

// shortSeries cuts labels, and keeps series apart that differ only behind the cut: a
// gate compares each with itself.
func shortSeries(labels string) string {
	if len(labels) <= longestSeries {
		return labels
	}
	return fmt.Sprintf("%s#%08x", audit.Cut(labels, longestSeries-9), crc32.ChecksumIEEE([]byte(labels)))
}

// shortTexts keeps the first few of many texts.
func shortTexts(texts []string) []string {
	const most = 5
	var short []string
	for i, text := range texts {
		if i == most {
			return append(short, fmt.Sprintf("and %d more", len(texts)-most))
		}
		short = append(short, audit.Cut(text, longestSentence/2))
	}
	return short
}

// shortFindings leaves out, from the end, what does not fit: first what passes.
func shortFindings(findings []probes.Finding) []probes.Finding {
	if size(findings) <= mostFindings {
		return findings
	}
	var short, passing []probes.Finding
	for _, f := range findings {
		f.Sentence = audit.Cut(f.Sentence, longestSentence)
		f.Series = shortSeries(f.Series)
		f.Notes = nil
		if f.Verdict == probes.Pass {
			passing = append(passing, f)
		} else {
			short = append(short, f)
		}
	}
	short = append(short, passing...)
	for len(short) > 1 && size(short) > mostFindings {
		short = short[:len(short)-1]
	}
	return short
}

func shortCommand(words []string) []string {
	if size(words) <= longestText {
		return words
	}
	short := make([]string, 0, len(words))
	for i, word := range words {
		if i == 20 {
			return append(short, fmt.Sprintf("and %d more", len(words)-i))
		}
		short = append(short, audit.Cut(word, longestSeries/2))
	}
	return short
}

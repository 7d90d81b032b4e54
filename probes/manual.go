package probes

import (
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Manual says who gave a reading by hand, from where, and until when it stands. Times are
// of the clock of who gave it.
type Manual struct {
	By        string    `json:"by"`
	Source    string    `json:"source"` // where it was read, in the words of who gave it
	Given     time.Time `json:"given"`
	Until     time.Time `json:"until"`
	Digest    string    `json:"digest"`              // by which a second person confirms it
	Confirmed []string  `json:"confirmed,omitempty"` // by whom; empty while one person alone has given it
}

// Text says whose reading it is, in one printable line: `ana, "grafana of the origin", until 10:20:00Z`.
func (m *Manual) Text() string {
	text := printable(m.By, longestText) + `, "` + printable(m.Source, longestText) + `", until ` +
		m.Until.UTC().Format("15:04:05Z")
	for _, name := range m.Confirmed {
		text += ", confirmed by " + printable(name, longestText)
	}
	return text
}

// ByHand gives the answer that a reading stands for, in the place of one that cannot be
// used: it was taken so long before the evaluation time as it was given before now.
func ByHand(unusable *Answer, f Freshness, value float64, m *Manual, now time.Time) Answer {
	_, detail := unusable.trouble(f)
	a := Answer{Ask: unusable.Ask, Query: unusable.Query, At: unusable.At, Manual: m, Instead: detail}
	a.SetReadings([]Reading{NewReading("{}", value)})
	a.Stalest = a.At.Add(m.Given.Sub(now))
	return a
}

// Usable reports whether a bound could be held against an answer whose newest samples are
// to be so fresh: it is no answer of a source that is lost.
func (a *Answer) Usable(p *runbook.Probe, f Freshness) bool {
	if p != nil && p.EmptyPass && a.Reason == NoData {
		return true
	}
	reason, _ := a.trouble(f)
	return reason == ""
}

// trouble is why an answer by itself cannot be judged, as a sentence.
func (a *Answer) trouble(f Freshness) (Reason, string) {
	reason, detail := unusable(a)
	if reason == "" {
		reason, detail = stale(a, f)
	}
	if reason == "" {
		return "", ""
	}
	return reason, reason.explain(detail)
}

// beforeHand wants a reading to be given after the service had its time to obey.
func (s *Situation) beforeHand(m *Manual) (Reason, string) {
	if s.ByHand.IsZero() || m.Given.After(s.ByHand) {
		return "", ""
	}
	return BeforeMark, "it was given by hand at " + momentText(m.Given) + "; what is given from " + momentText(s.ByHand) +
		" on is from after the flip"
}

// hands gives the readings by hand that a bound rests on.
func (s *Situation) hands(b runbook.Bound) (hands []*Manual) {
	for _, name := range []string{b.Probe, b.Operand.Probe, b.High.Probe} {
		if name == "" {
			continue
		}
		if now := s.measured(s.probe(name)); now != nil && now.Manual != nil {
			hands = append(hands, now.Manual)
		}
	}
	return hands
}

// byHand marks a finding that rests on readings by hand, and takes a verdict back that
// one person alone cannot give.
func (s *Situation) byHand(f Finding, hands []*Manual) Finding {
	for i, m := range hands {
		if i > 0 {
			f.ByHand += "; "
		}
		f.ByHand += m.Text()
	}
	alone := f.Verdict == Pass && s.AlonePasses || f.Verdict == Fail && s.AloneFails
	for _, m := range hands {
		if len(m.Confirmed) == 0 && f.Verdict != Unknown && !alone {
			return s.unknown(f, Unconfirmed, f.Value+" was given by hand by "+printable(m.By, longestText)+
				" alone: it takes a second person here, approve "+m.Digest[:min(shortDigest, len(m.Digest))])
		}
	}
	if f.Verdict != Unknown {
		f.Sentence += ", BY HAND: " + f.ByHand
	}
	return f
}

// shortDigest is how many hex digits of a digest a person types.
const shortDigest = 8

package steps

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Costs says what waiting costs as seen at a time: first what readers lose now, then by when the last copies have run
// out that a longer stale window of this run keeps alive. It is "" when it is not known to cost anything.
func (s *State) Costs(now time.Time) string {
	var parts []string
	if lost := s.Lost(); lost != "" {
		parts = append(parts, "now "+lost)
	}
	if copies := s.copies(now); copies != "" {
		parts = append(parts, copies)
	}
	return strings.Join(parts, "; ")
}

// Lost says which shares of the reads that get no answer are out of their bounds in the exit now, whatever was flipped
// since: "6.4% rejected-share (bound 0.1%)". It is "" where none is known to be, and where the exit does not look at
// them.
func (s *State) Lost() string {
	x := s.followExit()
	if x.latest == nil {
		return ""
	}
	var parts []string
	for _, group := range s.Doc.ExitOnLost() {
		w := s.exitWatch()
		w.Gate, w.Marked = runbook.Gate{group}, false
		if r := s.rule(w, x.latest, nil); r.Verdict == probes.Fail {
			parts = append(parts, s.outOfBound(&group[0], x.latest))
		}
	}
	return strings.Join(parts, ", ")
}

// outOfBound says how far a poll has a bound out.
func (s *State) outOfBound(b *runbook.Bound, p *poll) string {
	unit, share := "", func(v float64) float64 { return v }
	if probe := s.Doc.Probe(b.Probe); probe != nil {
		unit = probe.Unit
	}
	if unit == "ratio" {
		unit, share = "%", func(v float64) float64 { return 100 * v }
	}
	text := b.Probe
	if a := p.answer(probes.Ask{Probe: b.Probe}); a != nil && a.Count > 0 {
		text = runbook.FormatQuantity(twoDigits(share(a.Max.Value)), unit) + " " + text
	}
	if o := b.Operand; o.Probe == "" && o.Control == "" {
		text += " (bound " + runbook.FormatQuantity(share(o.Number), unit) + ")"
	}
	return text
}

// twoDigits leaves of a number what a person reads of it.
func twoDigits(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return short
}

// copies says until when copies run out. They age from the moment at which their entries were lost, which nobody knows:
// one that was lost at the flip lives for the whole window, which is a bound for all, and others are gone before. Once
// that is over it says so as long as the exit still measures stale copies. It is "" when nothing runs out. Of several
// windows the longest counts.
func (s *State) copies(now time.Time) string {
	control, end := s.runsOut()
	at := end.UTC().Format("15:04:05Z")
	switch {
	case control == "":
		return ""
	case end.After(now):
		return fmt.Sprintf("copies on %s run out now, the last by %s", control, at)
	case s.stillStale():
		return fmt.Sprintf("copies on %s ran out, the last by %s", control, at)
	}
	return ""
}

// stillStale reports whether the exit has a bound on stale copies that is not known to hold. What it measures now counts,
// whatever was flipped since.
func (s *State) stillStale() bool {
	gate := s.Doc.ExitOnStale()
	if len(gate) == 0 {
		return false
	}
	x := s.followExit()
	if x.latest == nil {
		return true
	}
	w := s.exitWatch()
	w.Gate, w.Marked = gate, false
	r := s.rule(w, x.latest, nil)
	return r.Verdict != probes.Pass
}

// runsOut gives the control that keeps copies longest beyond its steady value, by this run, and when that ends after its
// flip; "" when there is none. It compares the windows by their length. Once the exit has held nobody lives on such
// copies any more, until the service is out of its bounds again.
func (s *State) runsOut() (control string, end time.Time) {
	if _, out := s.OutAgain(); s.Recovered != nil && !out {
		return "", time.Time{}
	}
	var longest time.Duration
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		live, ok := s.live(c)
		if c.Kind != runbook.Duration || c.Protects != "higher" || !s.Control(c.Name).Ours ||
			!ok || live.Unlimited || c.Direction(c.Steady, live) != runbook.Protecting {
			continue
		}
		if window := time.Duration(live.Number * float64(time.Second)); window > longest {
			longest, control, end = window, c.Name, s.Control(c.Name).Since.Add(window)
		}
	}
	return control, end
}

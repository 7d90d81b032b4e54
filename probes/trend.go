package probes

import "github.com/rewarm/rewarm/runbook"

// change is a series with its value in the observation before.
type change struct {
	Reading
	from Reading
}

// judgeTrend compares every series with itself in the observation before, which must
// lie after the mark as well and rest on other samples.
func (s *Situation) judgeTrend(b runbook.Bound, f Finding, probe *runbook.Probe, now, before *Answer) Finding {
	changes, reason, detail := s.changes(now, before)
	if reason != "" {
		return s.unknown(f, reason, detail)
	}
	by := func(c change) float64 { return c.Value - c.from.Value }
	if b.Op == runbook.Rising {
		by = func(c change) float64 { return c.from.Value - c.Value }
	}
	decides := decidingChange(changes, by, b.Any)
	ok := by(decides) < 0
	f.Verdict = verdictOf(ok)
	if !s.mute {
		f.Value, f.Series = quantityText(decides.Value, probe.Unit), decides.Series
		f.Sentence = trendSentence(b, probe, now, decides, ok)
	}
	return f
}

func decidingChange(changes []change, by func(change) float64, best bool) change {
	readings := make([]Reading, len(changes))
	bySeries := make(map[string]change, len(changes))
	for i, c := range changes {
		readings[i], bySeries[c.Series] = c.Reading, c
	}
	chosen := deciding(readings, func(r Reading) float64 { return by(bySeries[r.Series]) }, best)
	return bySeries[chosen.Series]
}

// changes pairs the series of two observations.
func (s *Situation) changes(now, before *Answer) ([]change, Reason, string) {
	if before == nil {
		return nil, NoPrevious, ""
	}
	if reason, detail := unusable(before); reason != "" {
		return nil, NoPrevious, "the observation before was unknown: " + reason.explain(detail)
	}
	if now.Manual != nil || before.Manual != nil {
		return nil, NoPrevious, "what is given by hand tells no trend"
	}
	if now.Source != before.Source {
		return nil, NoPrevious, "the observation before is of another source"
	}
	if s.beforeMarkAlone(before) {
		return nil, NoPrevious, "the observation before still looked at what was before the flip"
	}
	if !Moved(now, before) {
		return nil, SameSamples, ""
	}
	if now.Count != before.Count || now.Count > len(now.Readings) || before.Count > len(before.Readings) {
		return nil, SeriesCount, seriesCountText(now.Count, before.Count) + " of the observation before"
	}
	earlier := make(map[string]Reading, len(before.Readings))
	for _, r := range before.Readings {
		earlier[r.Series] = r
	}
	var changes []change
	for _, r := range now.Readings {
		from, ok := earlier[r.Series]
		if !ok {
			return nil, NoPrevious, r.Series + " was not there in the observation before"
		}
		changes = append(changes, change{r, from})
	}
	return changes, "", ""
}

// beforeMarkAlone reports whether an answer looks at anything before the mark, by itself.
func (s *Situation) beforeMarkAlone(a *Answer) bool {
	reason, _ := s.beforeMark(a, a)
	return reason != ""
}

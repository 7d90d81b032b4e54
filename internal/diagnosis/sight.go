package diagnosis

import (
	"fmt"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// sight is what was seen, and by which probe it is known for how long there were samples.
type sight struct {
	probes.Situation
	history string
}

func (s sight) judge(sign runbook.Sign) (Sign, probes.Verdict) {
	verdict, readings := s.read(sign.When)
	return Sign{Says: sign.Says, Readings: readings}, verdict
}

// read judges a gate. What did not happen in a window that is not full of samples may
// have happened before them, so such a fail is unknown.
func (s sight) read(g runbook.Gate) (probes.Verdict, []string) {
	j := probes.Judge(g, s.Situation)
	var readings []string
	for _, f := range j.Findings {
		readings = append(readings, f.Sentence)
	}
	if j.Verdict != probes.Fail {
		return j.Verdict, readings
	}
	if why := s.tooShort(g); why != "" {
		return probes.Unknown, append(readings, why)
	}
	return probes.Fail, readings
}

// filled is the part of a window that has to have samples: the first ones of a window
// lie one scrape behind its beginning.
const filled = 0.9

// tooShort says that the windows of a gate are not filled with samples, or that nobody
// knows; it is empty when they are.
func (s sight) tooShort(g runbook.Gate) string {
	window := s.window(g)
	if s.history == "" || window == 0 {
		return ""
	}
	known := s.Answer(probes.Ask{Probe: s.history})
	if known == nil || known.Count == 0 {
		return fmt.Sprintf("it looks back %s, and for how long there have been samples is not known", window)
	}
	samples := time.Duration(known.Min.Value * float64(time.Second)).Round(time.Second)
	if samples >= time.Duration(filled*float64(window)) {
		return ""
	}
	return fmt.Sprintf("it looks back %s, and there are samples of %s only", window, samples)
}

// window is the longest window that a gate's answers rest on.
func (s sight) window(g runbook.Gate) (longest time.Duration) {
	for _, group := range g {
		for _, b := range group {
			if a := s.Answer(probes.Ask{Probe: b.Probe}); a != nil && !a.WindowStart.IsZero() {
				longest = max(longest, a.At.Sub(a.WindowStart))
			}
		}
	}
	return longest
}

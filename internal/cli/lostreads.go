package cli

import (
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// lostReads remembers, by its bound in the exit, what was told of a share of the reads that get no answer.
type lostReads map[string]*lostLine

type lostLine struct {
	out  bool  // it was said to be out of its bound, and not that it is back
	told bool  // something was said
	at   int64 // run time of that, milliseconds
}

// lost gives a line when a share of the reads that get no answer leaves its bound in the exit, and one when it is back.
// What cannot be measured changes nothing, and a share that comes and goes is told once a minute.
func (t *transcript) lost(now int64, b *steps.Observed) []event {
	var events []event
	for i := range b.Gates {
		if t.doc == nil || b.Gates[i].Gate != gateExit {
			continue
		}
		for _, f := range b.Gates[i].Findings {
			if onLost(t.doc, f.Probe) && t.lostReads.changed(now, f) {
				events = append(events, event{where: t.here(), text: lostText(f)})
			}
		}
	}
	return events
}

// onLost reports whether a probe is one of those by which the exit looks at reads that get no answer.
func onLost(doc *runbook.Document, probe string) bool {
	for _, group := range doc.ExitOnLost() {
		for i := range group {
			if group[i].Probe == probe {
				return true
			}
		}
	}
	return false
}

// changed reports whether a finding is to be told.
func (l lostReads) changed(now int64, f probes.Finding) bool {
	line := l[f.Bound]
	if line == nil {
		line = &lostLine{}
		l[f.Bound] = line
	}
	switch {
	case f.Verdict == probes.Unknown, (f.Verdict == probes.Fail) == line.out:
		return false
	case !line.out && line.told && now-line.at < stillNotSteady:
		return false
	}
	line.out, line.told, line.at = !line.out, true, now
	return true
}

func lostText(f probes.Finding) string {
	text := findingsText([]probes.Finding{f}, nil)
	if f.Verdict == probes.Fail {
		return "READERS GET NO ANSWER: " + text
	}
	return "readers get their answers again: " + text
}
